import type { Environment, Settings } from '../environments/service.js'
import type { MessageResponse } from '../messages/schemas.js'
import { escaped } from '../platform/printable.js'
import type { WorkflowStep } from '../workflow-steps/schemas.js'
import type { SeedMessage, WorkflowDocument } from './format.js'
import type { SeedRepository } from './repository.js'

/** Returns the settings of an environment as a seed has them: without its keys, its own id and its organization. */
export function exportSettings({
  name,
  profile,
  assumptions,
  clock,
  randomSeed
}: Omit<Settings, 'organizationId'>) {
  return {
    name,
    ...(profile && { profile }),
    ...(Object.keys(assumptions).length > 0 && { assumptions }),
    ...(clock.mode !== 'wall' && { clock }),
    ...(randomSeed !== null && { randomSeed })
  }
}

/**
 * Returns the records of an environment as the lists of a seed, with nothing left to defaults: an environment made of it
 * gives the same answers, byte for byte. Messages refer to those subscribers of which the text is known here, by their
 * subscriberId.
 */
export function exportLists(
  { documents, lookUp }: SeedRepository,
  environment: Environment,
  known: ReadonlyMap<string, string> = new Map()
) {
  const { stepsOf } = lookUp(environment)
  const exportWorkflow = (workflow: WorkflowDocument) => ({
    ...workflow,
    steps: stepsOf(workflow._id).map(exportStep)
  })
  return {
    integrations: each(documents('integrations', environment), withoutOwner),
    subscribers: each(documents('subscribers', environment), withoutOwner),
    workflows: each(documents('workflows', environment), exportWorkflow),
    messages: each(documents('messages', environment), ({ subscriber, ...message }) => {
      if (!subscriber || known.get(subscriber.subscriberId) !== JSON.stringify(subscriber)) {
        return exportMessage({ ...message, subscriber } as MessageResponse)
      }
      return { subscriberId: subscriber.subscriberId, ...exportMessage(message) }
    })
  }
}

export type SeedFormat = 'json' | 'yaml'

/**
 * Yields the text of a seed with one environment, of its settings and lists, in pieces none of which is larger than a
 * record. In YAML each record is a line.
 */
export function* seedText(
  settings: object,
  lists: Record<string, Iterable<object>>,
  format: SeedFormat
) {
  const isJson = format === 'json'
  const lines = Object.entries(settings).map(([name, value]) => `${name}: ${toFlow(value)}\n`)
  yield isJson
    ? `{"environments":[${JSON.stringify(settings).slice(0, -1)}`
    : `environments:\n  - ${lines.join('    ')}`
  for (const [name, records] of Object.entries(lists)) {
    yield isJson ? `,"${name}":[` : `    ${name}:`
    let isEmpty = true
    for (const record of records) {
      yield isJson
        ? `${isEmpty ? '' : ','}${JSON.stringify(record)}`
        : `\n      - ${toFlow(record)}`
      isEmpty = false
    }
    yield isJson ? ']' : isEmpty ? ' []\n' : '\n'
  }
  if (isJson) yield '}]}'
}

/** JSON is YAML, but for these characters, which YAML has no place for, or takes for the end of a line. */
function toFlow(value: unknown): string {
  return JSON.stringify(value).replace(/[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g, escaped)
}

function* each<Item>(
  items: Iterable<Item>,
  toSeed: (item: Item) => object
): Generator<object, void> {
  for (const item of items) yield toSeed(item)
}

/** Without what follows from its workflow. */
export const exportStep = ({
  workflowId: _,
  workflowDatabaseId: _id,
  origin: _origin,
  ...step
}: WorkflowStep) => step

export function exportMessage({ subscriber, template, ...message }: MessageResponse): SeedMessage {
  const { notificationGroup, ...fields } = template ?? {}
  const group = notificationGroup && { notificationGroup: withoutOwner(notificationGroup) }
  return {
    ...withoutOwner(message),
    ...(subscriber && { subscriber: withoutOwner(subscriber) }),
    ...(template && { template: { ...withoutOwner(fields), ...group } })
  } as SeedMessage
}

type Owned = { _environmentId?: string; _organizationId?: string }

export const withoutOwner = <Document extends Owned>({
  _environmentId,
  _organizationId,
  ...rest
}: Document) => rest
