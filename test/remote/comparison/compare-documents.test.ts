import { describe, expect, test } from 'vitest'
import { assume, PROFILES } from '../../../src/domain/assumptions.js'
import { alternativeDocuments, openApiDocument } from '../../../src/openapi/documents.js'
import {
  compareDocuments,
  readAssumptionFacts
} from '../../../src/remote/comparison/compare-documents.js'

// biome-ignore lint/suspicious/noExplicitAny: each test changes a different part of the document
type Json = any

const ours = await openApiDocument(assume('document'))
const facts = readAssumptionFacts(ours, await alternativeDocuments(assume('document')))
const copy = (): Json => structuredClone(JSON.parse(JSON.stringify(ours)))

type Change = (schemas: Json, paths: Json, document: Json) => unknown

/** Changes a copy of our document and compares it with the original. */
function compareAfter(change: Change) {
  const document = copy()
  change(document.components.schemas, document.paths, document)
  return compareDocuments(document, ours, facts).differences
}

/** Changes a copy of our document, and returns one line for each difference from the original. */
const differencesAfter = (change: Change) =>
  compareAfter(change).map(({ kind, parts, published, ours: own }) => {
    const values = [
      ...(published.length > 0 ? [`published ${published.join(', ')}`] : []),
      ...(own.length > 0 ? [`ours ${own.join(', ')}`] : [])
    ]
    const suffix = values.length > 0 ? ` (${values.join('; ')})` : ''
    return `${kind} ${parts.join(', ')}${suffix}`
  })

const MESSAGES = '/v1/messages'
const PRIMARY = '/v1/integrations/{integrationId}/set-primary'
const STEP = '/v2/workflows/{workflowId}/steps/{stepId}'

describe('a published document', () => {
  test.each(PROFILES)('has no differences if it equals ours (profile %s)', async (profile) => {
    const document = await openApiDocument(assume(profile))
    expect(compareDocuments(JSON.parse(JSON.stringify(document)), document)).toEqual({
      compared: 3,
      missing: [],
      differences: []
    })
  })

  test('has only differences that assumptions explain if it is for the other profile', async () => {
    const { differences } = compareDocuments(await openApiDocument(assume('live')), ours, facts)
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
      'unknown-step',
      'unknown-subscriber-filter',
      'unknown-workflow',
      'vendor-names'
    ])
  })

  test('has no differences if it uses `nullable` from OpenAPI 3.0 instead of the type null', () => {
    const text = JSON.stringify({ ...copy(), openapi: '3.0.3' })
      .replaceAll('"type":["string","null"]', '"type":"string","nullable":true')
      .replaceAll('"type":["boolean","null"]', '"allOf":[{"type":"boolean"}],"nullable":true')
      .replaceAll('"type":["object","null"]', '"type":"object","nullable":true')
    expect(compareDocuments(JSON.parse(text), ours).differences).toEqual([])
  })
})

describe('reports', () => {
  const reports = (
    title: string,
    expected: string[],
    change: Parameters<typeof differencesAfter>[0]
  ) => test(title, () => expect(differencesAfter(change)).toEqual(expected))

  reports(
    'a missing field',
    ['ours only body.data[].subject (ours string)'],
    ({ MessageResponseDto }) => delete MessageResponseDto.properties.subject
  )
  reports(
    'an additional field',
    ['published only body.data[].tags (published array)'],
    ({ MessageResponseDto }) =>
      (MessageResponseDto.properties.tags = { type: 'array', items: { type: 'string' } })
  )
  reports(
    'a field that is now required',
    ['narrower body.data[].subject required (ours absent)'],
    ({ MessageResponseDto }) => MessageResponseDto.required.push('subject')
  )
  reports(
    'an additional enum value of a field and of a parameter',
    [
      'wider body.data[].status values (published read)',
      'wider parameter query channel values (published fax)'
    ],
    ({ MessageStatus }, { [MESSAGES]: { get } }) => {
      MessageStatus.enum.push('read')
      get.parameters[0].schema.enum.push('fax')
    }
  )
  reports(
    'a missing enum value',
    ['narrower body.data[].status values (ours warning)'],
    ({ MessageStatus }) => MessageStatus.enum.pop()
  )
  reports(
    'a different type',
    ['different body.data[].read type (published string; ours boolean)'],
    ({ MessageResponseDto }) => (MessageResponseDto.properties.read.type = 'string')
  )
  reports(
    'a field that can also be null',
    ['wider body.data[].subject type (published null)'],
    ({ MessageResponseDto: { properties } }) =>
      (properties.subject = { oneOf: [{ type: 'string' }, { type: 'null' }] })
  )
  reports(
    'a required parameter, a different default, and an additional parameter',
    [
      'published only parameter query after (published string)',
      'different parameter query limit default (published 20; ours 10)',
      'narrower parameter query subscriberId required (ours absent)'
    ],
    (_, { [MESSAGES]: { get } }) => {
      get.parameters[1].required = true
      get.parameters.find(({ name }: { name: string }) => name === 'limit').schema.default = 20
      get.parameters.push({ in: 'query', name: 'after', schema: { type: 'string' } })
    }
  )
  reports(
    'a missing status and an additional header',
    ['ours only status 409', 'published only header etag'],
    (_, { [PRIMARY]: { post } }) => {
      delete post.responses[409]
      post.responses[200].headers.ETag = { schema: { type: 'string' } }
    }
  )
  reports(
    'an object that allows any fields',
    ['wider body.data[].cta.data fields (published anything; ours .url)'],
    ({ MessageCTA }) => (MessageCTA.properties.data = { type: 'object' })
  )
  reports(
    'an envelope, and a missing field inside it',
    ['ours only body.slug (ours string)', 'published only envelope'],
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

  test('a missing operation in a separate list', () => {
    const document = copy()
    delete document.paths[STEP]
    expect(compareDocuments(document, ours)).toEqual({
      compared: 2,
      missing: [`GET ${STEP}`],
      differences: []
    })
  })

  test('where a difference is in each document', () => {
    const document = copy()
    document.servers = [{ url: 'https://api.example.com/v1' }]
    document.paths = { '/messages': document.paths[MESSAGES] }
    delete document.components.schemas.MessageResponseDto.properties.subject
    expect(compareDocuments(document, ours).differences).toEqual([
      {
        kind: 'ours only',
        parts: ['body.data[].subject'],
        published: [],
        ours: ['string'],
        places: [
          {
            operation: 'GET /v1/messages',
            publishedAt: '#/components/schemas/MessageResponseDto',
            oursAt: '#/components/schemas/MessageResponseDto/properties/subject'
          }
        ]
      }
    ])
  })
})

describe('compares', () => {
  test.each<[title: string, expected: string, change: Change]>([
    [
      'the authentication scheme',
      'different security (published http bearer; ours apiKey header Authorization)',
      (_, __, { components }) =>
        (components.securitySchemes.ApiKey = { type: 'http', scheme: 'bearer' })
    ],
    [
      'whether an operation is deprecated',
      'different deprecated (published true; ours false)',
      (_, { [STEP]: { get } }) => (get.deprecated = true)
    ],
    [
      'whether a field is deprecated',
      'different body.data[].subject deprecated (published true; ours false)',
      ({ MessageResponseDto }) => (MessageResponseDto.properties.subject.deprecated = true)
    ],
    [
      '`explode` of a query parameter',
      'different parameter query transactionId explode (published false; ours true)',
      (_, { [MESSAGES]: { get } }) => (parameterOf(get, 'transactionId').explode = false)
    ],
    [
      '`style` of a query parameter',
      'different parameter query transactionId style (published spaceDelimited; ours form)',
      (_, { [MESSAGES]: { get } }) =>
        Object.assign(parameterOf(get, 'transactionId'), { style: 'spaceDelimited', explode: true })
    ],
    [
      'media types',
      'wider body media types (published text/csv)',
      (_, { [MESSAGES]: { get } }) => (get.responses[200].content['text/csv'] = {})
    ],
    [
      'the number of `oneOf` variants',
      'different body.data[].subject variants (published 2; ours 1)',
      ({ MessageResponseDto: { properties } }) =>
        (properties.subject = { oneOf: [{ type: 'string' }, { type: 'string', maxLength: 9 }] })
    ],
    [
      'the minimum length of lists',
      'different body.data[].deliveredAt minimum items (published 1; ours 0)',
      ({ MessageResponseDto }) => (MessageResponseDto.properties.deliveredAt.minItems = 1)
    ]
  ])('%s', (_, expected, change) => {
    expect(differencesAfter(change)).toEqual([expected])
  })
})

const parameterOf = ({ parameters }: Json, name: string) =>
  parameters.find((parameter: Json) => parameter.name === name)

describe('an assumption does not explain', () => {
  test.each<[title: string, expected: string, change: Change]>([
    [
      'an additional channel',
      'wider parameter query channel values (published tool)',
      (_, { [MESSAGES]: { get } }) => parameterOf(get, 'channel').schema.enum.push('tool')
    ],
    [
      'an additional credential',
      'published only body.credentials.one (published string)',
      ({ CredentialsDto }) => (CredentialsDto.properties.one = { type: 'string' })
    ],
    [
      'a different parameter type',
      'different parameter query limit type (published string; ours number)',
      (_, { [MESSAGES]: { get } }) => (parameterOf(get, 'limit').schema.type = 'string')
    ],
    [
      'a subscriber that lacks only `email`',
      'ours only body.data[].subscriber.email (ours string or null)',
      ({ SubscriberResponseDto }) => delete SubscriberResponseDto.properties.email
    ]
  ])('%s', (_, expected, change) => {
    const differences = compareAfter(change)
    expect(differencesAfter(change)).toEqual([expected])
    expect(differences.map(({ explainedBy }) => explainedBy)).toEqual([undefined])
  })

  test('a new provider, even if the same enum spells another provider differently', () => {
    const differences = compareAfter(({ ChatPushProvider }) => {
      const values = ChatPushProvider.enum
      values[values.indexOf('service-slack')] = 'novu-slack'
      values.push('pigeon')
    })
    expect(differences.map(({ explainedBy, published }) => [explainedBy, published])).toEqual([
      ['vendor-names', ['novu-slack']],
      [undefined, ['pigeon']]
    ])
  })
})

test('shows the types in both documents, and reports an integer as narrower than a number', () => {
  const typed = (type: string) =>
    differencesAfter((_, { [MESSAGES]: { get } }) => {
      parameterOf(get, 'limit').schema.type = type
    })
  expect(typed('string')).toEqual([
    'different parameter query limit type (published string; ours number)'
  ])
  expect(typed('integer')).toEqual(['narrower parameter query limit type (ours number)'])
})

test('groups missing fields of an object into one difference if there are at least four', () => {
  const differences = compareAfter(({ CredentialsDto, MessageResponseDto }) => {
    for (const name of ['one', 'two', 'three', 'four'])
      CredentialsDto.properties[name] = { type: 'string' }
    for (const name of ['email', 'phone', 'title']) delete MessageResponseDto.properties[name]
  })
  expect(differences.map(({ object, parts }) => [object, parts.length])).toEqual([
    ['body.credentials', 4],
    [undefined, 1],
    [undefined, 1],
    [undefined, 1]
  ])
  const [{ places = [] } = {}] = differences
  expect(places.map(({ oursAt }) => oursAt)).toEqual(['#/components/schemas/CredentialsDto'])
})

test('lists differences in headers and error bodies last, grouped across all responses', () => {
  const differences = compareAfter(({ MessageResponseDto }, paths) => {
    delete MessageResponseDto.properties.subject
    for (const { responses } of [paths[MESSAGES].get, paths[STEP].get, paths[PRIMARY].post]) {
      for (const [status, response] of Object.entries<Json>(responses)) {
        response.headers = { ...response.headers, etag: {}, age: {} }
        if (status >= '400') delete response.content
      }
    }
  })
  const summary = differences.map(({ kind, parts, places }) => [kind, parts, places.length])
  expect(summary).toEqual([
    ['ours only', ['body.data[].subject'], 1],
    ['ours only', ['error body'], expect.any(Number)],
    ['published only', ['header age', 'header etag'], expect.any(Number)]
  ])
})

test('rejects anything other than an OpenAPI 3.0 or 3.1 document', () => {
  const message = 'not an OpenAPI 3.0 or 3.1 document'
  expect(() => compareDocuments('<html>', ours)).toThrow(message)
  expect(() => compareDocuments({ swagger: '2.0', paths: {} }, ours)).toThrow(message)
})

test('rejects a document that is nested too deeply', () => {
  const deep = JSON.parse(`${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`)
  expect(() => compareDocuments({ openapi: '3.1.0', paths: {}, deep }, ours)).toThrow(
    'the document is nested more than 300 levels deep'
  )
})

test('compares a document whose references expand to billions of schemas', () => {
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
    'wider body.channel values (published anything; ours in_app, email, sms, chat, push)'
  )
})
