import { describe, expect, test } from 'vitest'
import { assume, PROFILES } from '../../../src/domain/assumptions.js'
import { openApiDocument } from '../../../src/openapi/documents.js'
import { compareDocuments } from '../../../src/remote/recording/document.js'

// biome-ignore lint/suspicious/noExplicitAny: each test changes another part of the document
type Json = any

const ours = await openApiDocument(assume('document'))
const copy = (): Json => structuredClone(JSON.parse(JSON.stringify(ours)))

/** What is found in a copy of our document with a change: `narrower body.subject required: [] there, ["absent"] here`. */
function found(change: (schemas: Json, paths: Json) => unknown) {
  const document = copy()
  change(document.components.schemas, document.paths)
  return compareDocuments(document, ours).differences.map(({ kind, what, there, here }) => {
    const values =
      there === undefined ? '' : `: ${JSON.stringify(there)} there, ${JSON.stringify(here)} here`
    return `${kind} ${what}${values}`
  })
}

const MESSAGES = '/v1/messages'
const PRIMARY = '/v1/integrations/{integrationId}/set-primary'
const STEP = '/v2/workflows/{workflowId}/steps/{stepId}'

describe('a published document', () => {
  test.each(PROFILES)('is our own, of profile %s: nothing is found', async (profile) => {
    const document = await openApiDocument(assume(profile))
    expect(compareDocuments(JSON.parse(JSON.stringify(document)), document)).toEqual({
      compared: 3,
      missing: [],
      differences: []
    })
  })

  test('of the other profile differs by what rows of the register explain', async () => {
    const { differences } = compareDocuments(await openApiDocument(assume('live')), ours)
    expect(differences.filter(({ explainedBy }) => explainedBy === undefined)).toEqual([])
    expect([...new Set(differences.map(({ explainedBy }) => explainedBy))].sort()).toEqual([
      ...[
        'control-values',
        'credentials',
        'embedded-subscriber',
        'envelope',
        'foreign-integration'
      ],
      ...[
        'idempotency-rejections',
        'total-count',
        'unknown-channel-filter',
        'unknown-subscriber-filter',
        'vendor-names'
      ]
    ])
  })

  test('of OpenAPI 3.0, with null and numbers as it has them, is the same', () => {
    const text = JSON.stringify({ ...copy(), openapi: '3.0.3' })
      .replaceAll('"type":["string","null"]', '"type":"string","nullable":true')
      .replaceAll('"type":["boolean","null"]', '"allOf":[{"type":"boolean"}],"nullable":true')
      .replaceAll('"type":["object","null"]', '"type":"object","nullable":true')
    expect(compareDocuments(JSON.parse(text), ours).differences).toEqual([])
  })
})

describe('exactly what was done is found:', () => {
  const finds = (what: string, expected: string[], change: Parameters<typeof found>[0]) =>
    test(what, () => expect(found(change)).toEqual(expected))

  finds(
    'a field that is gone',
    ['here only body.data[].subject'],
    ({ MessageResponseDto }) => delete MessageResponseDto.properties.subject
  )
  finds(
    'a field more',
    ['there only body.data[].tags'],
    ({ MessageResponseDto }) =>
      (MessageResponseDto.properties.tags = { type: 'array', items: { type: 'string' } })
  )
  finds(
    'a field that is required there',
    ['narrower body.data[].subject required: [] there, ["absent"] here'],
    ({ MessageResponseDto }) => MessageResponseDto.required.push('subject')
  )
  finds(
    'a word more, of a parameter too',
    [
      'wider body.data[].status words: ["read"] there, [] here',
      'wider parameter query channel words: ["fax"] there, [] here'
    ],
    ({ MessageStatus }, { [MESSAGES]: { get } }) => {
      MessageStatus.enum.push('read')
      get.parameters[0].schema.enum.push('fax')
    }
  )
  finds(
    'a word less',
    ['narrower body.data[].status words: [] there, ["warning"] here'],
    ({ MessageStatus }) => MessageStatus.enum.pop()
  )
  finds(
    'another type',
    ['there only body.data[].read type: ["string"] there, ["boolean"] here'],
    ({ MessageResponseDto }) => (MessageResponseDto.properties.read.type = 'string')
  )
  finds(
    'null as well',
    ['wider body.data[].subject type: ["null"] there, [] here'],
    ({ MessageResponseDto: { properties } }) =>
      (properties.subject = { oneOf: [{ type: 'string' }, { type: 'null' }] })
  )
  finds(
    'a parameter that is required, another default, and one more',
    [
      'there only parameter query after',
      'there only parameter query limit default: ["20"] there, ["10"] here',
      'narrower parameter query subscriberId required: [] there, ["absent"] here'
    ],
    (_, { [MESSAGES]: { get } }) => {
      get.parameters[1].required = true
      get.parameters.find(({ name }: { name: string }) => name === 'limit').schema.default = 20
      get.parameters.push({ in: 'query', name: 'after', schema: { type: 'string' } })
    }
  )
  finds(
    'a status less, and a header more',
    ['there only status 200 header etag', 'here only status 409'],
    (_, { [PRIMARY]: { post } }) => {
      delete post.responses[409]
      post.responses[200].headers.ETag = { schema: { type: 'string' } }
    }
  )
  finds(
    'an object whose fields are left open',
    ['wider body.data[].subscriber fields'],
    ({ MessageResponseDto }) => (MessageResponseDto.properties.subscriber = { type: 'object' })
  )
  finds(
    'an envelope, which a row explains, with a change inside',
    ['here only body.slug', 'there only envelope'],
    ({ WorkflowStep }, { [STEP]: { get } }) => {
      const json = get.responses[200].content['application/json']
      json.schema = { type: 'object', properties: { data: json.schema }, required: ['data'] }
      delete WorkflowStep.properties.slug
    }
  )
  finds('names of parameters in paths: nothing', [], (_, paths) => {
    for (const parameter of paths[STEP].get.parameters)
      parameter.name = parameter.name.replace('stepId', 'id')
    paths['/v2/workflows/{workflowId}/steps/{id}'] = paths[STEP]
    delete paths[STEP]
  })
  finds('parts of allOf, with required beside them: nothing', [], (schemas) => {
    const { properties, ...rest } = schemas.SubscriberResponseDto
    const { email, ...others } = properties
    schemas.Base = { type: 'object', properties: { email } }
    schemas.SubscriberResponseDto = {
      ...rest,
      allOf: [{ $ref: '#/components/schemas/Base' }, { properties: others }]
    }
  })
  finds(
    'a circular reference: nothing',
    [],
    ({ UiSchemaProperty }) =>
      (UiSchemaProperty.properties.properties.additionalProperties = {
        allOf: [{ $ref: '#/components/schemas/UiSchemaProperty' }]
      })
  )

  test('an operation that is missing is said, and is no difference', () => {
    const document = copy()
    delete document.paths[STEP]
    expect(compareDocuments(document, ours)).toEqual({
      compared: 2,
      missing: [`GET ${STEP}`],
      differences: []
    })
  })

  test('each difference has its place in both, through references and a prefix of the server', () => {
    const document = copy()
    document.servers = [{ url: 'https://api.example.com/v1' }]
    document.paths = { '/messages': document.paths[MESSAGES] }
    delete document.components.schemas.MessageResponseDto.properties.subject
    expect(compareDocuments(document, ours).differences).toEqual([
      {
        kind: 'here only',
        operation: 'GET /v1/messages',
        what: 'body.data[].subject',
        thereAt: '#/components/schemas/MessageResponseDto',
        hereAt: '#/components/schemas/MessageResponseDto/properties/subject'
      }
    ])
  })
})

test('what is no document, or is nested too deep, is refused in words, and a circle of references ends', () => {
  expect(() => compareDocuments('<html>', ours)).toThrow(
    'it is no OpenAPI document of version 3.0 or 3.1'
  )
  expect(() => compareDocuments({ swagger: '2.0', paths: {} }, ours)).toThrow(
    'it is no OpenAPI document'
  )
  const deep = JSON.parse(`${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`)
  expect(() => compareDocuments({ openapi: '3.1.0', paths: {}, deep }, ours)).toThrow(
    'it is nested more than 300 deep'
  )
  const levels = Array.from({ length: 20 }, (_, at) => {
    const $ref = `#/components/schemas/Level${at + 1}`
    return [`Level${at}`, { type: 'object', properties: { a: { $ref }, b: { $ref }, c: { $ref } } }]
  })
  // A document of some lines can stand for millions of schemas.
  const large = copy()
  Object.assign(large.components.schemas, Object.fromEntries(levels))
  large.components.schemas.MessageResponseDto.properties.more = {
    $ref: '#/components/schemas/Level0'
  }
  expect(compareDocuments(large, structuredClone(large)).differences).toEqual([])
  const circle = found((schemas) => {
    schemas.Channel = { $ref: '#/components/schemas/Other' }
    schemas.Other = { $ref: '#/components/schemas/Channel' }
  })
  expect(circle).toContain(
    'wider body.channel words: [] there, ["in_app","email","sms","chat","push"] here'
  )
})
