import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { reportJunit, reportMarkdown, reportText } from '../../src/conformance/report.js'
import { type RunOptions, runConformance } from '../../src/conformance/run.js'
import { DEVELOPMENT } from '../support/control.js'
import { givenMock } from '../support/mock.js'
import { startProxy } from './proxy.js'

/** A target that answers all requests in one way. */
async function givenTarget(answer: Parameters<typeof createServer>[1]): Promise<string> {
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function judge(url: string, options: Partial<RunOptions> = {}) {
  return runConformance({ url, apiKey: DEVELOPMENT, ...options })
}

test('a target that answers with garbage fails its cases, and none is left out', async () => {
  const texts = ['', '<html>', '{"data":[null]}', '{"data":[{}],"hasMore":3}', '[]', 'null', '{"data":{"length":1e9}}']
  let index = 0
  const url = await givenTarget((_, response) => {
    response.writeHead([200, 200, 500, 204, 302][index % 5] ?? 200, { 'content-type': 'application/json' })
    response.end(texts[index++ % texts.length])
  })
  const { cases, counts } = await judge(url, { allowChanges: true, integrations: ['one', 'two'] })
  expect(cases.length).toBeGreaterThan(100)
  expect(counts.passed).toBeLessThan(10)
  expect(cases.filter(({ outcome, reason }) => outcome !== 'passed' && !reason)).toEqual([])
})

test('a request that hangs is a failed case, and the run goes on', async () => {
  const mock = await givenMock()
  await using proxy = await startProxy(mock.url, {
    answer: ({ request }) => (request.path.includes('limit=2.0') ? new Promise(() => {}) : undefined)
  })
  const { cases } = await judge(proxy.url, { only: ['paging.whole-doubles', 'paging.defaults'], timeout: 3000 })
  expect(cases).toMatchObject([
    { id: 'paging.defaults', outcome: 'passed' },
    { id: 'paging.whole-doubles', outcome: 'failed', reason: expect.stringContaining('no whole answer within 3 s') }
  ])
})

test('Retry-After is obeyed, of 429 and of 503, and not for longer than is allowed', async () => {
  const mock = await givenMock()
  const times: number[] = []
  await using proxy = await startProxy(mock.url, {
    answer({ answer }) {
      times.push(performance.now())
      if (times.length > 2) return
      answer.status = times.length === 1 ? 429 : 503
      answer.headers['retry-after'] = '0.2'
    }
  })
  const only = ['paging.repeated']
  expect((await judge(proxy.url, { only })).counts).toEqual({ passed: 1, failed: 0, skipped: 0 })
  const [first = 0, second = 0, third = 0] = times
  expect(Math.min(second - first, third - second)).toBeGreaterThan(190)
  times.length = 0
  await expect(judge(proxy.url, { only, patience: 100 })).rejects.toThrow('answers 429, and to wait 0.2 s')
})

test('no more requests are sent in a second than the rate allows', async () => {
  const mock = await givenMock()
  const started = performance.now()
  const { requests } = await judge(mock.url, { only: ['paging.repeated', 'paging.past-end'], rate: 20 })
  expect(performance.now() - started).toBeGreaterThan((requests - 1) * 50 - 5)
})

test('a key that the target repeats is in no report', async () => {
  const url = await givenTarget((request, response) => {
    response.end(JSON.stringify({ message: request.headers.authorization, data: [], [DEVELOPMENT]: 1 }))
  })
  const report = await judge(url)
  const texts = [JSON.stringify(report), reportText(report, true), reportMarkdown(report), reportJunit(report)]
  for (const text of texts) expect(text).not.toContain(DEVELOPMENT)
})

const failedIn = ({ cases }: Awaited<ReturnType<typeof judge>>) =>
  cases.filter(({ outcome }) => outcome === 'failed').map(({ id, reason }) => `${id}: ${reason}`)

test('a message that comes in or changes while it runs fails no case', async () => {
  const mock = await givenMock()
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
      const message = { subscriberId: 'user-ada', workflow: 'order-shipped', channel: 'email', subject: 'New' }
      // Between two cases, within one that needs nothing, and before one that compares whole messages.
      const isMoment = method === 'HEAD' || path.includes('limit=2.0') || path.endsWith('channel=push&limit=1')
      if (isMoment && once(path)) await send('POST', '/_mock/messages', message)
      if (path === '/v1/messages?limit=3&page=0' && once(path)) {
        await send('PATCH', `/_mock/messages/${newest._id}`, { subject: 'changed' })
      }
    }
  })
  const report = await judge(proxy.url, { only: ['wire.head', 'paging', 'filter'] })
  expect(failedIn(report)).toEqual([])
  expect(report.counts.skipped).toBeLessThan(3)
  expect(changes).toBe(4)
})

test('a request that fails once is one failed case at most, and none if it was for messages', async () => {
  const mock = await givenMock()
  await using proxy = await startProxy(mock.url, {
    answer({ request, answer, memory }) {
      if (!/limit=100&page=0$|order-shipped\/steps\/email-step$/.test(request.path) || memory.has(request.path)) return
      memory.set(request.path, true)
      answer.status = 502
      answer.text = '<html>'
    }
  })
  const report = await judge(proxy.url, { workflows: ['order-shipped'], only: ['wire', 'step', 'paging'] })
  const problem = 'GET /v2/workflows/order-shipped/steps/email-step: status 502, must be 200'
  expect(failedIn(report)).toEqual([`wire.step.shape: ${problem}`])
})
