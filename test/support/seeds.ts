import fc from 'fast-check'
import { API_KEY_PATTERN, CONTEXT_KEY_PATTERN, ID_PATTERN } from '../../src/domain/ids.js'
import { namedSchemas } from '../../src/schema/typebox.js'
import {
  Seed,
  type SeedEnvironment,
  type SeedIntegration,
  type SeedMessage
} from '../../src/seeds/format.js'
import { anyCharacter } from './any-character.js'
import { type JsonSchema, valuesBy } from './schema-values.js'

/** Generates seeds that match the seed schema, but may have duplicates and broken references. */
export function anySeed(): fc.Arbitrary<Seed> {
  return anyValueOf(Seed as JsonSchema) as fc.Arbitrary<Seed>
}

/** Generates seeds that the server accepts. */
export function consistentSeed(): fc.Arbitrary<Seed> {
  return fc.array(consistentEnvironment(), { maxLength: 3 }).map((environments) => ({
    environments: environments.map(({ _id, organization, _organizationId, ...rest }, position) => ({
      ...rest,
      name: `${rest.name} ${position}`,
      apiKeys: (rest.apiKeys ?? ['key']).map((key, index) => `${key}-${position}-${index}`)
    }))
  }))
}

/**
 * Generates environments that the server accepts: names and ids are unique, a channel has at most
 * one primary integration, references point to existing records, and a message with an error has
 * the status `error` or `warning`.
 */
export function consistentEnvironment(): fc.Arbitrary<SeedEnvironment> {
  return anyValueOf({
    ...environmentSchema,
    required: ['name', 'integrations', 'subscribers', 'workflows', 'messages', 'stubs']
  }).map((value) => withoutContradictions(value as Required<SeedEnvironment>))
}

/** Generates strings, including some that are hard to represent in YAML or JSON. */
const anyText = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: anyCharacter, maxLength: 6 }),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 4 })
    .map((units) => String.fromCharCode(...units)),
  fc.constantFrom(
    'null',
    '~',
    'true',
    'NO',
    '1e3',
    '0x1F',
    '012',
    '2026-01-01',
    '<<',
    '__proto__',
    '- a',
    'a: b',
    '#'
  ),
  fc.constantFrom(
    ' a',
    'a ',
    'a\nb\n',
    '\n',
    '\r\n a',
    '\t',
    '"',
    "'",
    '|',
    '{{x}}',
    '&a',
    '*a',
    '!!str',
    '%',
    '---'
  ),
  fc.constantFrom(
    '"_environmentId":"x"',
    'a'.repeat(200),
    'word '.repeat(60),
    '\u2028',
    '\ufeff',
    '\u0000',
    '\u0085'
  )
)

/** Generates strings without lone surrogates, because a seed can't contain them. */
const text = anyText.map((value) => value.toWellFormed())
const id = fc
  .uint8Array({ minLength: 12, maxLength: 12 })
  .map((bytes) => Buffer.from(bytes).toString('hex'))
const time = fc
  .date({ min: new Date('1990-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString())

const TIMES =
  /^(createdAt|updatedAt|lastOnlineAt|deletedAt|lastSeenDate|lastReadDate|snoozedUntil|deliveredAt|at|timesRelativeTo)$/

const named = new Map(namedSchemas(Seed).map((schema) => [schema.$id, schema as JsonSchema]))

const anyValueOf = valuesBy({
  find: (reference) => named.get(reference.replace(/#$/, '')),
  names: text,
  textOf({ pattern, minLength = 0 }, field) {
    if (pattern === ID_PATTERN.source) return id
    if (pattern === CONTEXT_KEY_PATTERN) return fc.stringMatching(/^[a-z]{1,5}:[ -~]{1,8}$/)
    if (pattern === API_KEY_PATTERN.source) return fc.stringMatching(/^[!-~]{1,9}$/)
    if (pattern) throw new Error(`no known string matches ${pattern}`)
    if (TIMES.test(field)) return time
    return minLength > 0 ? text.filter((value) => value !== '') : text
  }
})

const environmentSchema = (
  Seed as unknown as { properties: { environments: { items: JsonSchema } } }
).properties.environments.items

function withoutContradictions(environment: Required<SeedEnvironment>): SeedEnvironment {
  const numbers = new RecordNumbers()
  const { integrations, subscribers, workflows, messages, stubs, generate, ...rest } = environment
  const uniqueSubscribers = subscribers.map((subscriber) => {
    return numbers.withUniqueName(subscriber, 'subscriberId')
  })
  const uniqueWorkflows = workflows.map((workflow) => ({
    ...numbers.withUniqueName(workflow, 'identifier'),
    ...(workflow.steps && {
      steps: workflow.steps.map((step) => numbers.withUniqueName(step, 'stepId'))
    })
  }))
  const names = {
    subscriberIds: uniqueSubscribers.map(({ subscriberId }) => subscriberId),
    workflows: uniqueWorkflows.map(({ identifier }) => identifier)
  }
  return {
    ...rest,
    integrations: consistentIntegrations(integrations, numbers),
    subscribers: uniqueSubscribers,
    workflows: uniqueWorkflows,
    messages: messages.map((message, position) =>
      consistentMessage(message, position, numbers.next(), names)
    ),
    // The schema allows some headers and paths that the server rejects, so drop the headers and
    // replace the path.
    stubs: stubs.map(({ headers: _headers, ...stub }) => {
      return { ...stub, path: `/v1/stub/${numbers.next()}`, status: 200 }
    })
  } as SeedEnvironment
}

/** Numbers the records of an environment, to make their names and ids unique. */
class RecordNumbers {
  #last = 0

  next(): number {
    this.#last += 1
    return this.#last
  }

  withUniqueName<Record extends object>(record: Record, field: string): Record {
    const number = this.next()
    const name = String((record as { [field: string]: unknown })[field] ?? '').toWellFormed()
    return {
      ...record,
      ...('_id' in record && { _id: deriveId(number) }),
      [field]: `${name}${number}`
    }
  }
}

function consistentIntegrations(
  integrations: readonly SeedIntegration[],
  numbers: RecordNumbers
): SeedIntegration[] {
  const primaries = new Set<string>()
  return integrations.map((integration) => {
    const primary = integration.primary === true && !primaries.has(integration.channel)
    if (primary) primaries.add(integration.channel)
    const isDeleted = integration.deletedAt !== undefined || integration.deletedBy !== undefined
    return {
      ...numbers.withUniqueName(integration, 'identifier'),
      primary,
      ...(isDeleted && { deleted: true })
    }
  })
}

function consistentMessage(
  { subscriberId, workflow, ...message }: SeedMessage,
  position: number,
  number: number,
  names: Record<'subscriberIds' | 'workflows', readonly (string | undefined)[]>
): object {
  const subscriber = message.subscriber && {
    ...message.subscriber,
    subscriberId: `own-${number}`
  }
  const isError = message.errorId !== undefined || message.errorText !== undefined
  return {
    ...message,
    ...(isError && message.status !== 'warning' && { status: 'error' }),
    ...('_id' in message && { _id: deriveId(number) }),
    ...(subscriber && { subscriber }),
    ...(!subscriber &&
      subscriberId !== undefined &&
      pick('subscriberId', names.subscriberIds, position)),
    ...(workflow !== undefined && pick('workflow', names.workflows, position))
  }
}

const deriveId = (number: number) => number.toString(16).padStart(24, '0')

function pick(field: string, names: readonly (string | undefined)[], position: number) {
  return names.length === 0 ? {} : { [field]: names[position % names.length] }
}
