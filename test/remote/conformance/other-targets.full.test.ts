import type { RequestListener } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { CASES } from '../../../src/remote/conformance/cases/index.js'
import { groupFailures, reportJunit, reportText } from '../../../src/remote/conformance/report.js'
import { DEVELOPMENT, MAILGUN, SENDGRID } from '../../support/control.js'
import { useMock } from '../../support/mock.js'
import { listen } from '../listen.js'
import { MINIMAL, startMinimalService } from './minimal-service.js'
import { startProxy, UNLISTED } from './proxy.js'
import { checkTarget, failuresIn, primaryEmail } from './run-conformance.js'

/** Starts a target that handles all requests with one listener. */
async function startTarget(listener: RequestListener): Promise<string> {
  const server = await listen(listener)
  onTestFinished(() => server[Symbol.asyncDispose]())
  return server.url
}

test('a target with broken responses fails its cases, and every case has a result', async () => {
  const texts = [
    '',
    '<html>',
    '{"data":[null]}',
    '{"data":[{}],"hasMore":3}',
    '[]',
    'null',
    '{"data":{"length":1e9}}'
  ]
  let index = 0
  const url = await startTarget((_, response) => {
    response.writeHead([200, 200, 500, 204, 302][index % 5] ?? 200, {
      'content-type': 'application/json'
    })
    response.end(texts[index++ % texts.length])
  })
  const { cases, counts } = await checkTarget(url, {
    allowChanges: true,
    integrations: ['one', 'two']
  })
  expect(cases.map(({ id }) => id)).toEqual(
    CASES.filter(({ documentOnly }) => !documentOnly).map(({ id }) => id)
  )
  // Some cases pass by chance.
  expect(counts.passed).toBeLessThan(15)
  expect(cases.filter(({ outcome, reason }) => outcome !== 'passed' && !reason)).toEqual([])
})

test('a response that is nested 5,000 levels deep fails its cases with a clear reason', async () => {
  const payload = `${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}`
  const url = await startTarget((_, response) => {
    response.end(`{"data":[{"payload":${payload}}]}`)
  })
  const reason = 'the body of the 200 response is nested more than 100 levels deep'
  expect((await checkTarget(url, { only: ['wire.list.shape'] })).cases).toMatchObject([
    { outcome: 'failed', reason }
  ])
})

test('a request without a response fails its case, and the run continues', async () => {
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

test.each(['1.2', '0', 'Thu, 01 Jan 1970 00:00:00 GMT'])(
  'Retry-After: %s of a 429 or 503 is respected, for at least a second and at most `patience`',
  async (value) => {
    const mock = await useMock()
    const times: number[] = []
    await using proxy = await startProxy(mock.url, {
      response({ response }) {
        times.push(performance.now())
        if (times.length > 2) return
        response.status = times.length === 1 ? 429 : 503
        response.headers['retry-after'] = value
      }
    })
    const only = ['paging.page']
    expect((await checkTarget(proxy.url, { only })).counts).toEqual({
      passed: 1,
      failed: 0,
      noted: 0,
      skipped: 0
    })
    const [first = 0, second = 0, third = 0] = times
    expect(Math.min(second - first, third - second)).toBeGreaterThan(value === '1.2' ? 1190 : 990)
    times.length = 0
    await expect(checkTarget(proxy.url, { only, patience: 100 })).rejects.toThrow(
      /returned 429; a retry requires waiting 1(.2)? s, but the maximum is 0.1 s/
    )
  }
)

test('the number of requests per second stays within the rate', async () => {
  const mock = await useMock()
  const started = performance.now()
  const { requests } = await checkTarget(mock.url, {
    only: ['paging.page', 'paging.counts'],
    rate: 20
  })
  expect(performance.now() - started).toBeGreaterThan((requests - 1) * 50 - 5)
})

test('no report contains the key, even if the target repeats it', async () => {
  const url = await startTarget((request, response) => {
    response.end(
      JSON.stringify({ message: request.headers.authorization, data: [], [DEVELOPMENT]: 1 })
    )
  })
  const report = await checkTarget(url)
  const texts = [JSON.stringify(report), reportText(report, true), reportJunit(report)]
  for (const text of texts) expect(text).not.toContain(DEVELOPMENT)
})

test('a message that arrives or changes during the run does not fail a case', async () => {
  const mock = await useMock()
  const newest = (await mock.get('/v1/messages?limit=1')).json.data[0]
  let changes = 0
  await using proxy = await startProxy(mock.url, {
    async request({ request: { method, path, headers }, memory }) {
      const authorization = headers.authorization ?? ''
      const once = (name: string) => !memory.has(name) && memory.set(name, true)
      const send = async (method: string, path: string, body: object) => {
        const init = { method, headers: { authorization }, body: JSON.stringify(body) }
        expect((await fetch(`${mock.url}${path}`, init)).ok).toBe(true)
        changes++
      }
      const message = {
        subscriberId: 'user-ada',
        workflow: 'order-shipped',
        channel: 'email',
        subject: 'New'
      }
      // Between two cases, within a case, and before one that compares whole messages.
      const isMoment =
        method === 'HEAD' || path.includes('limit=2.0') || path.endsWith('channel=push&limit=100')
      if (isMoment && once(path)) await send('POST', '/_mock/messages', message)
      if (path === '/v1/messages?limit=3&page=0' && once(path)) {
        await send('PATCH', `/_mock/messages/${newest._id}`, { subject: 'changed' })
      }
    }
  })
  const report = await checkTarget(proxy.url, { only: ['wire.head', 'paging', 'filter'] })
  expect(failuresIn(report)).toEqual([])
  expect(report.counts.skipped).toBeLessThan(3)
  expect(changes).toBe(4)
})

test('an interrupt ends a wait for the target and restores the primary', {
  timeout: 240_000
}, async () => {
  const mock = await useMock()
  const interrupt = new AbortController()
  let isBusy = false
  await using proxy = await startProxy(mock.url, {
    response({ request, response }) {
      if (!isBusy && !request.path.includes(MAILGUN)) return
      // It makes Mailgun primary, is busy until the interrupt, and again during the restore.
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

test('without --allow-changes only GET, HEAD and rejected set-primary requests are sent', async () => {
  const mock = await useMock()
  const sent: string[] = []
  await using proxy = await startProxy(mock.url, {
    response({ request: { method, path }, response }) {
      const isRefused =
        /^\/v1\/integrations\/[\w-]+\/set-primary$/.test(path) && response.status >= 400
      if (!['GET', 'HEAD'].includes(method) && !(method === 'POST' && isRefused))
        sent.push(`${method} ${path}`)
      if (path.includes(SENDGRID)) sent.push(`${method} ${path}`)
    }
  })
  const report = await checkTarget(proxy.url, {
    integrations: [SENDGRID, MAILGUN],
    foreignIntegration: MAILGUN
  })
  expect(sent).toEqual([])
  expect(report.counts).toMatchObject({ failed: 0 })
  expect(report.cases.find(({ id }) => id === 'live.foreign-integration')).toMatchObject({
    outcome: 'skipped'
  })
})

test('the primary is restored if the target makes a foreign integration primary', async () => {
  const mock = await useMock()
  await using proxy = await startProxy(mock.url)
  const options = {
    allowChanges: true,
    foreignIntegration: MAILGUN,
    only: ['live.foreign-integration']
  }
  expect(await checkTarget(proxy.url, options)).toMatchObject({
    counts: { failed: 1 },
    notRestored: [],
    newPrimaries: []
  })
  expect(await primaryEmail(mock)).toBe(SENDGRID)
  await using silent = await startProxy(mock.url, UNLISTED)
  const unlisted = await checkTarget(silent.url, options)
  expect(unlisted.notRestored).toEqual(['channel email: its former primary is unknown'])
})

test('an unknown integration fails a case, and the primary is restored', async () => {
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

test('the report lists a channel that had no primary and has one now', async () => {
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

test.each(['<html>', '{"data":[null,{}]}', 'broken off'])(
  'an unreadable list of integrations does not end the run: %s',
  async (text) => {
    const mock = await useMock()
    await using proxy = await startProxy(mock.url, {
      response({ request, response }) {
        if (request.path !== '/v1/integrations') return
        if (text === 'broken off') throw new Error(text)
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

test('a report contains no subscriber, transaction, context key or address of the target', async () => {
  const mock = await useMock()
  const { data } = (await mock.get('/v1/messages?limit=100')).json
  await using proxy = await startProxy(mock.url, {
    response({ request, response }) {
      if (/(subscriberId|transactionId|contextKeys)/.test(request.path)) {
        response.status = 418
        response.json = {
          message: `${request.path} ${decodeURIComponent(request.path)} unseen@example.net ${data[0].email}`
        }
      }
    }
  })
  const report = await checkTarget(proxy.url, {
    only: ['filter', 'error', 'live'],
    profile: 'document'
  })
  const filters = report.cases.filter(({ id }) => id.startsWith('filter.'))
  expect(filters.filter(({ outcome }) => outcome === 'failed').length).toBeGreaterThan(
    filters.length / 2
  )
  const text = [JSON.stringify(report), reportText(report, true), reportJunit(report)].join()
  const named = (data as PersonalMessage[]).flatMap(personalValuesOf)
  const leaked = [...named.filter(Boolean), 'unseen@example.net'].filter((value) =>
    text.includes(value)
  )
  expect([...new Set(leaked)]).toEqual([])
  expect(text).toContain('/v1/messages?subscriberId=<subscriberId>&limit=100')
})

test('a minimal service by the API reference fails no case, and its differences are noted', async () => {
  await using own = await startMinimalService()
  const report = await checkTarget(own.url, { ...MINIMAL, allowChanges: true })
  expect(failuresIn(report)).toEqual([])
  expect(report.operations.map(({ checked }) => checked)).toEqual(['yes', 'partly', 'partly'])
  expect(report.counts.noted).toBeGreaterThan(15)
  expect(report.profile.known).toMatchObject({
    'total-count': 'absent',
    'unknown-channel-filter': 'empty-page'
  })
  expect(reportText(report).split('\n').length).toBeLessThan(20)
})

test('a target that dies ends the run, and the report keeps the results and names the request', async () => {
  const mock = await useMock()
  await using proxy = await startProxy(mock.url, {
    response({ request, memory }) {
      if (request.path.includes('/%zz/')) memory.set('dead', true)
      if (memory.has('dead')) throw new Error('dead')
    }
  })
  const report = await checkTarget(proxy.url)
  const curl = `curl '${proxy.url}/v2/workflows/%zz/steps/none' -H "Authorization: ApiKey $NOTIFICATION_MOCK_API_KEY"`
  expect(report.ended).toMatch(/^the target stopped responding [(]no response: /)
  expect(report.ended).toContain(`after ${curl}`)
  expect(failuresIn(report)).toEqual([expect.stringMatching(/^malformed[.]path: no response/)])
  expect(report.counts.passed).toBeGreaterThan(45)
  expect(reportText(report)).toContain(`\nEnded early: ${report.ended}\n`)
})

test('after a run that ended early, an operation only counts as checked if its cases ran', async () => {
  const mock = await useMock()
  await using proxy = await startProxy(mock.url, {
    request({ request: { path }, memory }) {
      memory.set(
        'lists',
        Number(memory.get('lists') ?? 0) + (path === '/v1/messages?limit=100' ? 1 : 0)
      )
      if (Number(memory.get('lists')) > 1) throw new Error('dead')
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

test('a set-primary that always returns 500 is one cause of failure and skips no case', async () => {
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

test('a failure shows its request with the key in a variable, with a wrong key, or without', async () => {
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
