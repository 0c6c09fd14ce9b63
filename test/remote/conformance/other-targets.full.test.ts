import type { RequestListener } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { CASES } from '../../../src/remote/conformance/cases/index.js'
import { groupFailures, reportJunit, reportText } from '../../../src/remote/conformance/report.js'
import { DEVELOPMENT, MAILGUN, SENDGRID } from '../../support/control.js'
import { useMock } from '../../support/mock.js'
import { listen } from '../listen.js'
import { MINIMAL, startMinimalService } from './minimal-service.js'
import { type ProxiedRequest, startProxy, UNLISTED } from './proxy.js'
import { checkTarget, failuresIn, primaryEmail } from './run-conformance.js'

/** Starts a target that handles all requests with the listener. */
async function startTarget(listener: RequestListener): Promise<string> {
  const server = await listen(listener)
  onTestFinished(() => server[Symbol.asyncDispose]())
  return server.url
}

const BROKEN_BODIES = [
  '',
  '<html>',
  '{"data":[null]}',
  '{"data":[{}],"hasMore":3}',
  '[]',
  'null',
  '{"data":{"length":1e9}}'
]

test('every case has a result even if the target returns only broken responses', async () => {
  let index = 0
  const url = await startTarget((_, response) => {
    const status = [200, 200, 500, 204, 302][index % 5] ?? 200
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(BROKEN_BODIES[index % BROKEN_BODIES.length])
    index += 1
  })
  const { cases, counts } = await checkTarget(url, {
    allowChanges: true,
    integrations: ['one', 'two']
  })
  expect(cases.map(({ id }) => id)).toEqual(
    CASES.filter(({ documentOnly }) => !documentOnly).map(({ id }) => id)
  )
  // Some cases pass by chance, even with these responses.
  expect(counts.passed).toBeLessThan(15)
  expect(cases.filter(({ outcome, reason }) => outcome !== 'passed' && !reason)).toEqual([])
})

test('a case fails if a response is nested 5,000 levels deep', async () => {
  const payload = `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`
  const url = await startTarget((_, response) => {
    response.end(`{"data":[{"payload":${payload}}]}`)
  })
  const reason = 'the body of the 200 response is nested more than 100 levels deep'
  expect((await checkTarget(url, { only: ['wire.list.shape'] })).cases).toMatchObject([
    { outcome: 'failed', reason }
  ])
})

test('a request without a response fails only its own case', async () => {
  const mock = await useMock()
  await using proxy = await startProxy(mock.url, {
    response: ({ request }) =>
      request.path.includes('limit=2.0') ? new Promise(() => {}) : undefined
  })
  const { cases } = await checkTarget(proxy.url, {
    only: ['paging.length', 'paging.page'],
    timeout: 3000
  })
  expect(cases).toMatchObject([
    {
      id: 'paging.page',
      outcome: 'failed',
      reason: expect.stringContaining('no complete response within 3 s')
    },
    { id: 'paging.length', outcome: 'passed' }
  ])
})

/**
 * Starts a target that responds to its first request with 429 and to its second with 503, and that
 * records the time of each request.
 */
async function startBusyTarget(retryAfter: string) {
  const mock = await useMock()
  const times: number[] = []
  const proxy = await startProxy(mock.url, {
    response({ response }) {
      times.push(performance.now())
      if (times.length > 2) return
      response.status = times.length === 1 ? 429 : 503
      response.headers['retry-after'] = retryAfter
    }
  })
  onTestFinished(() => proxy[Symbol.asyncDispose]())
  return { url: proxy.url, times }
}

const RETRY_AFTER = [
  { retryAfter: '1.2', seconds: 1.2 },
  { retryAfter: '0', seconds: 1 },
  { retryAfter: 'Thu, 01 Jan 1970 00:00:00 GMT', seconds: 1 }
]

test.each(RETRY_AFTER)(
  'a run waits $seconds s if a 429 or 503 has `Retry-After: $retryAfter`',
  async ({ retryAfter, seconds }) => {
    const { url, times } = await startBusyTarget(retryAfter)
    const { counts } = await checkTarget(url, { only: ['paging.page'] })
    expect(counts).toEqual({ passed: 1, failed: 0, noted: 0, skipped: 0 })
    const [first = 0, second = 0, third = 0] = times
    expect(Math.min(second - first, third - second)).toBeGreaterThan(seconds * 1000 - 10)
  }
)

test.each(RETRY_AFTER)(
  'a run fails if `Retry-After: $retryAfter` requires a longer wait than `patience`',
  async ({ retryAfter, seconds }) => {
    const { url } = await startBusyTarget(retryAfter)
    await expect(checkTarget(url, { only: ['paging.page'], patience: 100 })).rejects.toThrow(
      `returned 429; a retry requires waiting ${seconds} s, but the maximum is 0.1 s`
    )
  }
)

test('the number of requests per second stays within `rate`', async () => {
  const mock = await useMock()
  const started = performance.now()
  const { requests } = await checkTarget(mock.url, {
    only: ['paging.page', 'paging.counts'],
    rate: 20
  })
  expect(performance.now() - started).toBeGreaterThan((requests - 1) * 50 - 5)
})

test('no report contains the API key, even if the target returns the key', async () => {
  const url = await startTarget((request, response) => {
    response.end(
      JSON.stringify({ message: request.headers.authorization, data: [], [DEVELOPMENT]: 1 })
    )
  })
  const report = await checkTarget(url)
  const texts = [JSON.stringify(report), reportText(report, true), reportJunit(report)]
  for (const text of texts) expect(text).not.toContain(DEVELOPMENT)
})

const NEW_MESSAGE = {
  subscriberId: 'user-ada',
  workflow: 'order-shipped',
  channel: 'email',
  subject: 'New'
}

/**
 * Returns whether the test below adds a message just before the request. The requests are chosen so
 * that some messages arrive between two cases, and some during a case.
 */
const arrivesAt = ({ method, path }: ProxiedRequest) =>
  method === 'HEAD' || path.includes('limit=2.0') || path.endsWith('channel=push&limit=100')

test('messages can arrive or change during a run without making a case fail', async () => {
  const mock = await useMock()
  const newest = (await mock.get('/v1/messages?limit=1')).json.data[0]
  let changeCount = 0
  async function sendChange(method: string, path: string, fields: object): Promise<void> {
    const headers = { authorization: `ApiKey ${DEVELOPMENT}` }
    const init = { method, headers, body: JSON.stringify(fields) }
    expect((await fetch(`${mock.url}${path}`, init)).ok).toBe(true)
    changeCount += 1
  }
  await using proxy = await startProxy(mock.url, {
    async request({ request, memory }) {
      const { method, path } = request
      if (memory.has(`${method} ${path}`)) return
      memory.set(`${method} ${path}`, true)
      if (arrivesAt(request)) await sendChange('POST', '/_mock/messages', NEW_MESSAGE)
      if (path === '/v1/messages?limit=3&page=0')
        await sendChange('PATCH', `/_mock/messages/${newest._id}`, { subject: 'changed' })
    }
  })
  const report = await checkTarget(proxy.url, { only: ['wire.head', 'paging', 'filter'] })
  expect(failuresIn(report)).toEqual([])
  expect(report.counts.skipped).toBeLessThan(3)
  expect(changeCount).toBe(4)
})

test('after an interrupt, a run stops waiting for the target and restores the original primary', {
  timeout: 240_000
}, async () => {
  const mock = await useMock()
  const interrupt = new AbortController()
  let isBusy = false
  await using proxy = await startProxy(mock.url, {
    response({ request, response }) {
      if (!isBusy && !request.path.includes(MAILGUN)) return
      // The target makes Mailgun primary, but responds with 429. It keeps responding with 429 until
      // the interrupt, and once more after it.
      isBusy = !interrupt.signal.aborted
      response.status = 429
      response.headers['retry-after'] = isBusy ? '100' : '1'
      setTimeout(() => interrupt.abort(), 50)
    }
  })
  const options = {
    allowChanges: true,
    integrations: [SENDGRID, MAILGUN],
    signal: interrupt.signal
  }
  const report = await checkTarget(proxy.url, { ...options, only: ['primary.one'] })
  expect(report).toMatchObject({ cases: [], notRestored: [] })
  expect(await primaryEmail(mock)).toBe(SENDGRID)
})

test('a run without --allow-changes sends nothing that could change the target', async () => {
  const mock = await useMock()
  const unsafeRequests: string[] = []
  await using proxy = await startProxy(mock.url, {
    response({ request: { method, path }, response }) {
      const isRejectedPost =
        method === 'POST' &&
        /^\/v1\/integrations\/[\w-]+\/set-primary$/.test(path) &&
        response.status >= 400
      const isSafe = ['GET', 'HEAD'].includes(method) || isRejectedPost
      if (!isSafe || path.includes(SENDGRID)) unsafeRequests.push(`${method} ${path}`)
    }
  })
  const report = await checkTarget(proxy.url, {
    integrations: [SENDGRID, MAILGUN],
    foreignIntegration: MAILGUN
  })
  expect(unsafeRequests).toEqual([])
  expect(report.counts).toMatchObject({ failed: 0 })
  expect(report.cases.find(({ id }) => id === 'live.foreign-integration')).toMatchObject({
    outcome: 'skipped'
  })
})

/** Options that name Mailgun as foreign, although it belongs to the target's environment. */
const ACCEPTED_FOREIGN = {
  allowChanges: true,
  foreignIntegration: MAILGUN,
  only: ['live.foreign-integration']
}

test('a run restores the original primary if a foreign integration is accepted', async () => {
  const mock = await useMock()
  await using proxy = await startProxy(mock.url)
  expect(await checkTarget(proxy.url, ACCEPTED_FOREIGN)).toMatchObject({
    counts: { failed: 1 },
    notRestored: [],
    newPrimaries: []
  })
  expect(await primaryEmail(mock)).toBe(SENDGRID)
})

test('the report lists a channel whose former primary is unknown', async () => {
  const mock = await useMock()
  await using proxy = await startProxy(mock.url, UNLISTED)
  const { notRestored } = await checkTarget(proxy.url, ACCEPTED_FOREIGN)
  expect(notRestored).toEqual(['channel email: its former primary is unknown'])
})

test('a run restores the original primary even if `integrations` has an unknown id', async () => {
  const mock = await useMock()
  await using proxy = await startProxy(mock.url, UNLISTED)
  const options = {
    allowChanges: true,
    integrations: [SENDGRID, MAILGUN, 'mailgun-typo'],
    only: ['primary']
  }
  const report = await checkTarget(proxy.url, options)
  expect(failuresIn(report)).toEqual([
    'primary.result: status 404, expected 200 for an existing integration'
  ])
  expect(report.notRestored).toEqual([])
  expect(await primaryEmail(mock)).toBe(SENDGRID)
})

test('the report lists a channel that had no primary before the run', async () => {
  const mock = await useMock()
  await using proxy = await startProxy(mock.url, {
    response({ request, response }) {
      if (request.path === '/v1/integrations')
        response.text = response.text.replaceAll('"primary":true', '"primary":false')
    }
  })
  const options = { allowChanges: true, integrations: [SENDGRID], only: ['primary.result'] }
  const report = await checkTarget(proxy.url, options)
  expect(report).toMatchObject({ counts: { passed: 1 }, notRestored: [], newPrimaries: ['email'] })
  expect(reportText(report)).toContain('Channel email had no primary integration and has one now\n')
})

test.each(['<html>', '{"data":[null,{}]}', 'connection closed'])(
  'a run continues if the list of integrations is unreadable: %s',
  async (text) => {
    const mock = await useMock()
    await using proxy = await startProxy(mock.url, {
      response({ request, response }) {
        if (request.path !== '/v1/integrations') return
        if (text === 'connection closed') throw new Error(text)
        response.text = text
      }
    })
    const options = {
      allowChanges: true,
      integrations: [SENDGRID, MAILGUN],
      only: ['primary.one', 'primary.again']
    }
    const report = await checkTarget(proxy.url, options)
    expect(report).toMatchObject({ counts: { failed: 0 }, notRestored: [] })
    expect(await primaryEmail(mock)).toBe(SENDGRID)
  }
)

interface PersonalMessage {
  transactionId: string
  contextKeys?: string[]
  email?: string
  subscriber?: { subscriberId: string }
}

function personalValuesOf(message: PersonalMessage): string[] {
  const { transactionId, contextKeys = [], email = '', subscriber } = message
  const encodedKeys = contextKeys.map((key) => encodeURIComponent(key))
  return [subscriber?.subscriberId ?? '', transactionId, email, ...contextKeys, ...encodedKeys]
}

test('no report contains personal data from the target', async () => {
  const mock = await useMock()
  const { data } = (await mock.get('/v1/messages?limit=100')).json
  await using proxy = await startProxy(mock.url, {
    response({ request, response }) {
      if (/(subscriberId|transactionId|contextKeys)/.test(request.path)) {
        response.status = 418
        const paths = `${request.path} ${decodeURIComponent(request.path)}`
        response.json = { message: `${paths} unseen@example.net ${data[0].email}` }
      }
    }
  })
  const only = ['filter', 'error', 'live']
  const report = await checkTarget(proxy.url, { only, profile: 'document' })
  const filterCases = report.cases.filter(({ id }) => id.startsWith('filter.'))
  const failedCases = filterCases.filter(({ outcome }) => outcome === 'failed')
  expect(failedCases.length).toBeGreaterThan(filterCases.length / 2)
  const text = [JSON.stringify(report), reportText(report, true), reportJunit(report)].join()
  const personalValues = (data as PersonalMessage[]).flatMap(personalValuesOf).filter(Boolean)
  const leaked = [...personalValues, 'unseen@example.net'].filter((value) => text.includes(value))
  expect([...new Set(leaked)]).toEqual([])
  expect(text).toContain('/v1/messages?subscriberId=<subscriberId>&limit=100')
})

test('a minimal service passes, and its differences from the mock are noted', async () => {
  await using service = await startMinimalService()
  const report = await checkTarget(service.url, { ...MINIMAL, allowChanges: true })
  expect(failuresIn(report)).toEqual([])
  expect(report.operations.map(({ checked }) => checked)).toEqual(['yes', 'partly', 'partly'])
  expect(report.counts.noted).toBeGreaterThan(15)
  expect(report.profile.known).toMatchObject({
    'total-count': 'absent',
    'unknown-channel-filter': 'empty-page'
  })
  expect(reportText(report).split('\n').length).toBeLessThan(20)
})

test('if the target dies, the report has the results so far and the last request', async () => {
  const mock = await useMock()
  await using proxy = await startProxy(mock.url, {
    response({ request, memory }) {
      if (request.path.includes('/%zz/')) memory.set('dead', true)
      if (memory.has('dead')) throw new Error('dead')
    }
  })
  const report = await checkTarget(proxy.url)
  const curl =
    `curl '${proxy.url}/v2/workflows/%zz/steps/none' ` +
    '-H "Authorization: ApiKey $NOTIFICATION_MOCK_API_KEY"'
  expect(report.ended).toMatch(/^the target stopped responding [(]no response: /)
  expect(report.ended).toContain(`after ${curl}`)
  expect(failuresIn(report)).toEqual([expect.stringMatching(/^malformed[.]path: no response/)])
  expect(report.counts.passed).toBeGreaterThan(45)
  expect(reportText(report)).toContain(`\nEnded early: ${report.ended}\n`)
})

test('an operation whose cases did not run is not reported as checked', async () => {
  const mock = await useMock()
  let listCount = 0
  await using proxy = await startProxy(mock.url, {
    request({ request: { path } }) {
      if (path === '/v1/messages?limit=100') listCount += 1
      if (listCount > 1) throw new Error('dead')
    }
  })
  const { operations } = await checkTarget(proxy.url, { allowChanges: true })
  expect(
    operations.map(({ checked, cases, reasons }) => [checked, cases, reasons.at(-1)?.reason])
  ).toEqual([
    ['partly', 2, 'the run ended early'],
    ['no', 0, 'the run ended early'],
    ['no', 0, 'the run ended early']
  ])
})

test('all failures form one group if set-primary always returns 500', async () => {
  const mock = await useMock()
  await using proxy = await startProxy(mock.url, {
    response({ request, response }) {
      if (request.method === 'POST') response.status = 500
    }
  })
  const report = await checkTarget(proxy.url, {
    allowChanges: true,
    only: ['primary', 'wire.integration']
  })
  expect(report.counts).toMatchObject({ passed: 0, skipped: 0 })
  const [group, ...others] = groupFailures(report.cases)
  expect(group?.first.reason).toBe('status 500, expected 200 for an existing integration')
  expect(group?.ids).toEqual(report.cases.map(({ id }) => id))
  expect(others).toEqual([])
})

test('a failure shows a curl command without the API key', async () => {
  const mock = await useMock()
  await using proxy = await startProxy(mock.url, {
    response({ request, response }) {
      const key = request.headers['idempotency-key']
      if (request.headers.authorization !== `ApiKey ${DEVELOPMENT}` || key) response.status = 418
    }
  })
  const only = ['auth.required', 'error.body', 'idempotency.accepted']
  const { cases } = await checkTarget(proxy.url, { allowChanges: true, only })
  expect(cases.map(({ requests = [] }) => requests.at(-1))).toEqual([
    `curl '${proxy.url}/v1/messages?limit=3'`,
    `curl '${proxy.url}/v1/messages'`,
    expect.stringMatching(
      /^curl -X POST '\S+set-primary' -H "Authoriz\S+ \S+ \$NOT\w+" -H 'idempotency-key: \S+'$/
    )
  ])
})
