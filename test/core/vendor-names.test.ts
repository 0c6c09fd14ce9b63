import type { TSchema } from '@sinclair/typebox'
import { describe, expect, test } from 'vitest'
import { assume } from '../../src/core/assumptions.js'
import { mayNeedVendorNames, VENDOR_NAMES, withVendorNames } from '../../src/core/vendor-names.js'
import { givenMock } from '../support/mock.js'
import { wireSchemas } from '../support/wire-schemas.js'

const WORDS = Object.keys(VENDOR_NAMES)
const DOCUMENTS = ['Integration', 'MessageResponseDto', 'WorkflowStep']

/** The keys that lead to a value in a document. */
type Path = readonly (string | number)[]

interface Leaf {
  path: Path
  /** Whether it holds a name: the schema lists the word, or it is a provider's id, which may be any text. */
  named: boolean
}

/** Every path of a schema that can lead to a text. A schema that refers to itself is followed twice. */
function leavesOf(schema: TSchema, path: Path = [], around: readonly string[] = []): Leaf[] {
  if (schema.$ref) {
    const id = String(schema.$ref).replace('#', '')
    if (around.filter((each) => each === id).length === 2) return []
    const found = wireSchemas.find(({ $id }) => $id === id)
    if (!found) throw new Error(`no schema ${id}`)
    return leavesOf(found, path, [...around, id])
  }
  const inside = (more: TSchema, key: string | number) => leavesOf(more, [...path, key], around)
  if (schema.anyOf) return schema.anyOf.flatMap((each: TSchema) => leavesOf(each, path, around))
  if (schema.type === 'array') return inside(schema.items, 0)
  if (Object.keys(schema.properties ?? {}).length > 0) {
    return Object.entries(schema.properties).flatMap(([field, each]) => inside(each as TSchema, field))
  }
  if ([schema.type].flat().includes('object')) {
    if (typeof schema.additionalProperties === 'object') {
      return ['any', ...WORDS, 'origin', 'providerId'].flatMap((key) => inside(schema.additionalProperties, key))
    }
    return ['origin', 'providerId', 'subscriber'].map((free) => ({ path: [...path, free], named: false }))
  }
  const listed = schema.enum?.some((word: string) => WORDS.includes(word)) ?? false
  return [{ path, named: listed || path.at(-1) === 'providerId' }]
}

/** The smallest document that has this value at that path. */
function documentWith(path: Path, value: unknown): unknown {
  return path.reduceRight((inner, key) => (typeof key === 'number' ? [inner] : { [key]: inner }), value)
}

describe.each(DOCUMENTS)('in a document of %s', (id) => {
  const leaves = leavesOf({ $ref: `${id}#` } as unknown as TSchema)

  test('names stand where the schemas say so, and nothing else is touched', () => {
    expect(leaves.length).toBeGreaterThan(10)
    for (const { path, named } of leaves) {
      for (const word of WORDS) {
        const spelled = withVendorNames(documentWith(path, word) as object)
        expect(spelled, path.join('.')).toEqual(documentWith(path, named ? VENDOR_NAMES[word] : word))
      }
    }
  })
})

test('a name with one spelling and an unknown name are left as they are', () => {
  for (const text of ['external', 'slack', '', 'SERVICE-CLOUD', 'service-cloud ', 'toString', '__proto__']) {
    expect(withVendorNames({ origin: text, providerId: text })).toEqual({ origin: text, providerId: text })
  }
})

test('fields keep their order', () => {
  const document = { _id: '1', origin: 'service-cloud', subscriber: { channels: [{ providerId: 'service-slack' }] } }
  expect(JSON.stringify(withVendorNames(document))).toBe(
    '{"_id":"1","origin":"novu-cloud","subscriber":{"channels":[{"providerId":"novu-slack"}]}}'
  )
})

test('a text is parsed unless it can contain no such name', () => {
  const [contract, vendor] = [assume('document'), assume('live')]
  for (const word of WORDS) {
    expect(mayNeedVendorNames(JSON.stringify({ any: [word] }), vendor)).toBe(true)
    expect(mayNeedVendorNames(Buffer.from(JSON.stringify({ any: [word] })), vendor)).toBe(true)
    expect(mayNeedVendorNames(JSON.stringify({ any: [word] }), contract)).toBe(false)
  }
  expect(mayNeedVendorNames('{"origin":"external"}', vendor)).toBe(false)
})

test('over HTTP: what was stored freely comes back in `live` word for word', async () => {
  const free = {
    origin: 'service-cloud',
    providerId: 'service-slack',
    subscriber: { channels: [{ providerId: 'service-slack' }] },
    'service-cloud': ['service-cloud-v1']
  }
  const children = [{ field: 'origin', value: 'service-cloud', operator: 'EQUAL', on: 'payload' }]
  const conditions = [{ isNegated: false, type: 'GROUP', value: 'AND', children }]
  const step = { stepId: 'service-cloud', name: 'service-cloud', type: 'custom', controlValues: free, variables: free }
  const message = { channel: 'chat', subject: 'service-cloud', transactionId: 'service-cloud', payload: free }
  const integration = {
    _id: '66f1c2a47c9b1a0012ad0001',
    identifier: 'service-slack',
    name: 'service-slack',
    channel: 'email',
    primary: true,
    credentials: { title: 'service-slack', tlsOptions: free },
    conditions
  }
  const ada = { subscriberId: 'ada', firstName: 'service-slack', topics: ['service-slack'], data: free }
  const channel = { integrationIdentifier: 'service-slack', credentials: {}, _integrationId: '1' }
  const slack = { providerId: 'service-slack' }
  const shop = {
    name: 'Shop',
    integrations: [{ ...integration, ...slack }],
    subscribers: [{ ...ada, channels: [{ ...channel, ...slack }] }],
    workflows: [{ identifier: 'service-cloud', origin: 'service-cloud-v1', payloadSchema: free, steps: [step] }],
    messages: [{ ...message, ...slack, subscriberId: 'ada' }]
  }
  const mock = await givenMock({
    profile: 'live',
    assumptions: { credentials: 'stored', 'control-values': 'once', 'embedded-subscriber': 'whole' },
    seed: { environments: [shop] }
  })

  const renamed = { providerId: 'novu-slack' }
  const shownStep = (await mock.get('/v2/workflows/service-cloud/steps/service-cloud')).json.data
  expect(shownStep).toMatchObject({ ...step, origin: 'novu-cloud-v1', workflowId: 'service-cloud' })
  const [shownMessage] = (await mock.get('/v1/messages')).json.data
  const subscriber = { ...ada, channels: [{ ...channel, ...renamed }] }
  expect(shownMessage).toMatchObject({ ...message, ...renamed, subscriber })
  const shownIntegration = (await mock.post(`/v1/integrations/${integration._id}/set-primary`)).json.data
  expect(shownIntegration).toMatchObject({ ...integration, ...renamed })
})
