import { describe, expect, test } from 'vitest'
import { ASSUMPTION_IDS, assume, PROFILES, positionsOf } from '../../src/core/assumptions.js'
import { MessageQuery } from '../../src/messages/filters.js'
import { controlDocument, openApiDocument } from '../../src/openapi/documents.js'
import { OPERATIONS } from '../../src/openapi/operations.js'
import { wireSchemas } from '../support/wire-schemas.js'
import { danglingReferences, judgeExamples, redoclyComplaints, unusedSchemas, validatorComplaints } from './judges.js'

// biome-ignore lint/suspicious/noExplicitAny: tests read into the document, and spoil it
type Document = any

const SET_PRIMARY = '/v1/integrations/{integrationId}/set-primary'
const MESSAGES = '/v1/messages'
const STEP = '/v2/workflows/{workflowId}/steps/{stepId}'

describe('validators of the document', () => {
  test('redocly has neither an error nor a warning for the document of either profile, and finds what is wrong with one', async () => {
    const documents = await Promise.all(PROFILES.map((profile) => documentOf(profile)))
    const spoilt = changed(documents[0], (d) => delete d.paths[MESSAGES].get.operationId)
    const found = [expect.stringContaining('operation-operationId')]
    expect(await redoclyComplaints([...documents, spoilt])).toEqual([[], [], found])
  })

  test.each(PROFILES)(
    'the document of the profile %s is valid, and all that it refers to and shows',
    async (profile) => {
      const document = await documentOf(profile)
      expect(await validatorComplaints(document)).toEqual([])
      expect(danglingReferences(document)).toEqual([])
      expect(unusedSchemas(document)).toEqual([])
      const { count, refused } = judgeExamples(document)
      expect(refused).toEqual([])
      // All responses and parameters have one.
      const needed = operationsOf(document).flatMap(({ parameters, responses }) => [
        ...parameters,
        ...Object.values(responses)
      ])
      expect(count).toBe(needed.length)
    }
  )

  test('what is against OpenAPI, a reference to nowhere, an unused schema and a wrong example are found', async () => {
    const sound = await documentOf('document')
    const renamed = changed(sound, (d) => {
      d.components.schemas.Renamed = d.components.schemas.StepIssuesDto
      delete d.components.schemas.StepIssuesDto
    })
    expect(danglingReferences(renamed)).toEqual(['#/components/schemas/StepIssuesDto'])
    expect(unusedSchemas(renamed)).toContain('Renamed')
    const lying = changed(sound, (d) => {
      const step = d.paths[STEP].get
      step.responses[404].content['application/json'].example.statusCode = 'four'
      step.parameters[0].in = 'body'
    })
    expect(judgeExamples(lying).refused).toContainEqual(expect.stringContaining('/statusCode must be integer'))
    expect(await validatorComplaints(lying)).not.toEqual([])
  })
})

describe.each([
  ['the document of the profile document', () => documentOf('document')],
  ['the document of the profile live', () => documentOf('live')],
  ['the document of the control routes', async () => JSON.parse(JSON.stringify(await controlDocument()))]
])('%s', (_, create) => {
  test('describes every field and every parameter, by words of its own or those of what it refers to', async () => {
    const document = await create()
    const described = ({ description, $ref }: Document) => description ?? partOf(document, $ref)?.description
    const silent = [...nodesOf(document)].flatMap(([at, node]) => [
      ...Object.entries(node.type === 'object' ? (node.properties ?? {}) : {})
        .filter(([, property]) => !described(property))
        .map(([name]) => `${at} ${name}`),
      ...(node.in && !node.description ? [`${at} ${node.name}`] : [])
    ])
    expect(silent).toEqual([])
  })

  test('names whom to ask, and a server', async () => {
    const { info, servers } = await create()
    expect(info.contact.name).toMatch(/notification-mock/)
    expect(servers).toHaveLength(1)
  })
})

test('the document of the control routes gives an integer that may need more than 32 bits the format int64', async () => {
  const document = JSON.parse(JSON.stringify(await controlDocument()))
  const large = [...nodesOf(document)].filter(([, { type, minimum = 0, maximum = 0 }]) => {
    return [type].flat().includes('integer') && (maximum >= 2 ** 31 || minimum < -(2 ** 31))
  })
  expect(large.length).toBeGreaterThan(0)
  expect(large.filter(([, { format }]) => format !== 'int64').map(([at]) => at)).toEqual([])
})

describe('the document', () => {
  test('has the three operations of the contract and no other, with a key for each and a body for none', async () => {
    const document = await documentOf('document')
    expect(
      Object.entries(document.paths).flatMap(([path, methods]) =>
        Object.keys(methods as object).map((method) => `${method} ${path}`)
      )
    ).toEqual([`post ${SET_PRIMARY}`, `get ${MESSAGES}`, `get ${STEP}`])
    for (const operation of operationsOf(document)) {
      expect(operation.security).toEqual([{ ApiKey: [] }])
      expect(operation).not.toHaveProperty('requestBody')
    }
    expect(document.components.securitySchemes.ApiKey).toMatchObject({ in: 'header', name: 'Authorization' })
  })

  test('puts each operation under one tag, and describes each tag', async () => {
    const document = await documentOf('document')
    const tags = operationsOf(document).map((operation) => operation.tags)
    expect(tags.filter(({ length }) => length !== 1)).toEqual([])
    expect(new Set(document.tags.map(({ name }: { name: string }) => name))).toEqual(new Set(tags.flat()))
    for (const { description } of document.tags) expect(description).toBeTruthy()
  })

  test("has exactly the contract's parameters", async () => {
    const { paths } = await documentOf('document')
    const key = { in: 'header', name: 'idempotency-key', required: false, schema: { type: 'string' } }
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
    const lists = paths[MESSAGES].get.parameters.filter(({ schema }: Document) => schema.type === 'array')
    for (const each of lists) expect(each).toMatchObject({ style: 'form', explode: true })
    for (const { description, schema } of paths[MESSAGES].get.parameters) {
      if (schema.type === 'number') expect(description).toMatch(/fractions are refused/)
    }
  })

  test('publishes every schema under its own name, and no other schema', async () => {
    const document = await documentOf('document')
    const { ErrorBody: errorBody, ...schemas } = document.components.schemas
    expect(schemas).toEqual(Object.fromEntries(wireSchemas.map(({ $id = '', ...schema }) => [$id, published(schema)])))
    expect(errorBody.required).toEqual(['statusCode', 'timestamp', 'path', 'message', 'error', 'ctx'])
    expect(JSON.stringify(document)).not.toMatch(/"\$id"|def-\d/)
  })

  test('has an idempotency key of its own for each operation', async () => {
    const keys = operationsOf(await documentOf('document')).map(
      ({ parameters }) => parameters.find(({ in: place }: Document) => place === 'header').schema.examples
    )
    expect(new Set(keys.flat()).size).toBe(OPERATIONS.length)
  })

  test('has an error body for every error status, and 401 and 500 for every operation', async () => {
    for (const operation of operationsOf(await documentOf('live'))) {
      const refusals = Object.entries<Document>(operation.responses).filter(([status]) => status !== '200')
      expect(refusals.map(([status]) => status)).toEqual(expect.arrayContaining(['400', '401', '500']))
      for (const [status, { headers, content }] of refusals) {
        const { schema, example } = content['application/json']
        expect(schema).toEqual({ $ref: '#/components/schemas/ErrorBody' })
        expect(example.statusCode).toBe(Number(status))
        expect(Object.keys(headers)).toEqual(expect.arrayContaining(['x-request-id', 'x-mock-reason']))
      }
    }
  })
})

describe('an assumption changes in the document what it changes in requests and responses, and nothing else', () => {
  const at = (path: string, method: string, rest: string) => `/paths/${path.replaceAll('/', '~1')}/${method}/${rest}`
  const json = 'content/application~1json'
  const parameters = Object.keys(MessageQuery.properties)
  const filter = (name: string, rest: string) => at(MESSAGES, 'get', `parameters/${parameters.indexOf(name)}/${rest}`)

  const CHANGES: Record<string, string[]> = {
    envelope: OPERATIONS.filter(({ enveloped }) => enveloped).flatMap(({ url, method }) => {
      const answer = at(url.replace(/:(\w+)/g, '{$1}'), method.toLowerCase(), `responses/200/${json}`)
      return [`${answer}/schema`, `${answer}/example`]
    }),
    'vendor-names': ['/components/schemas/ChatPushProvider/enum', '/components/schemas/Origin/enum'],
    'integration-lookup': [
      at(SET_PRIMARY, 'post', 'parameters/0/description'),
      at(SET_PRIMARY, 'post', 'parameters/0/schema/pattern')
    ],
    'foreign-integration': [at(SET_PRIMARY, 'post', 'responses/403')],
    credentials: [
      at(SET_PRIMARY, 'post', `responses/200/${json}/example/credentials`),
      '/components/schemas/ConfigurationsDto/properties/inboundWebhookSigningKey',
      '/components/schemas/CredentialsDto/description',
      '/components/schemas/CredentialsDto/properties'
    ],
    'unknown-channel-filter': [filter('channel', 'schema/enum')],
    'unknown-subscriber-filter': [at(MESSAGES, 'get', 'responses/404')],
    'malformed-context-key': [filter('contextKeys', 'schema/items/pattern')],
    'paging-bounds': [filter('limit', 'schema/minimum'), filter('limit', 'allowEmptyValue')],
    'total-count': [
      at(MESSAGES, 'get', `responses/200/${json}/example/totalCount`),
      '/components/schemas/MessagesPage/properties/totalCount'
    ],
    'embedded-subscriber': [
      at(MESSAGES, 'get', `responses/200/${json}/example/data/0/subscriber`),
      '/components/schemas/SubscriberResponseDto/properties',
      ...['ChannelSettingsDto', 'ChannelCredentials', 'ChatPushProvider'].map((name) => `/components/schemas/${name}`)
    ],
    'idempotency-refusals': [
      at(SET_PRIMARY, 'post', 'responses/409/headers/link'),
      at(SET_PRIMARY, 'post', 'responses/422/headers/link'),
      at(SET_PRIMARY, 'post', `responses/422/${json}/example/errors`)
    ],
    'error-context': OPERATIONS.flatMap((operation) => {
      const { url, method, errors } = operation
      const path = url.replace(/:(\w+)/g, '{$1}')
      const statuses = errors.filter(({ under, code, status }) => !under && (status !== 422 || code))
      return statuses.map(({ status }) => at(path, method.toLowerCase(), `responses/${status}/${json}/example/ctx`))
    }),
    'unknown-step': [at(STEP, 'get', `responses/400/${json}/example`)],
    'unknown-workflow': [at(STEP, 'get', `responses/404/${json}/example`)],
    'control-values': [
      at(STEP, 'get', `responses/200/${json}/example/controls/values`),
      '/components/schemas/ControlsMetadataDto/properties/values'
    ]
  }

  test.each(ASSUMPTION_IDS)('%s', async (id) => {
    const [first, other = ''] = positionsOf(id)
    const differences = differencesOf(
      await documentOf('document', { [id]: first }),
      await documentOf('document', { [id]: other })
    )
    const expected = [`/x-assumptions/${id}`, ...(CHANGES[id] ?? [])]
    // A difference may be told at the place or anywhere inside it.
    expect(expected.filter((place) => !differences.some((each) => isInside(each, place)))).toEqual([])
    expect(differences.filter((each) => !expected.some((place) => isInside(each, place)))).toEqual([])
  })

  function isInside(pointer: string, place: string): boolean {
    return pointer === place || pointer.startsWith(`${place}/`)
  }
})

async function documentOf(profile: (typeof PROFILES)[number], overrides = {}): Promise<Document> {
  const assumptions = assume(profile, overrides)
  const key = JSON.stringify(assumptions)
  const text = texts.get(key) ?? openApiDocument(assumptions).then((document) => JSON.stringify(document))
  texts.set(key, text)
  return JSON.parse(await text)
}

/** Documents that have been made, by their assumptions. */
const texts = new Map<string, Promise<string>>()

function operationsOf(document: Document): Document[] {
  return Object.values(document.paths).flatMap((methods) => Object.values(methods as object))
}

/** Every object in a document, examples apart, with its place. */
function* nodesOf(node: Document, at = ''): Generator<[at: string, node: Document]> {
  if (typeof node !== 'object' || node === null) return
  if (!Array.isArray(node)) yield [at, node]
  for (const [name, inner] of Object.entries(node)) {
    if (name !== 'example' && name !== 'examples') yield* nodesOf(inner, `${at}/${name}`)
  }
}

/** What a reference leads to. */
function partOf(document: Document, reference = ''): Document {
  return document.components.schemas[reference.replace('#/components/schemas/', '')]
}

function changed(document: Document, change: (document: Document) => void): Document {
  const copy = structuredClone(document)
  change(copy)
  return copy
}

/** A TypeBox schema as it should be published. */
function published(schema: object): object {
  return JSON.parse(JSON.stringify(schema).replace(/"\$ref":"(\w+)#"/g, '"$ref":"#/components/schemas/$1"'))
}

/** Where two documents differ, as JSON pointers. */
function differencesOf(one: unknown, other: unknown, at = ''): string[] {
  if (Object.is(one, other)) return []
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return [at]
  const names = new Set([...Object.keys(one), ...Object.keys(other)])
  return [...names].flatMap((name) => {
    const place = `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
    return differencesOf((one as Document)[name], (other as Document)[name], place)
  })
}
