import type { Environment, Settings } from '../environments/service.js'
import type { MessageResponse } from '../messages/schemas.js'
import { escaped } from '../platform/printable.js'
import type { WorkflowStep } from '../workflow-steps/schemas.js'
import type { SeedMessage, WorkflowDocument } from './format.js'
import type { SeedRepository } from './repository.js'

/** Converts an environment's settings to the seed format, without ids and API keys. */
export function exportSettings({
  name,
  profile,
  assumptions,
  clock,
  randomSeed,
  stubs
}: Omit<Settings, 'organizationId'>) {
  return {
    name,
    ...(profile && { profile }),
    ...(Object.keys(assumptions).length > 0 && { assumptions }),
    ...(clock.mode !== 'wall' && { clock }),
    ...(randomSeed !== null && { randomSeed }),
    ...exportStubs(stubs)
  }
}

/** Returns a seed's `stubs`. Omits stubs with a function, because a file can't contain one. */
function exportStubs(stubs: Settings['stubs']) {
  const fixed = stubs.filter((stub) => stub.function === undefined)
  return fixed.length > 0 && { stubs: fixed.map(({ id: _id, ...stub }) => stub) }
}

/**
 * Returns an environment's records as the lists of a seed. The lists contain every field, so an
 * environment created from them returns records with the same bytes.
 *
 * `subscriberJson` maps each `subscriberId` to the subscriber's JSON. If the subscriber embedded in
 * a message has the same JSON, the message contains only its `subscriberId`.
 */
export function exportLists(
  repository: SeedRepository,
  environment: Environment,
  subscriberJson: ReadonlyMap<string, string> = new Map()
) {
  const { stepsOf } = repository.lookUp(environment)
  const exportWorkflow = (workflow: WorkflowDocument) => ({
    ...workflow,
    steps: stepsOf(workflow._id).map(exportStep)
  })
  const exportShortMessage = (message: MessageResponse) => {
    const { subscriber, ...rest } = message
    const json = subscriber && subscriberJson.get(subscriber.subscriberId)
    if (json === undefined || json !== JSON.stringify(subscriber)) return exportMessage(message)
    return { subscriberId: subscriber?.subscriberId, ...exportMessage(rest) }
  }
  return {
    integrations: mapLazily(repository.documents('integrations', environment), withoutOwner),
    subscribers: mapLazily(repository.documents('subscribers', environment), withoutOwner),
    workflows: mapLazily(repository.documents('workflows', environment), exportWorkflow),
    messages: mapLazily(repository.documents('messages', environment), exportShortMessage)
  }
}

export type SeedFormat = 'json' | 'yaml'

/**
 * Yields the text of a seed with one environment, at most one record at a time. In YAML, each
 * record is one line.
 */
export function seedText(
  settings: object,
  lists: Record<string, Iterable<object>>,
  format: SeedFormat
): Generator<string, void> {
  return format === 'json' ? seedJson(settings, lists) : seedYaml(settings, lists)
}

function* seedJson(settings: object, lists: Record<string, Iterable<object>>) {
  yield `{"environments":[${JSON.stringify(settings).slice(0, -1)}`
  for (const [name, records] of Object.entries(lists)) {
    yield `,"${name}":[`
    let separator = ''
    for (const record of records) {
      yield separator + JSON.stringify(record)
      separator = ','
    }
    yield ']'
  }
  yield '}]}'
}

function* seedYaml(settings: object, lists: Record<string, Iterable<object>>) {
  const lines = Object.entries(settings).map(([name, value]) => `${name}: ${flowStyle(value)}\n`)
  yield `environments:\n  - ${lines.join('    ')}`
  for (const [name, records] of Object.entries(lists)) {
    yield `    ${name}:`
    let end = ' []\n'
    for (const record of records) {
      yield `\n      - ${flowStyle(record)}`
      end = '\n'
    }
    yield end
  }
}

/** Characters that YAML forbids, or treats as the end of a line. */
const NOT_IN_YAML = /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g

/** Returns JSON that is also valid YAML. */
function flowStyle(value: unknown): string {
  return JSON.stringify(value).replace(NOT_IN_YAML, escaped)
}

function* mapLazily<Item>(
  items: Iterable<Item>,
  map: (item: Item) => object
): Generator<object, void> {
  for (const item of items) yield map(item)
}

/** Returns the step without the fields that are copied from its workflow. */
export const exportStep = ({
  workflowId: _workflowId,
  workflowDatabaseId: _workflowDatabaseId,
  origin: _origin,
  ...step
}: WorkflowStep) => step

/** Converts the message to the seed format. */
export function exportMessage({ subscriber, template, ...message }: MessageResponse): SeedMessage {
  return {
    ...withoutOwner(message),
    ...(subscriber && { subscriber: withoutOwner(subscriber) }),
    ...(template && { template: exportTemplate(template) })
  } as SeedMessage
}

function exportTemplate({
  notificationGroup,
  ...fields
}: NonNullable<MessageResponse['template']>): object {
  const group = notificationGroup && { notificationGroup: withoutOwner(notificationGroup) }
  return { ...withoutOwner(fields), ...group }
}

type Owned = { _environmentId?: string; _organizationId?: string }

/** Returns the document without the ids of its environment and organization. */
export const withoutOwner = <Document extends Owned>({
  _environmentId,
  _organizationId,
  ...rest
}: Document) => rest
