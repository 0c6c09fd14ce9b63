import { writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { givenMock } from '../support/mock.js'
import { givenFolder, runCommand, spawnCommand } from '../support/process.js'
import { givenProxy, recordFrom } from './target.js'

interface Outcome {
  asked: number
  skipped: number
  same: number
  differences: { path: string; field: string; target?: unknown; ours?: unknown; explainedBy?: string }[]
}

async function compare(...args: string[]) {
  const always = ['compare', '--api-key', 'development-key', '--rate', '1000', '--json']
  const { code, stdout, stderr } = await runCommand([...always, ...args])
  return { code, stderr, outcome: (stdout ? JSON.parse(stdout) : undefined) as Outcome }
}

type Answers = Record<string, ((response: ServerResponse) => void) | undefined>

/** Flags for a server against a proxy before it, which gives its own answers to paths that begin so; they are asked. */
async function againstBroken({ url }: { url: string }, answers: Answers, asked = Object.keys(answers).join('\n')) {
  const proxy = await givenProxy(url, ({ url: path = '' }, response) => {
    const [, answer] = Object.entries(answers).find(([start]) => path.startsWith(start)) ?? []
    answer?.(response)
    return answer !== undefined
  })
  const file = join(givenFolder(), 'requests.txt')
  writeFileSync(file, asked)
  return ['--target', proxy.url, '--against', url, '--against-key', 'development-key', '--requests', file]
}

function sendJson(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

describe('compare', () => {
  test.each(['document', 'live'] as const)('finds no difference to a seed recorded of profile %s', async (profile) => {
    const source = await givenMock({ profile })
    const out = join(givenFolder(), 'seed.yaml')
    await recordFrom(source.url, out)
    const { code, outcome } = await compare('--target', source.url, '--seed', out, '--replaced')
    expect({ code, differences: outcome.differences }).toEqual({ code: 0, differences: [] })
    expect(outcome.asked).toBeGreaterThan(40)
    expect(outcome.same).toBe(outcome.asked)
  })

  test('says which assumption explains each difference between the profiles', async () => {
    const target = await givenMock({ profile: 'live' })
    const ours = await givenMock({ profile: 'document' })
    const { code, outcome } = await compare(
      '--target',
      target.url,
      '--against',
      ours.url,
      '--against-key',
      'development-key'
    )
    expect(outcome.differences.filter(({ explainedBy }) => explainedBy === undefined)).toEqual([])
    expect(code).toBe(0)
    expect([...new Set(outcome.differences.map(({ explainedBy }) => explainedBy))].sort()).toEqual([
      'control-values',
      'embedded-subscriber',
      'envelope',
      'error-context',
      'malformed-context-key',
      'paging-bounds',
      'total-count',
      'unknown-channel-filter',
      'unknown-step',
      'unknown-subscriber-filter',
      'unknown-workflow',
      'unserved-route',
      'vendor-names'
    ])
  })

  test('ends with 1 and names the field when nothing explains a difference', async () => {
    const ours = await givenMock({})
    const { json: page } = await ours.get('/v1/messages?limit=2')
    page.data[0].subject = 'Another one'
    delete page.data[1].status
    const asked =
      '# mine\nGET /v1/messages?limit=2\n/v1/messages?limit=3\nPOST /v1/integrations/sendgrid-main/set-primary\n'
    const args = await againstBroken(ours, { '/v1/messages?limit=2': (response) => sendJson(response, page) }, asked)
    const { code, outcome } = await compare(...args)
    expect(code).toBe(1)
    expect(outcome).toMatchObject({ asked: 2, skipped: 1, same: 1 })
    expect(outcome.differences).toMatchObject([
      { path: '/v1/messages?limit=2', field: expect.stringMatching(/^data\[\w+\]\.subject$/), target: 'Another one' },
      { field: expect.stringMatching(/^data\[\w+\]\.status$/), ours: 'sent' }
    ])
    const text = await runCommand(['compare', '--api-key', 'development-key', ...args])
    expect(text.stdout).toMatch(
      /2 questions, 1 answered the same, 1 not asked[\s\S]*2 differences that nothing explains:\n.*subject: "Another one" there/
    )
  })

  test('ends with 1 when the total is wrong, or hasMore, or the order, in equal profiles', async () => {
    const ours = await givenMock({})
    const { json } = await ours.get('/v1/messages?limit=2')
    const page = { ...json, totalCount: json.totalCount + 1, hasMore: !json.hasMore, data: json.data.toReversed() }
    const answers = { '/v1/messages?limit=2': (response: ServerResponse) => sendJson(response, page) }
    const { code, outcome } = await compare(...(await againstBroken(ours, answers, 'GET /v1/messages?limit=2')))
    expect(code).toBe(1)
    expect(outcome.differences.map(({ field, explainedBy }) => [field, explainedBy]).sort()).toEqual([
      ['data (order)', undefined],
      ['hasMore', undefined],
      ['totalCount', undefined]
    ])
  })

  test('goes on after an answer of 5xx, one that is no JSON, one that sends on, and none at all', async () => {
    const ours = await givenMock({})
    const args = await againstBroken(ours, {
      '/v1/messages?page=0': (response) => void response.writeHead(502).end('<h1>Bad gateway</h1>'),
      '/v1/messages?page=1': (response) => void response.writeHead(200).end('<h1>Log in</h1>'),
      '/v1/messages?page=2': (response) => void response.socket?.resetAndDestroy(),
      '/v1/messages?page=3': (response) => void response.writeHead(302, { location: '/login' }).end(),
      '/v1/messages?page=4': undefined
    })
    const { code, outcome, stderr } = await compare(...args)
    expect(code, stderr).toBe(1)
    expect(outcome).toMatchObject({ asked: 5, same: 1 })
    const found = outcome.differences.filter(({ field }) => field === 'status' || field === '')
    expect(found.map(({ path, field, target }) => [path.slice(-1), field, target])).toEqual([
      ['0', 'status', 502],
      ['0', '', undefined],
      ['1', '', undefined],
      ['2', 'status', 'no answer: ECONNRESET'],
      ['3', 'status', 302],
      ['3', '', undefined]
    ])
  })

  test('says what was wrong where a server gave no answer that can be compared', async () => {
    const ours = await givenMock({})
    const args = await againstBroken(ours, {
      '/v1/messages?page=0': () => {},
      '/v1/messages?page=1': (response) =>
        void response.writeHead(200, { 'x-long': 'a'.repeat(20_000) }).end('{"data":[]}'),
      '/v1/messages?page=2': (response) =>
        void response.writeHead(200).end(`{"data":${'['.repeat(5000)}${']'.repeat(5000)}}`)
    })
    const { code, outcome, stderr } = await compare(...args, '--timeout', '1')
    expect(code, stderr).toBe(1)
    expect(outcome.differences.map(({ field, target, ours: own }) => [field, target, own])).toEqual([
      ['status', 'no whole answer within 1 s', 200],
      ['status', expect.stringMatching(/header/i), 200],
      ['status', 'is nested more than 100 deep', 200]
    ])
  })

  test('compares a published document, a file or an address, JSON or YAML', async () => {
    const { url } = await givenMock({ profile: 'live' })
    const run = (...args: string[]) => runCommand(['compare', '--json', '--document', ...args])
    const same = await run(`${url}/openapi.json`, '--profile', 'live')
    expect({ code: same.code, outcome: JSON.parse(same.stdout) }).toEqual({
      code: 0,
      outcome: { compared: 3, missing: [], differences: [] }
    })
    const other = await runCommand(['compare', '--document', `${url}/openapi.json`])
    expect(other).toMatchObject({ code: 0, stdout: expect.stringContaining('differences that an assumption explains') })
    const document = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: Record<string, { get: object }> }
    const file = join(givenFolder(), 'openapi.yaml')
    delete document.paths['/v2/workflows/{workflowId}/steps/{stepId}']
    Object.assign(document.paths['/v1/messages']?.get ?? {}, { requestBody: { content: {} } })
    writeFileSync(file, stringify(document))
    const changed = await runCommand(['compare', '--document', file, '--profile', 'live'])
    expect(changed.code, changed.stderr).toBe(1)
    expect(changed.stdout).toMatch(/2 operations compared\nGET \/v2\/workflows\/\S+ is not in the document/)
    expect(changed.stdout).toMatch(
      /1 differences that nothing explains:\n {2}GET \/v1\/messages: request body: there only\n {6}#\S+requestBody there\n/
    )
    expect(await run(`${url}/nothing`)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('/nothing: answers 404')
    })
    expect(await run(join(file, 'none'))).toMatchObject({ code: 1, stderr: expect.stringContaining("can't be read") })
    expect(await run(file, '--seed', 'default')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('stands alone')
    })
  })

  test('says that it was interrupted', async () => {
    const ours = await givenMock({})
    let held = 0
    const proxy = await givenProxy(ours.url, () => {
      held++
      return true
    })
    const against = ['--target', proxy.url, '--against', ours.url, '--against-key', 'development-key']
    const { child, ended } = await spawnCommand(['compare', '--api-key', 'development-key', ...against])
    await expect.poll(() => held, { timeout: 30_000 }).toBe(1)
    child.kill('SIGINT')
    const { code, stdout, stderr } = await ended
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain('interrupted')
    expect(stderr).not.toMatch(/^\s+at /m)
  })

  test('says so when there is no server, or none of ours', async () => {
    const ours = await givenMock({})
    const against = ['--against', ours.url, '--against-key']
    expect(await compare('--target', 'http://127.0.0.1:9', ...against, 'development-key')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('http://127.0.0.1:9: no answer')
    })
    expect(await compare('--target', ours.url, ...against, 'wrong-key')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('/_mock/workflows answers 401')
    })
  })

  test('asks the requests of a journal and of a HAR, and set-primary only with --allow-changes', async () => {
    const ours = await givenMock({})
    const target = await givenMock({})
    await ours.get('/v1/messages?limit=2&transactionId=a&transactionId=b%20c')
    await ours.get('/v1/messages?limit=2&transactionId=a&transactionId=b%20c')
    await ours.post('/v1/integrations/sendgrid-main/set-primary')
    const har = join(givenFolder(), 'requests.har')
    const asked = [
      ['GET', '/v1/messages?limit=2&transactionId=a&transactionId=b+c'],
      ['POST', '/v1/integrations/sendgrid-main/set-primary']
    ]
    const entries = asked.map(([method, path]) => ({ request: { method, url: `${ours.url}${path}` } }))
    writeFileSync(har, JSON.stringify({ log: { entries } }))
    const against = ['--target', target.url, '--against', ours.url, '--against-key', 'development-key']
    expect(await compare(...against, '--journal')).toMatchObject({
      code: 0,
      outcome: { asked: 1, skipped: 1, same: 1 }
    })
    expect(await compare(...against, '--har', har)).toMatchObject({
      code: 0,
      outcome: { asked: 1, skipped: 1, same: 1 }
    })
    const changing = await compare(...against, '--har', har, '--allow-changes')
    expect(changing).toMatchObject({ code: 0, outcome: { asked: 2, skipped: 0, same: 2 } })
  })

  test('tells a wrong command line with 2, and files that can not be asked with 1', async () => {
    const { url } = await givenMock({})
    const file = join(givenFolder(), 'requests.txt')
    writeFileSync(file, 'GET /v1/messages\nDELETE everything\n')
    expect(await compare('--target', url)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('either --against or --seed')
    })
    expect(await compare('--target', url, '--seed', 'default', '--journal')).toMatchObject({ code: 2 })
    expect(await compare('--target', url, '--seed', 'default', '--requests', file)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('requests.txt:2: must be a method and a path')
    })
    expect(await compare('--target', url, '--seed', 'default', '--har', file)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('is no HAR')
    })
  })
})
