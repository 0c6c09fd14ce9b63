import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { PROFILES, type Profile } from '../../src/domain/assumptions.js'
import { runConformance } from '../../src/remote/conformance/run.js'
import { startServer } from '../../src/server.js'
import { blocksOf } from '../docs/examples.js'
import { type ProxiedResponse, startProxy } from '../remote/conformance/proxy.js'
import { DEVELOPMENT, MAILGUN, SENDGRID, setPrimary } from '../support/control.js'
import { useMock, useNewMock } from '../support/mock.js'
import { createTempFolder, runCommand } from '../support/process.js'
import { callsOfNovuApi, callsOfNovuNode } from './earlier-clients.js'
import { buildClients, GENERATORS, NOWHERE, QUERY, useClient } from './generated-clients.js'
import { installTools } from './install.js'
import { loadClient, OWN_MANIFEST } from './official-client.js'
import { startPrism, startPrismMock, violationsIn } from './prism.js'

let toolsFolder = ''
beforeAll(async () => {
  toolsFolder = await installTools()
}, 300_000)

const STEP = '/v2/workflows/order-shipped/steps/email-step'

/** Kinds of responses that Prism must check in both profiles. */
const CHECKED = [
  ...[200, 401, 422].map((status) => `GET messages ${status}`),
  ...[200, 400, 401, 404, 422].map((status) => `POST integrations ${status}`),
  ...[200, 400, 401, 404].map((status) => `GET workflows ${status}`)
]
const CHECKED_IN_PROFILE = {
  document: [],
  live: ['GET messages 400', 'GET messages 404', 'POST integrations 403']
}

describe.each(PROFILES)(
  'Prism as a validating proxy with the document of the profile %s',
  (profile) => {
    const closing: (() => unknown)[] = []
    /** If set, changes the responses that Prism receives. */
    let changeResponse: ((response: ProxiedResponse) => void) | undefined
    let prism = ''
    beforeAll(async () => {
      const server = await startServer({ port: 0, logLevel: 'silent', profile })
      closing.push(() => server.app.close())
      const proxy = await startProxy(server.url, {
        response: ({ response }) => changeResponse?.(response)
      })
      closing.unshift(() => proxy[Symbol.asyncDispose]())
      const document = await (await fetch(`${server.url}/openapi.json`)).json()
      const prismServer = await startPrism(toolsFolder, document as object, proxy.url)
      closing.unshift(prismServer.stop)
      prism = prismServer.url
    })
    afterAll(async () => {
      for (const close of closing) await close()
    })

    test('finds no violation in the responses to the conformance suite', async () => {
      const violations: string[] = []
      const checked = new Set<string>()
      await using recorder = await startProxy(prism, {
        response({ request: { method, path }, response: { status, headers } }) {
          const responseViolations = violationsIn(headers)
          // Prism checks neither responses to requests that aren't in the document nor its own
          // error responses.
          if (
            responseViolations === 'not in the document' ||
            headers['content-type'] === 'application/problem+json'
          )
            return
          const kind = `${method} ${path.split(/[/?]/)[2]} ${status}`
          checked.add(kind)
          violations.push(...responseViolations.map((text) => `${kind} ${path}: ${text}`))
        }
      })
      const report = await runConformance({
        url: recorder.url,
        apiKey: DEVELOPMENT,
        allowChanges: true,
        integrations: [SENDGRID, MAILGUN],
        foreignIntegration: '6703aa1c5d2e8b0013b70001',
        workflows: ['order-shipped', 'sign-in-code']
      })
      expect(violations).toEqual([])
      // These cases fail because Prism responds to HEAD with 500 and repairs malformed URLs.
      const broken = report.cases
        .filter(({ outcome }) => outcome === 'failed' || outcome === 'noted')
        .map(({ id }) => id)
      expect(broken).toEqual(['wire.head', 'malformed.query'])
      expect([...checked]).toEqual(
        expect.arrayContaining([...CHECKED, ...CHECKED_IN_PROFILE[profile]])
      )
    })

    test.each([
      [
        'a field of the wrong type',
        '/v1/messages',
        /"read":(true|false)/,
        '"read":"no"',
        'data.0.read must be boolean'
      ],
      [
        'an unknown enum value',
        STEP,
        /"type":"email"/,
        '"type":"fax"',
        'one of the allowed values'
      ],
      [
        'an error without its status',
        '/v1/messages?page=-1',
        /"statusCode":422,/,
        '',
        "required property 'statusCode'"
      ],
      ['a page that is not an object', '/v1/messages', /^.*$/, '[]', 'Response body must be object']
    ])('finds %s', async (_, path, from, to, violation) => {
      changeResponse = (response) => {
        expect(response.text).toMatch(from)
        response.text = response.text.replace(from, to)
      }
      const authorization = `ApiKey ${DEVELOPMENT}`
      const { headers } = await fetch(`${prism}${path}`, { headers: { authorization } }).finally(
        () => {
          changeResponse = undefined
        }
      )
      expect(violationsIn(Object.fromEntries(headers))).toEqual([
        expect.stringContaining(violation)
      ])
    })
  }
)

test('Prism behind --fallback responds as docs/mock-the-rest-of-the-api.md shows', async () => {
  const blocks = blocksOf('docs/mock-the-rest-of-the-api.md')
  const document = blocks.find(({ file }) => file === 'topics.yaml')?.text ?? ''
  const prism = await startPrismMock(toolsFolder, document)
  onTestFinished(prism.stop)
  const mock = await useNewMock({ fallback: prism.url })
  const response = await mock.get('/v1/topics/news')
  expect(response).toMatchObject({ status: 200, json: { data: { key: 'news' } } })
  expect(response.headers.get('x-mock-fallback')).toBe(prism.url)
})

describe.each(Object.entries(GENERATORS))('a client generated by %s', (_, generator) => {
  test("compiles in strict mode, and returns the server's responses", async () => {
    const mocks = { document: await useMock(), live: await useMock({ profile: 'live' }) }
    const folder = createTempFolder()
    const documents = {
      document: (await mocks.document.get('/openapi.json')).json,
      live: (await mocks.live.get('/openapi.json')).json,
      control: (await mocks.document.get('/_mock/openapi.json')).json
    }
    expect(await buildClients(toolsFolder, folder, generator, documents)).toBe('')
    for (const profile of PROFILES) {
      const mock = mocks[profile]
      const received = await useClient(folder, profile, mock.url, DEVELOPMENT)
      const page = await mock.get(
        `/v1/messages?${new URLSearchParams(Object.entries(QUERY).flatMap(pairsOf))}`
      )
      const step = await mock.get(STEP)
      const replay = await mock.post(setPrimary(MAILGUN), {
        headers: { 'idempotency-key': 'once' }
      })
      expect(page.json.data.length).toBeGreaterThan(0)
      expect(replay.headers.get('idempotency-replay')).toBe('true')
      expect(received).toEqual({
        integration: recordIn(replay.json, profile),
        page: page.json,
        step: recordIn(step.json, profile),
        errors: CLIENT_ERRORS[profile]
      })
    }
  })
})

/**
 * For each failed request, the response's status, and the `statusCode` and `message` of the error
 * that a generated client returns.
 */
const CLIENT_ERRORS = {
  document: [
    [404, 404, `Integration with id ${NOWHERE} not found`],
    [422, 422, 'Validation Error'],
    [404, 404, 'Workflow with id none not found']
  ],
  live: [
    [404, 404, `Integration with id ${NOWHERE} not found`],
    [400, 400, 'Limit can not be larger then 1000'],
    [404, 404, 'Workflow cannot be found']
  ]
}

const pairsOf = ([name, value]: [string, unknown]) =>
  [value].flat().map((item): [string, string] => [name, String(item)])

/** Returns the record in a response. The profile `live` wraps the record in `data`. */
const recordIn = (json: { data?: object }, profile: Profile) =>
  profile === 'live' ? json.data : json

/** The oldest client version that can retrieve steps, and the newest version. */
const VERSIONS = ['1.7.1', '3.19.1'] as const
const NEWEST = VERSIONS[1]

const SUBJECTS = ['first', 'second', 'third', 'fourth', 'fifth']
const SHOP = {
  name: 'Shop',
  apiKeys: ['shop-key'],
  integrations: [{ _id: MAILGUN, identifier: 'mail', providerId: 'ses', channel: 'email' }],
  subscribers: [{ subscriberId: 'ada' }],
  workflows: [{ identifier: 'welcome', steps: [{ stepId: 'email-step', type: 'email' }] }],
  messages: SUBJECTS.map((subject) => ({
    channel: 'email',
    subscriberId: 'ada',
    transactionId: subject,
    subject,
    ...(subject === 'second' && { contextKeys: ['tenant:acme'] })
  }))
}

describe.each(VERSIONS.flatMap((version) => PROFILES.map((profile) => ({ version, profile }))))(
  'the official client $version in the profile $profile',
  ({ version, profile }) => {
    async function connectClient(shop: object = SHOP) {
      const mock = await useMock({ profile, seed: { environments: [shop] } })
      const { connect, errors, ...loaded } =
        version === NEWEST
          ? loadClient(OWN_MANIFEST, '@novu/api')
          : loadClient(join(toolsFolder, 'package.json'), `novu-api-${version}`)
      expect(loaded.version).toBe(version)
      return {
        errors,
        novu: connect(mock.url, 'shop-key'),
        unauthenticated: connect(mock.url, 'unknown-key')
      }
    }

    test('makes an integration primary', async () => {
      const { novu } = await connectClient()
      const { result } = await novu.integrations.setAsPrimary(MAILGUN)
      expect(result).toMatchObject({ id: MAILGUN, identifier: 'mail', primary: true })
    })

    test('throws an SDKError for an unknown integration', async () => {
      const { novu, errors } = await connectClient()
      const error = await thrownBy(novu.integrations.setAsPrimary(NOWHERE))
      expect(error).toBeInstanceOf(errors.SDKError)
      expect(error).toMatchObject({
        statusCode: 404,
        body: expect.stringContaining(`Integration with id ${NOWHERE}`)
      })
    })

    test('throws an ErrorDto for an unknown API key', async () => {
      const { unauthenticated, errors } = await connectClient()
      const rejected = await thrownBy(unauthenticated.messages.retrieve({}))
      expect(rejected).toBeInstanceOf(errors.ErrorDto)
      expect(rejected).toMatchObject({ statusCode: 401, message: 'API Key not found' })
    })

    test('reads all pages of messages', async () => {
      const { novu } = await connectClient()
      const seen: (string | undefined)[] = []
      let hasMore = true
      for (let page = 0; hasMore && page < 5; page++) {
        const { result } = await novu.messages.retrieve({ page, limit: 2 })
        expect(result).toMatchObject({ page, pageSize: 2 })
        seen.push(...result.data.map(({ subject }) => subject))
        hasMore = result.hasMore
      }
      expect(seen).toEqual(SUBJECTS)
    })

    test('filters messages', async () => {
      const { novu } = await connectClient()
      const { result } = await novu.messages.retrieve({
        subscriberId: 'ada',
        transactionId: ['third', 'fifth']
      })
      expect(result.data.map(({ subject }) => subject)).toEqual(['third', 'fifth'])
      // The oldest version doesn't send `contextKeys`, so its list isn't filtered.
      const { data } = (await novu.messages.retrieve({ contextKeys: ['tenant:acme'] })).result
      expect(data.map(({ subject }) => subject)).toEqual(version === NEWEST ? ['second'] : SUBJECTS)
    })

    test('throws a ValidationErrorDto for an invalid page', async () => {
      const { novu, errors } = await connectClient()
      const invalid = await thrownBy(novu.messages.retrieve({ page: 1.5 }))
      expect(invalid).toBeInstanceOf(errors.ValidationErrorDto)
      expect(invalid).toMatchObject({ statusCode: 422, errors: { page: { value: '1.5' } } })
    })

    test('reads a step', async () => {
      const { novu } = await connectClient()
      const { result } = await novu.workflows.steps.retrieve('welcome', 'email-step')
      expect(result).toMatchObject({ stepId: 'email-step', type: 'email', workflowId: 'welcome' })
    })

    test('throws an ErrorDto for a step in an unknown workflow', async () => {
      const { novu, errors } = await connectClient()
      const gone = await thrownBy(novu.workflows.steps.retrieve('gone', 'email-step'))
      expect(gone).toBeInstanceOf(errors.ErrorDto)
      const message = expect.stringMatching(/^Workflow (with id gone not|cannot be) found$/)
      expect(gone).toMatchObject({ statusCode: 404, message })
    })

    test('reads a message without the optional fields', async () => {
      const { novu } = await connectClient({
        ...SHOP,
        messages: [{ channel: 'sms', _templateId: null }]
      })
      expect((await novu.messages.retrieve({})).result.data).toMatchObject([{ channel: 'sms' }])
    })
  }
)

const tools = () => toolsFolder

describe.each([
  ['@novu/api 1.8.0', callsOfNovuApi('1.8.0', tools)],
  ['@novu/api 3.11.0', callsOfNovuApi('3.11.0', tools)],
  ['@novu/node 2.6.6', callsOfNovuNode(tools)]
])('the client %s', (_client, calls) => {
  test.each(calls)('accepts the response of a built-in stub: %s', async (_name, send) => {
    const mock = await useMock({ stubs: 'novu-client' })
    await expect(send(mock.url, DEVELOPMENT)).resolves.toBeDefined()
  })
})

test('an Express product that never mentions a mock passes its own tests under exec', async () => {
  const source = join(import.meta.dirname, 'app')
  cpSync(source, join(toolsFolder, 'app'), { recursive: true })
  const flags = ['--stubs', 'novu-client', '--env', 'NOVU_SERVER_URL=url']
  const command = [process.execPath, '--test', 'app/app.test.mjs']
  const args = ['exec', ...flags, '--env', 'NOVU_SECRET_KEY=key', '--', ...command]
  const run = await runCommand(args, { cwd: toolsFolder })
  expect(run).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/pass 3$/m) })
  for (const file of ['app.mjs', 'app.test.mjs']) {
    expect(readFileSync(join(source, file), 'utf8')).not.toMatch(/mock/i)
  }
})

async function thrownBy(call: Promise<unknown>): Promise<Error> {
  return call.then(
    () => {
      throw new Error('the call succeeded')
    },
    (error) => error
  )
}
