import { describe, expect, test } from 'vitest'
import { assume, PROFILES } from '../../../src/domain/assumptions.js'
import { openApiDocument } from '../../../src/openapi/documents.js'
import { compareDocuments } from '../../../src/remote/comparison/compare-documents.js'

// biome-ignore lint/suspicious/noExplicitAny: each test changes another part of the document
type Json = any

const ours = await openApiDocument(assume('document'))
const copy = (): Json => structuredClone(JSON.parse(JSON.stringify(ours)))

/** Changes a copy of our document, and returns one line for each difference from the original. */
function differencesAfter(change: (schemas: Json, paths: Json) => unknown) {
  const document = copy()
  change(document.components.schemas, document.paths)
  return compareDocuments(document, ours).differences.map((difference) => {
    const { kind, part } = difference
    if (difference.published === undefined) return `${kind} ${part}`
    const published = JSON.stringify(difference.published)
    return `${kind} ${part}: ${published} published, ${JSON.stringify(difference.ours)} ours`
  })
}

const MESSAGES = '/v1/messages'
const PRIMARY = '/v1/integrations/{integrationId}/set-primary'
const STEP = '/v2/workflows/{workflowId}/steps/{stepId}'

describe('a published document', () => {
  test.each(PROFILES)('does not differ from itself in the profile %s', async (profile) => {
    const document = await openApiDocument(assume(profile))
    expect(compareDocuments(JSON.parse(JSON.stringify(document)), document)).toEqual({
      compared: 3,
      missing: [],
      differences: []
    })
  })

  test('for the other profile has only differences that assumptions explain', async () => {
    const { differences } = compareDocuments(await openApiDocument(assume('live')), ours)
    expect(differences.filter(({ explainedBy }) => explainedBy === undefined)).toEqual([])
    expect([...new Set(differences.map(({ explainedBy }) => explainedBy))].sort()).toEqual([
      'control-values',
      'credentials',
      'embedded-subscriber',
      'envelope',
      'foreign-integration',
      'idempotency-rejections',
      'message-extras',
      'total-count',
      'unknown-channel-filter',
      'unknown-subscriber-filter',
      'vendor-names'
    ])
  })

  test('in OpenAPI 3.0 does not differ, although it describes null differently', () => {
    const text = JSON.stringify({ ...copy(), openapi: '3.0.3' })
      .replaceAll('"type":["string","null"]', '"type":"string","nullable":true')
      .replaceAll('"type":["boolean","null"]', '"allOf":[{"type":"boolean"}],"nullable":true')
      .replaceAll('"type":["object","null"]', '"type":"object","nullable":true')
    expect(compareDocuments(JSON.parse(text), ours).differences).toEqual([])
  })
})

describe('reports exactly', () => {
  const reports = (
    title: string,
    expected: string[],
    change: Parameters<typeof differencesAfter>[0]
  ) => test(title, () => expect(differencesAfter(change)).toEqual(expected))

  reports(
    'a missing field',
    ['ours only body.data[].subject'],
    ({ MessageResponseDto }) => delete MessageResponseDto.properties.subject
  )
  reports(
    'an additional field',
    ['published only body.data[].tags'],
    ({ MessageResponseDto }) =>
      (MessageResponseDto.properties.tags = { type: 'array', items: { type: 'string' } })
  )
  reports(
    'a field that is now required',
    ['narrower body.data[].subject required: [] published, ["absent"] ours'],
    ({ MessageResponseDto }) => MessageResponseDto.required.push('subject')
  )
  reports(
    'an additional value of a field and of a parameter',
    [
      'wider body.data[].status values: ["read"] published, [] ours',
      'wider parameter query channel values: ["fax"] published, [] ours'
    ],
    ({ MessageStatus }, { [MESSAGES]: { get } }) => {
      MessageStatus.enum.push('read')
      get.parameters[0].schema.enum.push('fax')
    }
  )
  reports(
    'a missing value',
    ['narrower body.data[].status values: [] published, ["warning"] ours'],
    ({ MessageStatus }) => MessageStatus.enum.pop()
  )
  reports(
    'a different type',
    ['published only body.data[].read type: ["string"] published, ["boolean"] ours'],
    ({ MessageResponseDto }) => (MessageResponseDto.properties.read.type = 'string')
  )
  reports(
    'an additional null',
    ['wider body.data[].subject type: ["null"] published, [] ours'],
    ({ MessageResponseDto: { properties } }) =>
      (properties.subject = { oneOf: [{ type: 'string' }, { type: 'null' }] })
  )
  reports(
    'a required parameter, a different default, and an additional parameter',
    [
      'published only parameter query after',
      'published only parameter query limit default: ["20"] published, ["10"] ours',
      'narrower parameter query subscriberId required: [] published, ["absent"] ours'
    ],
    (_, { [MESSAGES]: { get } }) => {
      get.parameters[1].required = true
      get.parameters.find(({ name }: { name: string }) => name === 'limit').schema.default = 20
      get.parameters.push({ in: 'query', name: 'after', schema: { type: 'string' } })
    }
  )
  reports(
    'a missing status and an additional header',
    ['published only status 200 header etag', 'ours only status 409'],
    (_, { [PRIMARY]: { post } }) => {
      delete post.responses[409]
      post.responses[200].headers.ETag = { schema: { type: 'string' } }
    }
  )
  reports(
    'an object without fields',
    ['wider body.data[].subscriber fields'],
    ({ MessageResponseDto }) => (MessageResponseDto.properties.subscriber = { type: 'object' })
  )
  reports(
    'an envelope, and a change inside it',
    ['ours only body.slug', 'published only envelope'],
    ({ WorkflowStep }, { [STEP]: { get } }) => {
      const json = get.responses[200].content['application/json']
      json.schema = { type: 'object', properties: { data: json.schema }, required: ['data'] }
      delete WorkflowStep.properties.slug
    }
  )
  reports('no difference for path parameters with different names', [], (_, paths) => {
    for (const parameter of paths[STEP].get.parameters)
      parameter.name = parameter.name.replace('stepId', 'id')
    paths['/v2/workflows/{workflowId}/steps/{id}'] = paths[STEP]
    delete paths[STEP]
  })
  reports('no difference for fields that are moved to allOf', [], (schemas) => {
    const { properties, ...rest } = schemas.SubscriberResponseDto
    const { email, ...others } = properties
    schemas.Base = { type: 'object', properties: { email } }
    schemas.SubscriberResponseDto = {
      ...rest,
      allOf: [{ $ref: '#/components/schemas/Base' }, { properties: others }]
    }
  })
  reports(
    'no difference for a schema that contains itself',
    [],
    ({ UiSchemaProperty }) =>
      (UiSchemaProperty.properties.properties.additionalProperties = {
        allOf: [{ $ref: '#/components/schemas/UiSchemaProperty' }]
      })
  )

  test('a missing operation, listed separately', () => {
    const document = copy()
    delete document.paths[STEP]
    expect(compareDocuments(document, ours)).toEqual({
      compared: 2,
      missing: [`GET ${STEP}`],
      differences: []
    })
  })

  test('a difference with pointers to its place in both documents', () => {
    const document = copy()
    document.servers = [{ url: 'https://api.example.com/v1' }]
    document.paths = { '/messages': document.paths[MESSAGES] }
    delete document.components.schemas.MessageResponseDto.properties.subject
    expect(compareDocuments(document, ours).differences).toEqual([
      {
        kind: 'ours only',
        operation: 'GET /v1/messages',
        part: 'body.data[].subject',
        publishedAt: '#/components/schemas/MessageResponseDto',
        oursAt: '#/components/schemas/MessageResponseDto/properties/subject'
      }
    ])
  })
})

test('rejects everything that is not an OpenAPI document', () => {
  const message = 'not an OpenAPI document of version 3.0 or 3.1'
  expect(() => compareDocuments('<html>', ours)).toThrow(message)
  expect(() => compareDocuments({ swagger: '2.0', paths: {} }, ours)).toThrow(message)
})

test('rejects a document that is nested too deeply', () => {
  const deep = JSON.parse(`${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`)
  expect(() => compareDocuments({ openapi: '3.1.0', paths: {}, deep }, ours)).toThrow(
    'the document is nested more than 300 levels deep'
  )
})

test('compares a document whose references expand to millions of schemas', () => {
  const levels = Array.from({ length: 20 }, (_, level) => {
    const $ref = `#/components/schemas/Level${level + 1}`
    const properties = { a: { $ref }, b: { $ref }, c: { $ref } }
    return [`Level${level}`, { type: 'object', properties }]
  })
  const large = copy()
  Object.assign(large.components.schemas, Object.fromEntries(levels))
  large.components.schemas.MessageResponseDto.properties.more = {
    $ref: '#/components/schemas/Level0'
  }
  expect(compareDocuments(large, structuredClone(large)).differences).toEqual([])
})

test('treats a circular reference as a schema that allows any value', () => {
  const differences = differencesAfter((schemas) => {
    schemas.Channel = { $ref: '#/components/schemas/Other' }
    schemas.Other = { $ref: '#/components/schemas/Channel' }
  })
  expect(differences).toContain(
    'wider body.channel values: [] published, ["in_app","email","sms","chat","push"] ours'
  )
})
