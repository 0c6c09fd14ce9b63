import { expect, onTestFinished, test } from 'vitest'
import { reopenTests } from '../../../src/cli/reopen-test.js'
import { chooseTests } from '../../../src/cli/report-file.js'
import { runMarkdown } from '../../../src/cli/summary.js'
import { connect, type RecordedRequest } from '../../../src/client/index.js'
import { reportOf } from '../../../src/client/report.js'
import { curlCommand } from '../../../src/domain/shell.js'
import { create, send, setPrimary, verify } from '../../support/control.js'
import { KEYS, type LoggedMock, useLoggedMock } from '../../support/logged-mock.js'
import { clientOf, type TestMock } from '../../support/mock.js'
import { SECRET_PART, SECRET_TEXTS } from '../../support/secret-texts.js'

const ADMIN_TOKEN = 'admin/token+77aa=='
const ODD_KEY = 'odd,key;with"4f=delimiters'
const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl'
const NAMED = 'hunter2-by-its-name'
const SECRETS = [KEYS.live, KEYS.second, ADMIN_TOKEN, ODD_KEY, JWT, NAMED]

type Client = Pick<TestMock, 'call' | 'get' | 'post'>

/** Sends each secret in the path, query, headers and body of a request. */
async function plant(mock: LoggedMock, key: string | null): Promise<void> {
  for (const secret of SECRETS.slice(0, -1)) {
    const encoded = encodeURIComponent(secret)
    await mock.post(`${setPrimary(encoded)}?a=${encoded}&b=is+${encoded}.`, {
      key,
      headers: { 'x-note': `it is ${secret}.`, 'idempotency-key': secret },
      body: JSON.stringify({ [secret]: 1, text: `{"a":"line\n${secret}"}` })
    })
  }
  const body = JSON.stringify({
    'x-signature': [NAMED],
    deviceTokens: [NAMED],
    text: `a?pwd=${NAMED}`
  })
  await mock.post(`${setPrimary('x')}?sig=${NAMED}&u=https%3A%2F%2Fa%3A${NAMED}%40b`, { key, body })
  await mock.get(`/v1/${JWT}?x-bypass=${NAMED}`, { key })
}

/** Writes each secret to records that appear in the diff and in the journal's changes. */
async function plantInData(mock: TestMock, key: string): Promise<void> {
  for (const secret of SECRETS.slice(0, -1)) {
    await mock.post(setPrimary('mailgun'), { key, headers: { 'idempotency-key': secret } })
    await send(mock, 'PATCH', '/_mock/integrations/mailgun', { name: `name ${secret}` }, key)
    await send(mock, 'POST', '/_mock/messages', { channel: 'sms', content: secret }, key)
  }
  const credentials = { password: NAMED, apiKey: NAMED }
  await send(mock, 'PATCH', '/_mock/integrations/mailgun', { credentials }, key)
}

const CREDENTIALS = { password: 'hunter2-password', apiKey: 'hunter2-api-key' }
const VAULT = {
  identifier: 'vault',
  providerId: 'twilio',
  channel: 'sms',
  credentials: CREDENTIALS
}
const SEED_WITH_CREDENTIALS = { environments: [{ name: 'planted', integrations: [VAULT] }] }

/** Sends each text in the query, a header and the body of a request. */
async function plantTexts(mock: TestMock, key: string | null): Promise<void> {
  for (const [, text] of SECRET_TEXTS) {
    await mock.post(`${setPrimary('x')}?note=${encodeURIComponent(text)}`, {
      key,
      headers: text.includes('\n') ? {} : { 'x-note': text },
      body: text
    })
  }
}

/** Reads the request stream up to the last recorded request. */
async function readStream(mock: TestMock, key: string): Promise<string> {
  const headers = { authorization: `ApiKey ${key}`, 'last-event-id': '0' }
  const { body } = await fetch(`${mock.url}/_mock/requests/stream`, { headers })
  const { length } = (await mock.get('/_mock/requests', { key })).json.requests
  let text = ''
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk
    if (text.includes(`\nid: ${length}\n`) || text.startsWith(`id: ${length}\n`)) break
  }
  return text
}

/** Returns the curl command that the inspector and the report show for a recorded request. */
function copyAsCurl({ method, path, query, headers, body }: RecordedRequest): string {
  const search = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, `${value}`])
  )
  const url = `${path}?${decodeURIComponent(`${search}`)}`
  const lines = Object.entries(headers).map(([name, value]) => [name, `${value}`] as const)
  return curlCommand({ method, url, headers: lines, body })
}

/** Returns the responses of all control routes that could leak a secret from a request. */
async function readRoutes(mock: Client, key: string): Promise<Record<string, string>> {
  const read = async (path: string) => (await mock.get(path, { key })).text
  return {
    journal: await read('/_mock/requests'),
    request: await read('/_mock/requests/1'),
    changes: await read('/_mock/requests/changes'),
    verification: (await verify(mock, { count: 0 }, key)).text,
    diff: await read('/_mock/diff'),
    faults: await read('/_mock/faults'),
    coverage: await read('/_mock/coverage'),
    environments: await read('/_mock/environments'),
    unauthenticated: await read('/_mock/requests/unauthenticated')
  }
}

/** Reopens a test from the report on a new server. Returns that server's outputs. */
async function reopenedOutputs(mock: LoggedMock, title: string): Promise<Record<string, string>> {
  const record = await connect(mock.url, { adminToken: ADMIN_TOKEN }).runRecord({ states: 'all' })
  const report = reportOf(record)
  const tests = chooseTests(report, title)
  const { server, apiKey } = await reopenTests(report, {
    tests,
    before: undefined,
    logLevel: 'silent'
  })
  onTestFinished(() => server.close())
  const client = clientOf(server.url, apiKey)
  const outputs = Object.entries({
    ...(await readRoutes(client, apiKey)),
    replay: (await client.get('/_mock/replay')).text,
    state: (await client.get('/_mock/state')).text,
    report: JSON.stringify(await connect(server.url).runRecord({ states: 'all' }))
  })
  return Object.fromEntries(outputs.map(([output, text]) => [`reopened ${output}`, text]))
}

/** Returns every output that describes requests: routes, stream, report, curl commands and log. */
async function outputsOf(mock: LoggedMock, key: string): Promise<Record<string, string>> {
  const client = connect(mock.url, { adminToken: ADMIN_TOKEN })
  const record = await client.runRecord({ states: 'all' })
  const report = reportOf(record)
  const requests = record.tests.flatMap((test) => test.requests)
  return {
    ...(await readRoutes(mock, key)),
    stream: await readStream(mock, key),
    // The HTML file contains exactly this JSON.
    report: JSON.stringify(report),
    summary: runMarkdown(report),
    runCoverage: JSON.stringify(record.coverage),
    description: await client.attach(key).describeRequests(),
    curl: requests.map(copyAsCurl).join('\n'),
    log: JSON.stringify(mock.log)
  }
}

test('no output about requests contains a secret, wherever the client sent it', async () => {
  const mock = await useLoggedMock({ adminToken: ADMIN_TOKEN })
  mock.services.environments.addApiKey(mock.services.environments.find('Live'), ODD_KEY)
  const admin = { authorization: `Bearer ${ADMIN_TOKEN}` }
  const body = JSON.stringify({ from: 'Shop', name: 'planted' })
  const made = await mock.call('/_mock/environments', { method: 'POST', headers: admin, body })
  const key = made.json.apiKey
  for (const sender of [key, null, 'wrong-key']) await plant(mock, sender)
  await plantInData(mock, key)
  const error = `AssertionError: { token: '${NAMED}' } and ${ODD_KEY}`
  await send(mock, 'PUT', '/_mock/test', { title: KEYS.live, error }, key)
  const leaks = Object.entries(await outputsOf(mock, key)).flatMap(([output, text]) =>
    SECRETS.flatMap((secret) => {
      const forms = [secret, encodeURIComponent(secret), JSON.stringify(secret).slice(1, -1)]
      const at = forms.map((form) => text.indexOf(form)).find((index) => index >= 0)
      return at === undefined ? [] : [`${output}: ${text.slice(Math.max(0, at - 90), at + 60)}`]
    })
  )
  expect(leaks).toEqual([])
})

test("the key of a removed environment stays masked in other environments' journals", async () => {
  const mock = await useLoggedMock()
  const apiKey = 'removed-key-5521'
  await create(mock, { from: 'Live', name: 'gone', apiKey })
  await mock.get(`/v1/messages?x=${apiKey}`, { key: KEYS.shop })
  const removed = await mock.call('/_mock/environments/gone', { method: 'DELETE' })
  expect(removed.status).toBe(204)
  expect((await mock.get('/_mock/requests', { key: KEYS.shop })).text).not.toContain(apiKey)
})

test('no output about requests contains a value with the name or form of a secret', async () => {
  const mock = await useLoggedMock({ adminToken: ADMIN_TOKEN })
  const admin = { authorization: `Bearer ${ADMIN_TOKEN}` }
  const body = JSON.stringify({ from: 'Shop', name: 'planted', seed: SEED_WITH_CREDENTIALS })
  const made = await mock.call('/_mock/environments', { method: 'POST', headers: admin, body })
  const key = made.json.apiKey
  for (const sender of [key, null]) await plantTexts(mock, sender)
  for (const [, text] of SECRET_TEXTS) {
    await send(mock, 'POST', '/_mock/messages', { channel: 'sms', content: text }, key)
  }
  await send(mock, 'PATCH', '/_mock/integrations/mailgun', { name: SECRET_TEXTS[0]?.[1] }, key)
  const error = SECRET_TEXTS.map(([, text]) => text).join('\n')
  await send(mock, 'PUT', '/_mock/test', { title: 'planted', outcome: 'failed', error }, key)
  const outputs = { ...(await outputsOf(mock, key)), ...(await reopenedOutputs(mock, 'planted')) }
  const leaks = Object.entries(outputs).flatMap(([output, text]) => {
    const at = text.search(SECRET_PART)
    return at < 0 ? [] : [`${output}: ${text.slice(Math.max(0, at - 90), at + 60)}`]
  })
  expect(leaks).toEqual([])
})
