import { isScalar, Scalar, visit, Document as YamlDocument } from 'yaml'
import type { Settings } from '../environments/service.js'
import type { MessageResponse } from '../messages/schemas.js'
import type { WorkflowStep } from '../workflow-steps/schemas.js'
import type { EnvironmentData, WorkflowDocument } from './environment-data.js'
import type { SeedEnvironment, SeedMessage, SeedWorkflow } from './format.js'
import type { RecordKind } from './repository.js'

/**
 * Returns an environment as a seed with nothing left to defaults: an environment made of it gives the same answers, byte
 * for byte. Its keys, which are not stored, are not in it, nor its own id and organization.
 */
export function exportSeed(stored: Settings & Pick<EnvironmentData, RecordKind>): SeedEnvironment {
  const stepsOf = new Map<string, WorkflowStep[]>(stored.workflows.map(({ _id }) => [_id, []]))
  for (const step of stored.steps) stepsOf.get(step.workflowDatabaseId)?.push(step)
  return {
    ...exportSettings(stored),
    integrations: stored.integrations.map(withoutOwner),
    subscribers: stored.subscribers.map(withoutOwner),
    workflows: stored.workflows.map((workflow) => exportWorkflow(workflow, stepsOf.get(workflow._id) ?? [])),
    messages: stored.messages.map(exportMessage)
  } as SeedEnvironment
}

function exportSettings({ name, profile, assumptions, clock, randomSeed }: Settings) {
  return {
    name,
    ...(profile && { profile }),
    ...(Object.keys(assumptions).length > 0 && { assumptions }),
    ...(clock.mode !== 'wall' && { clock }),
    ...(randomSeed !== null && { randomSeed })
  }
}

/** The records of an environment, one after the other. */
interface StoredRecords {
  list(kind: RecordKind): Iterable<object>
  stepsOf(workflow: WorkflowDocument): WorkflowStep[]
}

export type SeedFormat = keyof typeof SEED_TEXT

/** Yields the text of `exportSeed`, piece by piece, of which none is larger than a record. */
export function* exportText(settings: Settings, stored: StoredRecords, format: SeedFormat): Generator<string, void> {
  const { head, open, item, close, tail } = SEED_TEXT[format]
  yield head(exportSettings(settings))
  yield* list('integrations', withoutOwner)
  yield* list('subscribers', withoutOwner)
  yield* list('workflows', (each: WorkflowDocument) => exportWorkflow(each, stored.stepsOf(each)))
  yield* list('messages', exportMessage)
  yield tail

  function* list<Item extends object>(kind: RecordKind, toSeed: (item: Item) => object): Generator<string, void> {
    let isEmpty = true
    for (const each of stored.list(kind) as Iterable<Item>) {
      if (isEmpty) yield open(kind, false)
      yield item(toSeed(each), isEmpty)
      isEmpty = false
    }
    yield isEmpty ? open(kind, true) : close
  }
}

/** How a seed with one environment is put together from its settings and the items of its lists. */
export const SEED_TEXT = {
  json: {
    head: (settings: object) => `{"environments":[${JSON.stringify(settings).slice(0, -1)}`,
    open: (name: string, isEmpty: boolean) => `,"${name}":[${isEmpty ? ']' : ''}`,
    item: (value: object, isFirst: boolean) => `${isFirst ? '' : ','}${JSON.stringify(value)}`,
    close: ']',
    tail: '}]}'
  },
  yaml: {
    head: (settings: object) => toYaml({ environments: [settings] }),
    open: (name: string, isEmpty: boolean) => `    ${name}:${isEmpty ? ' []' : ''}\n`,
    // As deep as it stands in the seed, as lines are folded by that.
    item: (value: object) => toYaml({ environments: [{ list: [value] }] }).slice(YAML_LIST.length),
    close: '',
    tail: ''
  }
} as const

const YAML_LIST = 'environments:\n  - list:\n'

/** Returns the value as YAML without aliases and merge keys. */
function toYaml(value: object): string {
  const document = new YamlDocument(value, { aliasDuplicateObjects: false })
  visit(document, {
    // A bare << would merge its value into the object that it is a field of.
    Pair(_index, { key }) {
      if (isScalar(key) && key.value === '<<') key.type = Scalar.QUOTE_DOUBLE
    }
  })
  return document.toString()
}

function exportWorkflow(workflow: WorkflowDocument, steps: readonly WorkflowStep[]): SeedWorkflow {
  return {
    ...workflow,
    steps: steps.map(({ workflowId: _identifier, workflowDatabaseId: _id, origin: _origin, ...step }) => step)
  }
}

export function exportMessage({ subscriber, template, ...message }: MessageResponse): SeedMessage {
  const { notificationGroup, ...fields } = template ?? {}
  const group = notificationGroup && { notificationGroup: withoutOwner(notificationGroup) }
  return {
    ...withoutOwner(message),
    ...(subscriber && { subscriber: withoutOwner(subscriber) }),
    ...(template && { template: { ...withoutOwner(fields), ...group } })
  } as SeedMessage
}

export function withoutOwner<Document extends object>(
  document: Document & { _environmentId?: string; _organizationId?: string }
) {
  const { _environmentId, _organizationId, ...rest } = document
  return rest
}
