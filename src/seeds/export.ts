import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { WALL } from '../core/clock.js'
import { replaceFile } from '../core/replace-file.js'
import type { Settings } from '../environments/service.js'
import type { MessageResponse } from '../messages/schemas.js'
import type { WorkflowStep } from '../workflow-steps/schemas.js'
import type { EnvironmentData, WorkflowDocument } from './environment-data.js'
import type { SeedMessage } from './format.js'
import type { GeneratedMessage, Generation } from './generate/generation.js'
import type { RecordKind } from './repository.js'

/** Returns the settings of an environment as a seed has them: without its keys, its own id and its organization. */
export function exportSettings({ name, profile, assumptions, clock, randomSeed }: Omit<Settings, 'organizationId'>) {
  return {
    name,
    ...(profile && { profile }),
    ...(Object.keys(assumptions).length > 0 && { assumptions }),
    ...(clock.mode !== 'wall' && { clock }),
    ...(randomSeed !== null && { randomSeed })
  }
}

type ListOf = <Kind extends RecordKind>(kind: Kind) => Iterable<EnvironmentData[Kind][number]>

/**
 * Returns the records of an environment as the lists of a seed, with nothing left to defaults: an environment made of it
 * gives the same answers, byte for byte.
 */
export function exportLists(listOf: ListOf, stepsOf: (workflowId: string) => WorkflowStep[]) {
  const exportWorkflow = (workflow: WorkflowDocument) => ({ ...workflow, steps: stepsOf(workflow._id).map(exportStep) })
  return {
    integrations: each(listOf('integrations'), withoutOwner),
    subscribers: each(listOf('subscribers'), withoutOwner),
    workflows: each(listOf('workflows'), exportWorkflow),
    messages: each(listOf('messages'), exportMessage)
  }
}

export type SeedFormat = 'json' | 'yaml'

/**
 * Yields the text of a seed with one environment, of its settings and lists, in pieces none of which is larger than a
 * record. In YAML each record is a line.
 */
export function* seedText(settings: object, lists: Record<string, Iterable<object>>, format: SeedFormat) {
  const isJson = format === 'json'
  const lines = Object.entries(settings).map(([name, value]) => `${name}: ${toFlow(value)}\n`)
  yield isJson
    ? `{"environments":[${JSON.stringify(settings).slice(0, -1)}`
    : `environments:\n  - ${lines.join('    ')}`
  for (const [name, records] of Object.entries(lists)) {
    yield isJson ? `,"${name}":[` : `    ${name}:`
    let isEmpty = true
    for (const record of records) {
      yield isJson ? `${isEmpty ? '' : ','}${JSON.stringify(record)}` : `\n      - ${toFlow(record)}`
      isEmpty = false
    }
    yield isJson ? ']' : isEmpty ? ' []\n' : '\n'
  }
  if (isJson) yield '}]}'
}

/** In bytes: more than usual, as most pieces of the text are some hundred. */
const BUFFER = 1 << 17
/** Messages between two calls of `onProgress`. */
const REPORT = 100

/**
 * Writes a seed of the whole environment with generated messages after its own. Calls `onProgress` with the count of those
 * written so far.
 *
 * The file is replaced as a whole or left as it was. When the signal aborts, rejects within milliseconds.
 */
export function writeGenerated(
  file: string,
  { environment, generation }: { environment: EnvironmentData; generation: Generation },
  { signal, onProgress }: { signal?: AbortSignal; onProgress?: (count: number) => void } = {}
): Promise<void> {
  const { id, organizationId, apiKeys, steps, clock = WALL, randomSeed = null } = environment
  const { name, ...settings } = exportSettings({ ...environment, clock, randomSeed })
  const fields = { name, _id: id, _organizationId: organizationId, apiKeys, ...settings }
  const data = { ...environment, subscribers: [...environment.subscribers, ...generation.subscribers] }
  const stepsOf = (id: string) => steps.filter(({ workflowDatabaseId }) => workflowDatabaseId === id)
  const lists = exportLists((kind) => data[kind], stepsOf)
  let count = 0
  const text = seedText(fields, { ...lists, messages: messages() }, 'yaml')
  const write = (tempFile: string) =>
    pipeline(text, createWriteStream(tempFile, { highWaterMark: BUFFER }), signal ? { signal } : {})
  return replaceFile(file, write)

  function* messages(): Generator<object> {
    yield* lists.messages
    for (const message of generation.messages()) {
      yield toSeedMessage(message)
      if (++count % REPORT === 0) onProgress?.(count)
    }
  }
}

/** A seed refers to the subscriber and the workflow instead of repeating them. */
function toSeedMessage(message: GeneratedMessage): object {
  const { _templateId, templateIdentifier, _environmentId, _organizationId, _subscriberId, subscriber, ...fields } =
    message
  return { workflow: templateIdentifier, subscriberId: subscriber.subscriberId, ...fields }
}

/** JSON is YAML, but for these characters, which YAML has no place for, or takes for the end of a line. */
function toFlow(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  )
}

function* each<Item>(items: Iterable<Item>, toSeed: (item: Item) => object): Generator<object, void> {
  for (const item of items) yield toSeed(item)
}

/** Without what follows from its workflow. */
export function exportStep({
  workflowId: _identifier,
  workflowDatabaseId: _id,
  origin: _origin,
  ...step
}: WorkflowStep) {
  return step
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
