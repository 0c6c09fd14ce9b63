import { describe, expect, test } from 'vitest'
import { assume, PROFILES } from '../../src/core/assumptions.js'
import { openApiDocument } from '../../src/openapi/documents.js'
import { compareDocuments } from '../../src/targets/recording/document.js'

const ours = await openApiDocument(assume('document'))
// biome-ignore lint/suspicious/noExplicitAny: each test changes another part of the document
const copy = (): any => structuredClone(JSON.parse(JSON.stringify(ours)))

/** What is found in a copy of our document with a change: `[kind, what, there, here]`. */
// biome-ignore lint/suspicious/noExplicitAny: as above
function found(change: (document: any, schemas: any) => void) {
  const document = copy()
  change(document, document.components.schemas)
  return compareDocuments(document, ours).differences.map(({ kind, what, there, here }) => [kind, what, there, here])
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
      'control-values',
      'credentials',
      'embedded-subscriber',
      'envelope',
      'foreign-integration',
      'idempotency-refusals',
      'total-count',
      'unknown-channel-filter',
      'unknown-subscriber-filter',
      'vendor-names'
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
  test.each<[string, unknown[][], Parameters<typeof found>[0]]>([
    [
      'a field that is gone',
      [['here only', 'body.data[].subject', undefined, undefined]],
      (_, schemas) => delete schemas.MessageResponseDto.properties.subject
    ],
    [
      'a field more',
      [['there only', 'body.data[].tags', undefined, undefined]],
      (_, schemas) => (schemas.MessageResponseDto.properties.tags = { type: 'array', items: { type: 'string' } })
    ],
    [
      'a field that is required there',
      [['narrower', 'body.data[].subject required', [], ['absent']]],
      (_, schemas) => schemas.MessageResponseDto.required.push('subject')
    ],
    [
      'a word more, of a parameter too',
      [
        ['wider', 'body.data[].status words', ['read'], []],
        ['wider', 'parameter query channel words', ['fax'], []]
      ],
      (document, schemas) => {
        schemas.MessageStatus.enum.push('read')
        document.paths[MESSAGES].get.parameters[0].schema.enum.push('fax')
      }
    ],
    [
      'a word less',
      [['narrower', 'body.data[].status words', [], ['warning']]],
      (_, schemas) => schemas.MessageStatus.enum.pop()
    ],
    [
      'another type',
      [['there only', 'body.data[].read type', ['string'], ['boolean']]],
      (_, schemas) => (schemas.MessageResponseDto.properties.read.type = 'string')
    ],
    [
      'null as well',
      [['wider', 'body.data[].subject type', ['null'], []]],
      (_, schemas) =>
        (schemas.MessageResponseDto.properties.subject = { oneOf: [{ type: 'string' }, { type: 'null' }] })
    ],
    [
      'a parameter that is required, another default, and one more',
      [
        ['there only', 'parameter query after', undefined, undefined],
        ['there only', 'parameter query limit default', ['20'], ['10']],
        ['narrower', 'parameter query subscriberId required', [], ['absent']]
      ],
      ({ paths }) => {
        const { parameters } = paths[MESSAGES].get
        parameters[1].required = true
        parameters.find(({ name }: { name: string }) => name === 'limit').schema.default = 20
        parameters.push({ in: 'query', name: 'after', schema: { type: 'string' } })
      }
    ],
    [
      'a status less, and a header more',
      [
        ['there only', 'status 200 header etag', undefined, undefined],
        ['here only', 'status 409', undefined, undefined]
      ],
      ({ paths }) => {
        const { responses } = paths[PRIMARY].post
        delete responses[409]
        responses[200].headers.ETag = { schema: { type: 'string' } }
      }
    ],
    [
      'an object whose fields are left open',
      [['wider', 'body.data[].subscriber fields', undefined, undefined]],
      (_, schemas) => (schemas.MessageResponseDto.properties.subscriber = { type: 'object' })
    ],
    [
      'an envelope, which a row explains, with a change inside',
      [
        ['here only', 'body.slug', undefined, undefined],
        ['there only', 'envelope', undefined, undefined]
      ],
      ({ paths }, schemas) => {
        const json = paths[STEP].get.responses[200].content['application/json']
        json.schema = { type: 'object', properties: { data: json.schema }, required: ['data'] }
        delete schemas.WorkflowStep.properties.slug
      }
    ],
    [
      'names of parameters in paths: nothing',
      [],
      (document) => {
        const { [STEP]: step, ...paths } = document.paths
        for (const parameter of step.get.parameters) parameter.name = parameter.name.replace('stepId', 'id')
        document.paths = { ...paths, '/v2/workflows/{workflowId}/steps/{id}': step }
      }
    ],
    [
      'parts of allOf, with required beside them: nothing',
      [],
      (_, schemas) => {
        const { properties, required, ...rest } = schemas.SubscriberResponseDto
        const { email, ...others } = properties
        schemas.Base = { type: 'object', properties: { email } }
        schemas.SubscriberResponseDto = {
          ...rest,
          required,
          allOf: [{ $ref: '#/components/schemas/Base' }, { properties: others }]
        }
      }
    ],
    [
      'a circular reference: nothing',
      [],
      (_, schemas) => {
        schemas.UiSchemaProperty.properties.properties.additionalProperties = {
          allOf: [{ $ref: '#/components/schemas/UiSchemaProperty' }]
        }
      }
    ]
  ])('%s', (_, expected, change) => {
    expect(found(change)).toEqual(expected)
  })

  test('an operation that is missing is said, and is no difference', () => {
    const document = copy()
    delete document.paths[STEP]
    expect(compareDocuments(document, ours)).toEqual({ compared: 2, missing: [`GET ${STEP}`], differences: [] })
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
  expect(() => compareDocuments('<html>', ours)).toThrow('it is no OpenAPI document of version 3.0 or 3.1')
  expect(() => compareDocuments({ swagger: '2.0', paths: {} }, ours)).toThrow('it is no OpenAPI document')
  const deep = JSON.parse(`${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`)
  expect(() => compareDocuments({ openapi: '3.1.0', paths: {}, deep }, ours)).toThrow('it is nested more than 300 deep')
  const levels = Array.from({ length: 20 }, (_, at) => {
    const $ref = `#/components/schemas/Level${at + 1}`
    return [`Level${at}`, { type: 'object', properties: { a: { $ref }, b: { $ref }, c: { $ref } } }]
  })
  // A document of some lines can stand for millions of schemas.
  const large = copy()
  Object.assign(large.components.schemas, Object.fromEntries(levels))
  large.components.schemas.MessageResponseDto.properties.more = { $ref: '#/components/schemas/Level0' }
  expect(compareDocuments(large, structuredClone(large)).differences).toEqual([])
  expect(
    found((_, schemas) => {
      schemas.Channel = { $ref: '#/components/schemas/Other' }
      schemas.Other = { $ref: '#/components/schemas/Channel' }
    })
  ).toContainEqual(['wider', 'body.channel words', [], ['in_app', 'email', 'sms', 'chat', 'push']])
})
