import { writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { useMock } from '../../support/mock.js'
import { createTempFolder, runCommand, spawnCommand } from '../../support/process.js'
import { recordFrom, startDisturbedProxy } from '../recording/recording-target.js'

interface Outcome {
  compared: number
  skipped: number
  same: number
  differences: {
    path: string
    field: string
    target?: unknown
    ours?: unknown
    explainedBy?: string
  }[]
}

async function compare(...args: string[]) {
  const always = ['compare', '--api-key', 'development-key', '--rate', '1000', '--json']
  const { code, stdout, stderr } = await runCommand([...always, ...args])
  return { code, stderr, outcome: (stdout ? JSON.parse(stdout) : undefined) as Outcome }
}

type Responders = Record<string, ((response: ServerResponse) => unknown) | undefined>

/**
 * Starts a proxy in front of a server, and returns flags that compare the proxy with the server. If
 * a path starts with a key of `responders`, that responder handles the request. The proxy forwards
 * all other requests to the server.
 */
async function compareWithProxy(
  { url }: { url: string },
  responders: Responders,
  requests = Object.keys(responders).join('\n')
) {
  const proxy = await startDisturbedProxy(url, ({ url: path = '' }, response) => {
    const [, respond] = Object.entries(responders).find(([prefix]) => path.startsWith(prefix)) ?? []
    respond?.(response)
    return respond !== undefined
  })
  const file = join(createTempFolder(), 'requests.txt')
  writeFileSync(file, requests)
  return [...between(proxy, { url }), '--requests', file]
}

const between = (target: { url: string }, ours: { url: string }) =>
  ['--target', target.url, '--against', ours.url].concat('--against-key', 'development-key')

function sendJson(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

describe('compare', () => {
  test.each(['document', 'live'] as const)(
    'finds no difference between a mock in the profile %s and its recording',
    async (profile) => {
      const source = await useMock({ profile })
      const out = join(createTempFolder(), 'seed.yaml')
      await recordFrom(source.url, out)
      const { code, outcome } = await compare('--target', source.url, '--seed', out, '--replaced')
      expect({ code, differences: outcome.differences }).toEqual({ code: 0, differences: [] })
      expect(outcome.compared).toBeGreaterThan(40)
      expect(outcome.same).toBe(outcome.compared)
    }
  )

  test('names the assumption that explains each difference between the profiles', async () => {
    // The default seed's timestamps are relative to now, so both servers need the same time.
    const now = Date.UTC(2026, 1, 18)
    const target = await useMock({ profile: 'live', now })
    const ours = await useMock({ profile: 'document', now })
    const { code, outcome } = await compare(...between(target, ours))
    expect(outcome.differences.filter(({ explainedBy }) => explainedBy === undefined)).toEqual([])
    expect(code).toBe(0)
    expect([...new Set(outcome.differences.map(({ explainedBy }) => explainedBy))].sort()).toEqual([
      'control-values',
      'embedded-subscriber',
      'envelope',
      'error-context',
      'malformed-context-key',
      'message-extras',
      'paging-bounds',
      'total-count',
      'unknown-channel-filter',
      'unknown-step',
      'unknown-subscriber-filter',
      'unknown-workflow',
      'vendor-names'
    ])
  })

  /** Returns flags to compare a mock with a proxy that changes a subject and removes a status. */
  async function flagsForChangedFields() {
    const ours = await useMock({})
    const { json: page } = await ours.get('/v1/messages?limit=2')
    page.data[0].subject = 'Another one'
    delete page.data[1].status
    const requests = [
      '# mine',
      'GET /v1/messages?limit=2',
      '/v1/messages?limit=3',
      'POST /v1/integrations/sendgrid-main/set-primary',
      ''
    ]
    return compareWithProxy(
      ours,
      { '/v1/messages?limit=2': (response) => sendJson(response, page) },
      requests.join('\n')
    )
  }

  test('exits with code 1 and names the field if a difference is unexplained', async () => {
    const { code, outcome } = await compare(...(await flagsForChangedFields()))
    expect(code).toBe(1)
    expect(outcome).toMatchObject({ compared: 2, skipped: 1, same: 1 })
    expect(outcome.differences).toMatchObject([
      {
        path: '/v1/messages?limit=2',
        field: expect.stringMatching(/^data\[\w+\]\.subject$/),
        target: 'Another one'
      },
      { field: expect.stringMatching(/^data\[\w+\]\.status$/), ours: 'sent' }
    ])
  })

  test('without --json, prints the counts and the differences as text', async () => {
    const flags = await flagsForChangedFields()
    const { stdout } = await runCommand(['compare', '--api-key', 'development-key', ...flags])
    const counts = '2 requests compared, 1 with the same response; 1 request not sent'
    const differences = '2 differences that no assumption explains:\\n.*subject: '
    expect(stdout).toMatch(new RegExp(`${counts}[\\s\\S]*${differences}target "Another one"`))
  })

  test('exits with code 1 if totalCount, hasMore or the order of messages differs', async () => {
    const ours = await useMock({})
    const { json } = await ours.get('/v1/messages?limit=2')
    const page = {
      ...json,
      totalCount: json.totalCount + 1,
      hasMore: !json.hasMore,
      data: json.data.toReversed()
    }
    const responders = {
      '/v1/messages?limit=2': (response: ServerResponse) => sendJson(response, page)
    }
    const { code, outcome } = await compare(
      ...(await compareWithProxy(ours, responders, 'GET /v1/messages?limit=2'))
    )
    expect(code).toBe(1)
    expect(
      outcome.differences.map(({ field, explainedBy }) => [field, explainedBy]).sort()
    ).toEqual([
      ['data (order)', undefined],
      ['hasMore', undefined],
      ['totalCount', undefined]
    ])
  })

  test('reports a response that cannot be compared, and continues', async () => {
    const ours = await useMock({})
    const broken: [target: unknown, respond: (response: ServerResponse) => unknown][] = [
      [502, (response) => response.writeHead(502).end('<h1>Bad gateway</h1>')],
      [undefined, (response) => response.writeHead(200).end('<h1>Log in</h1>')],
      ['no response: ECONNRESET', (response) => response.socket?.resetAndDestroy()],
      [302, (response) => response.writeHead(302, { location: '/login' }).end()],
      ['no complete response within 1 s', () => {}],
      [
        expect.stringMatching(/header/i),
        (response) => response.writeHead(200, { 'x-long': 'a'.repeat(20_000) }).end()
      ],
      [
        'the response is nested more than 100 levels deep',
        (response) => response.writeHead(200).end(`{"data":${'['.repeat(5000)}${']'.repeat(5000)}}`)
      ]
    ]
    const responders = broken.map(
      ([, respond], page) => [`/v1/messages?page=${page}`, respond] as const
    )
    const args = await compareWithProxy(ours, {
      ...Object.fromEntries(responders),
      '/v1/messages?page=9': undefined
    })
    const { code, outcome, stderr } = await compare(...args, '--timeout', '1')
    expect(code, stderr).toBe(1)
    expect(outcome).toMatchObject({ compared: broken.length + 1, same: 1 })
    const first = broken.map((_, page) =>
      outcome.differences.find(({ path }) => path.endsWith(`page=${page}`))
    )
    expect(first.map((difference) => difference?.target)).toEqual(broken.map(([target]) => target))
  })

  const compareDocument = (...args: string[]) =>
    runCommand(['compare', '--json', '--document', ...args])

  test('compares a published document with the document of a profile', async () => {
    const { url } = await useMock({ profile: 'live' })
    const same = await compareDocument(`${url}/openapi.json`, '--profile', 'live')
    expect({ code: same.code, outcome: JSON.parse(same.stdout) }).toEqual({
      code: 0,
      outcome: { compared: 3, missing: [], differences: [] }
    })
    const other = await runCommand(['compare', '--document', `${url}/openapi.json`])
    expect(other).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('differences that an assumption explains')
    })
  })

  test('lists a missing operation and an additional request body in a YAML document', async () => {
    const { url } = await useMock({ profile: 'live' })
    const document = (await (await fetch(`${url}/openapi.json`)).json()) as {
      paths: Record<string, { get: object }>
    }
    const file = join(createTempFolder(), 'openapi.yaml')
    delete document.paths['/v2/workflows/{workflowId}/steps/{stepId}']
    Object.assign(document.paths['/v1/messages']?.get ?? {}, { requestBody: { content: {} } })
    writeFileSync(file, stringify(document))
    const changed = await runCommand(['compare', '--document', file, '--profile', 'live'])
    expect(changed.code, changed.stderr).toBe(1)
    expect(changed.stdout).toMatch(
      /2 operations compared\nGET \/v2\/workflows\/\S+ is not in the published document/
    )
    expect(changed.stdout).toMatch(
      new RegExp(
        '1 difference that no assumption explains:\\n' +
          ' {2}request body: published only\\n' +
          ' {6}in GET /v1/messages\\n' +
          ' {6}published: #\\S+requestBody\\n'
      )
    )
  })

  test('rejects a document that cannot be read', async () => {
    const { url } = await useMock({ profile: 'live' })
    const missingFile = join(createTempFolder(), 'none')
    for (const [args, code, message] of [
      [[`${url}/nothing`], 1, '/nothing: returned 404'],
      [[missingFile], 1, "can't be read"],
      [[missingFile, '--seed', 'default'], 2, '--document cannot be combined']
    ] as const) {
      expect(await compareDocument(...args)).toMatchObject({
        code,
        stderr: expect.stringContaining(message)
      })
    }
  })

  test('exits with code 1 and reports the interruption on SIGINT', async () => {
    const ours = await useMock({})
    let pending = 0
    // The proxy never responds.
    const proxy = await startDisturbedProxy(ours.url, () => {
      pending++
      return true
    })
    const { child, ended } = await spawnCommand([
      'compare',
      '--api-key',
      'development-key',
      ...between(proxy, ours)
    ])
    await expect.poll(() => pending, { timeout: 30_000 }).toBe(1)
    child.kill('SIGINT')
    const { code, stdout, stderr } = await ended
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain('interrupted')
    expect(stderr).not.toMatch(/^\s+at /m)
  })

  test('sends POST requests from a journal or HAR only with --allow-changes', async () => {
    const ours = await useMock({})
    const target = await useMock({})
    await ours.get('/v1/messages?limit=2&transactionId=a&transactionId=b%20c')
    await ours.get('/v1/messages?limit=2&transactionId=a&transactionId=b%20c')
    await ours.post('/v1/integrations/sendgrid-main/set-primary')
    const har = join(createTempFolder(), 'requests.har')
    const requests = [
      ['GET', '/v1/messages?limit=2&transactionId=a&transactionId=b+c'],
      ['POST', '/v1/integrations/sendgrid-main/set-primary']
    ]
    const entries = requests.map(([method, path]) => ({
      request: { method, url: `${ours.url}${path}` }
    }))
    writeFileSync(har, JSON.stringify({ log: { entries } }))
    const against = between(target, ours)
    const read = { compared: 1, skipped: 1, same: 1 }
    const changed = { compared: 2, skipped: 0, same: 2 }
    expect(await compare(...against, '--journal')).toMatchObject({ code: 0, outcome: read })
    expect(await compare(...against, '--har', har)).toMatchObject({ code: 0, outcome: read })
    expect(await compare(...against, '--har', har, '--allow-changes')).toMatchObject({
      code: 0,
      outcome: changed
    })
  })

  test('rejects wrong flags, unreadable requests and unreachable servers', async () => {
    const { url } = await useMock({})
    const file = join(createTempFolder(), 'requests.txt')
    writeFileSync(file, 'GET /v1/messages\nDELETE everything\n')
    const nowhere = { url: 'http://127.0.0.1:9' }
    for (const [args, code, message] of [
      [['--target', url], 2, 'either --against or --seed'],
      [['--target', url, '--seed', 'default', '--journal'], 2, '--journal'],
      [
        ['--target', url, '--seed', 'default', '--requests', file],
        1,
        'requests.txt:2: must be a path under /v1/ or /v2/'
      ],
      [['--target', url, '--seed', 'default', '--har', file], 1, 'is not a HAR'],
      [between(nowhere, { url }), 1, 'http://127.0.0.1:9: no response'],
      [
        ['--target', url, '--against', url, '--against-key', 'wrong-key'],
        1,
        '/_mock/workflows returned 401'
      ]
    ] as const) {
      expect(await compare(...args)).toMatchObject({
        code,
        stderr: expect.stringContaining(message)
      })
    }
  })
})
