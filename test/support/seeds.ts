import fc from 'fast-check'
import { API_KEY_PATTERN, CONTEXT_KEY_PATTERN, ID_PATTERN } from '../../src/domain/ids.js'
import { namedSchemas } from '../../src/schema/typebox.js'
import { Seed, type SeedEnvironment } from '../../src/seeds/format.js'
import { type JsonSchema, valuesBy } from './schema-values.js'

/** Generates seeds that match the format. They can have duplicates and broken references. */
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
 * Generates environments that the server accepts: names, ids and primaries are unique, references
 * lead to existing records, and messages with an error have a matching status.
 */
export function consistentEnvironment(): fc.Arbitrary<SeedEnvironment> {
  return anyValueOf({
    ...environmentSchema,
    required: ['name', 'integrations', 'subscribers', 'workflows', 'messages']
  }).map((value) => withoutContradictions(value as Required<SeedEnvironment>))
}

/** Strings, including those that are hard to represent in YAML or JSON. */
const text = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: 'binary', maxLength: 6 }),
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
const id = fc
  .uint8Array({ minLength: 12, maxLength: 12 })
  .map((bytes) => Buffer.from(bytes).toString('hex'))
const time = fc
  .date({ min: new Date('1990-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString())

const TIMES =
  /^(createdAt|updatedAt|lastOnlineAt|deletedAt|lastSeenDate|lastReadDate|snoozedUntil|deliveredAt|at)$/

const named = new Map(namedSchemas(Seed).map((schema) => [schema.$id, schema as JsonSchema]))

const anyValueOf = valuesBy({
  find: (reference) => named.get(reference.replace(/#$/, '')),
  names: text,
  textOf({ pattern, minLength = 0 }, field) {
    if (pattern === ID_PATTERN.source) return id
    if (pattern === CONTEXT_KEY_PATTERN) return fc.stringMatching(/^[a-z]{1,5}:[ -~]{1,8}$/)
    if (pattern === API_KEY_PATTERN.source) return fc.stringMatching(/^[!-~]{1,9}$/)
    if (pattern) throw new Error(`no strings are known that match ${pattern}`)
    if (TIMES.test(field)) return time
    return minLength > 0 ? text.filter((value) => value !== '') : text
  }
})

const environmentSchema = (
  Seed as unknown as { properties: { environments: { items: JsonSchema } } }
).properties.environments.items

function withoutContradictions(environment: Required<SeedEnvironment>): SeedEnvironment {
  const primaries = new Set<string>()
  let count = 0
  const unique = <Record extends object>(record: Record, name: string): Record => {
    count += 1
    const ownName = String((record as { [name: string]: unknown })[name] ?? '').toWellFormed()
    return {
      ...record,
      ...('_id' in record && { _id: deriveId(count) }),
      [name]: `${ownName}${count}`
    }
  }
  const { integrations, subscribers, workflows, messages, generate, ...rest } = environment
  const uniqueSubscribers = subscribers.map((each) => unique(each, 'subscriberId'))
  const uniqueWorkflows = workflows.map((workflow) => ({
    ...unique(workflow, 'identifier'),
    ...(workflow.steps && { steps: workflow.steps.map((step) => unique(step, 'stepId')) })
  }))
  const ids = uniqueSubscribers.map(({ subscriberId }) => subscriberId)
  const identifiers = uniqueWorkflows.map(({ identifier }) => identifier)
  return {
    ...rest,
    integrations: integrations.map((integration) => {
      const primary = integration.primary === true && !primaries.has(integration.channel)
      if (primary) primaries.add(integration.channel)
      const isDeleted = integration.deletedAt !== undefined || integration.deletedBy !== undefined
      return { ...unique(integration, 'identifier'), primary, ...(isDeleted && { deleted: true }) }
    }),
    subscribers: uniqueSubscribers,
    workflows: uniqueWorkflows,
    messages: messages.map(({ subscriberId, workflow, ...message }, position) => {
      count += 1
      const subscriber = message.subscriber && {
        ...message.subscriber,
        subscriberId: `own-${count}`
      }
      const isError = message.errorId !== undefined || message.errorText !== undefined
      return {
        ...message,
        ...(isError && message.status !== 'warning' && { status: 'error' }),
        ...('_id' in message && { _id: deriveId(count) }),
        ...(subscriber && { subscriber }),
        ...(!subscriber && subscriberId !== undefined && pick('subscriberId', ids, position)),
        ...(workflow !== undefined && pick('workflow', identifiers, position))
      }
    })
  } as SeedEnvironment
}

const deriveId = (count: number) => count.toString(16).padStart(24, '0')

function pick(field: string, names: readonly (string | undefined)[], position: number) {
  return names.length === 0 ? {} : { [field]: names[position % names.length] }
}
