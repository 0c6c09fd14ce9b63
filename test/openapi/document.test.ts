import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, test } from 'vitest'
import { type ASSUMPTION_IDS, assume, PROFILES, valuesOf } from '../../src/domain/assumptions.js'
import { OPERATION_IDS } from '../../src/domain/enums.js'
import { controlDocument, openApiDocument } from '../../src/openapi/documents.js'
import { wireSchemas } from '../support/wire-schemas.js'

// biome-ignore lint/suspicious/noExplicitAny: tests read and change the document without types
type Document = any

const SET_PRIMARY = '/v1/integrations/{integrationId}/set-primary'
const MESSAGES = '/v1/messages'
const STEP = '/v2/workflows/{workflowId}/steps/{stepId}'

describe('the OpenAPI documents are valid', () => {
  test.each(PROFILES)(
    'the document of the profile %s is valid, with examples for all parameters and responses',
    async (profile) => {
      const document = await documentOf(profile)
      expect(await new Validator().validate(structuredClone(document))).toMatchObject({
        valid: true
      })
      for (const { parameters, responses } of operationsOf(document)) {
        for (const { content } of Object.values<Document>(responses))
          expect(content['application/json'].example).toBeDefined()
        for (const { example, schema } of parameters)
          expect(example ?? schema.examples).toBeDefined()
      }
    }
  )
})

describe.each([
  ['the OpenAPI document of the profile `document`', () => documentOf('document')],
  ['the OpenAPI document of the profile `live`', () => documentOf('live')],
  [
    'the OpenAPI document of the control routes',
    async () => JSON.parse(JSON.stringify(await controlDocument()))
  ]
])('%s', (_, create) => {
  test('has a description for every parameter, and for every field or its type', async () => {
    const document = await create()
    const descriptionOf = ({ description, $ref = '' }: Document) =>
      description ??
      document.components.schemas[$ref.replace('#/components/schemas/', '')]?.description
    const undescribed = [...nodesOf(document)].flatMap(([at, node]) => [
      ...Object.entries(node.type === 'object' ? (node.properties ?? {}) : {})
        .filter(([, property]) => !descriptionOf(property))
        .map(([name]) => `${at} ${name}`),
      ...(node.in && !node.description ? [`${at} ${node.name}`] : [])
    ])
    expect(undescribed).toEqual([])
  })
})

describe('the document', () => {
  test('has exactly three operations, which need an API key and no body', async () => {
    const document = await documentOf('document')
    expect(
      Object.entries(document.paths).flatMap(([path, methods]) =>
        Object.keys(methods as object).map((method) => `${method} ${path}`)
      )
    ).toEqual([`post ${SET_PRIMARY}`, `get ${MESSAGES}`, `get ${STEP}`])
    expect(operationsOf(document).map(({ operationId }) => operationId)).toEqual(OPERATION_IDS)
    for (const operation of operationsOf(document)) {
      expect(operation.security).toEqual([{ ApiKey: [] }])
      expect(operation).not.toHaveProperty('requestBody')
    }
    expect(document.components.securitySchemes.ApiKey).toMatchObject({
      in: 'header',
      name: 'Authorization'
    })
  })

  test('lists exactly the parameters in the API reference', async () => {
    const { paths } = await documentOf('document')
    const key = {
      in: 'header',
      name: 'idempotency-key',
      required: false,
      schema: { type: 'string' }
    }
    const text = { type: 'string' }
    const list = { type: 'array', items: text }
    const query = (name: string, schema: object) => ({ in: 'query', name, required: false, schema })
    const path = (name: string) => ({ in: 'path', name, required: true, schema: text })

    expect(paths[SET_PRIMARY].post.parameters).toMatchObject([path('integrationId'), key])
    expect(paths[STEP].get.parameters).toMatchObject([path('workflowId'), path('stepId'), key])
    expect(paths[MESSAGES].get.parameters).toMatchObject([
      query('channel', { type: 'string', enum: ['in_app', 'email', 'sms', 'chat', 'push'] }),
      query('subscriberId', text),
      query('transactionId', list),
      query('contextKeys', list),
      query('page', { type: 'number', default: 0, minimum: 0 }),
      query('limit', { type: 'number', default: 10, minimum: 1, maximum: 1000 }),
      key
    ])
    const lists = paths[MESSAGES].get.parameters.filter(
      ({ schema }: Document) => schema.type === 'array'
    )
    for (const parameter of lists) expect(parameter).toMatchObject({ style: 'form', explode: true })
    for (const { description, schema } of paths[MESSAGES].get.parameters) {
      if (schema.type === 'number') expect(description).toMatch(/fractions are rejected/)
    }
  })

  test('contains exactly the named API schemas and the two error schemas', async () => {
    const document = await documentOf('document')
    const {
      ErrorBody: errorBody,
      ValidationErrorBody: validationErrorBody,
      ...schemas
    } = document.components.schemas
    expect(schemas).toEqual(
      Object.fromEntries(
        wireSchemas.map(({ $id = '', ...schema }) => [$id, documentSchema(schema)])
      )
    )
    expect(validationErrorBody.required).toEqual(errorBody.required)
    expect(errorBody.required).toEqual([
      'statusCode',
      'timestamp',
      'path',
      'message',
      'error',
      'ctx'
    ])
    expect(JSON.stringify(document)).not.toMatch(/"\$id"|def-\d/)
  })
})

test.each([
  ['unknown-channel-filter', MESSAGES, 'channel', '"enum":'],
  ['malformed-context-key', MESSAGES, 'contextKeys', '"pattern":'],
  ['paging-bounds', MESSAGES, 'limit', '"minimum":1'],
  ['integration-lookup', SET_PRIMARY, 'integrationId', '"pattern":']
])(
  'the assumption %s decides whether the document restricts values (path %s, parameter %s)',
  async (id, path, name, bound) => {
    const bounds = valuesOf(id as (typeof ASSUMPTION_IDS)[number]).map(async (value) => {
      const { get, post } = (await documentOf('document', { [id]: value })).paths[path]
      const { schema } = (get ?? post).parameters.find(
        (parameter: Document) => parameter.name === name
      )
      return JSON.stringify(schema).includes(bound)
    })
    expect((await Promise.all(bounds)).sort()).toEqual([false, true])
  }
)

async function documentOf(profile: (typeof PROFILES)[number], overrides = {}): Promise<Document> {
  return JSON.parse(JSON.stringify(await openApiDocument(assume(profile, overrides))))
}

function operationsOf(document: Document): Document[] {
  return Object.values(document.paths).flatMap((methods) => Object.values(methods as object))
}

/** Yields every object in a document with its path. Skips examples. */
function* nodesOf(node: Document, at = ''): Generator<[at: string, node: Document]> {
  if (typeof node !== 'object' || node === null) return
  if (!Array.isArray(node)) yield [at, node]
  for (const [name, inner] of Object.entries(node)) {
    if (name !== 'example' && name !== 'examples') yield* nodesOf(inner, `${at}/${name}`)
  }
}

/** Returns a TypeBox schema as it should appear in the document. */
function documentSchema(schema: object): object {
  return JSON.parse(
    JSON.stringify(schema).replace(/"\$ref":"(\w+)#"/g, '"$ref":"#/components/schemas/$1"')
  )
}

test('marks credentials as write-only in requests that add or change integrations', async () => {
  const { components } = JSON.parse(JSON.stringify(await controlDocument()))
  for (const name of ['NewIntegration', 'IntegrationPatch']) {
    expect(components.schemas[name].properties.credentials).toMatchObject({ writeOnly: true })
  }
})
