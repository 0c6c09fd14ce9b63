import type { TSchema } from '@sinclair/typebox'
import fc, { type Arbitrary } from 'fast-check'
import { API_KEY_PATTERN, ID_PATTERN } from '../../src/ids.js'
import { CONTEXT_KEY_PATTERN } from '../../src/messages/schemas.js'
import { Seed, type SeedEnvironment, seedFormatSchemas } from '../../src/seeds/format.js'

const named = new Map(seedFormatSchemas.map((schema) => [String(schema.$id), schema]))

/** Any seed that has the format. It may contradict itself: refer to what is not there, or have doubles. */
export function anySeed(): Arbitrary<Seed> {
  return arbitraryOf(Seed) as Arbitrary<Seed>
}

/** Any seed that the server starts with. */
export function soundSeed(): Arbitrary<Seed> {
  return anySeed().map(({ environments }) => ({ environments: environments.map(soundEnvironment) }))
}

/** A value of the schema, with all kinds of fields left out, and strings that are times where the format wants one. */
function arbitraryOf(schema: TSchema, name = '', depth = 0): Arbitrary<unknown> {
  if (schema.$ref) return arbitraryOf(named.get(String(schema.$ref).replace('#', '')) as TSchema, name, depth)
  if (schema.enum) return fc.constantFrom(...(schema.enum as unknown[]))
  if (schema.anyOf) return fc.oneof(...(schema.anyOf as TSchema[]).map((each) => arbitraryOf(each, name, depth)))
  const types = [schema.type].flat() as string[]
  return fc.oneof(...types.map((type) => ofType(type, schema, name, depth)))
}

function ofType(type: string, schema: TSchema, name: string, depth: number): Arbitrary<unknown> {
  switch (type) {
    case 'null':
      return fc.constant(null)
    case 'boolean':
      return fc.boolean()
    case 'integer':
    case 'number':
      return fc.integer({ min: schema.minimum ?? -0x80000000, max: Math.min(schema.maximum ?? 0x7fffffff, 0x7fffffff) })
    case 'string':
      return stringOf(schema, name)
    case 'array':
      return fc.array(arbitraryOf(schema.items as TSchema, name, depth + 1), { maxLength: depth > 4 ? 1 : 3 })
    default:
      return objectOf(schema, depth)
  }
}

function stringOf({ pattern, minLength = 0 }: TSchema, name: string): Arbitrary<string> {
  if (pattern === ID_PATTERN.source) return fc.stringMatching(/^[0-9a-f]{24}$/)
  if (pattern === API_KEY_PATTERN.source) return fc.stringMatching(/^[!-~]+$/)
  if (pattern === CONTEXT_KEY_PATTERN)
    return fc
      .tuple(fc.stringMatching(/^[^:]+$/), fc.string({ minLength: 1 }))
      .map(([type, id]) => `${type}:${id.replaceAll(/[\n\r\u2028\u2029]/g, ' ')}`)
  if (pattern) throw new Error(`no strings are known that match ${pattern}`)
  if (TIMES.includes(name))
    return fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) }).map((date) => date.toISOString())
  return fc.string({ unit: 'grapheme', minLength })
}

const TIMES = [
  'at',
  'createdAt',
  'updatedAt',
  'deletedAt',
  'deliveredAt',
  'lastOnlineAt',
  'lastSeenDate',
  'lastReadDate',
  'snoozedUntil'
]

function objectOf(schema: TSchema, depth: number): Arbitrary<object> {
  const properties = schema.properties as Record<string, TSchema> | undefined
  if (!properties) {
    const values = schema.additionalProperties as TSchema | true
    if (values === true) return fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 2 })
    return depth > 8 ? fc.constant({}) : fc.dictionary(fc.string(), arbitraryOf(values, '', depth + 1), { maxKeys: 2 })
  }
  const required = (schema.required ?? []) as string[]
  const names = Object.keys(properties).filter((name) => required.includes(name) || depth <= 8)
  const model = Object.fromEntries(
    names.map((name) => [name, arbitraryOf(properties[name] as TSchema, name, depth + 1)])
  )
  return fc.record(model, { requiredKeys: required })
}

/** The same with numbers on what must not be double, and with references that lead somewhere. */
function soundEnvironment(seed: SeedEnvironment, place: number): SeedEnvironment {
  const { _id, organization, _organizationId, ...rest } = seed
  const unlike = <Thing extends { _id?: string }>(things: readonly Thing[] = []) =>
    things.map(({ _id: _, ...thing }) => thing as unknown as Thing)
  const primaries = new Set<string>()
  const integrations = unlike(seed.integrations).map((integration, index) => {
    const primary = integration.primary === true && !primaries.has(integration.channel)
    if (primary) primaries.add(integration.channel)
    return { ...integration, identifier: `${integration.identifier}-${index}`, primary }
  })
  const subscribers = unlike(seed.subscribers).map((each, index) => ({
    ...each,
    subscriberId: `${each.subscriberId}-${index}`
  }))
  const workflows = unlike(seed.workflows).map((each, index) => ({
    ...each,
    identifier: `${each.identifier}-${index}`,
    steps: unlike(each.steps).map((step, at) => ({ ...step, stepId: `${step.stepId}-${at}` }))
  }))
  const messages = unlike(seed.messages).map(({ subscriberId: _s, workflow: _w, ...message }, index) => ({
    ...message,
    ...(!message.subscriber &&
      subscribers.length > 0 && { subscriberId: subscribers[index % subscribers.length]?.subscriberId as string }),
    ...(workflows.length > 0 && { workflow: workflows[index % workflows.length]?.identifier as string })
  }))
  const apiKeys = (seed.apiKeys ?? ['key']).map((key, index) => `${key}-${place}-${index}`)
  return { ...rest, name: `${seed.name} ${place}`, apiKeys, integrations, subscribers, workflows, messages }
}
