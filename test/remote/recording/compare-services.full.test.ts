import { writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { useMock } from '../../support/mock.js'
import { createTempFolder, runCommand, spawnCommand } from '../../support/process.js'
import { recordFrom, startDisturbedProxy } from './recording-target.js'

interface Outcome {
  asked: number
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

type Answers = Record<string, ((response: ServerResponse) => unknown) | undefined>

/** Flags for a server against a proxy before it, which gives its own answers to paths that begin so; they are asked. */
async function againstBroken(
  { url }: { url: string },
  answers: Answers,
  asked = Object.keys(answers).join('\n')
) {
  const proxy = await startDisturbedProxy(url, ({ url: path = '' }, response) => {
    const [, answer] = Object.entries(answers).find(([start]) => path.startsWith(start)) ?? []
    answer?.(response)
    return answer !== undefined
  })
  const file = join(createTempFolder(), 'requests.txt')
  writeFileSync(file, asked)
  return [...between(proxy, { url }), '--requests', file]
}

const between = (target: { url: string }, ours: { url: string }) =>
  ['--target', target.url, '--against', ours.url].concat('--against-key', 'development-key')

function sendJson(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

describe('compare', () => {
  test.each(['document', 'live'] as const)(
    'finds no difference to a seed recorded of profile %s',
    async (profile) => {
      const source = await useMock({ profile })
      const out = join(createTempFolder(), 'seed.yaml')
      await recordFrom(source.url, out)
      const { code, outcome } = await compare('--target', source.url, '--seed', out, '--replaced')
      expect({ code, differences: outcome.differences }).toEqual({ code: 0, differences: [] })
      expect(outcome.asked).toBeGreaterThan(40)
      expect(outcome.same).toBe(outcome.asked)
    }
  )

  test('says which assumption explains each difference between the profiles', async () => {
    const target = await useMock({ profile: 'live' })
    const ours = await useMock({ profile: 'document' })
    const { code, outcome } = await compare(...between(target, ours))
    expect(outcome.differences.filter(({ explainedBy }) => explainedBy === undefined)).toEqual([])
    expect(code).toBe(0)
    expect([...new Set(outcome.differences.map(({ explainedBy }) => explainedBy))].sort()).toEqual([
      ...[
        'control-values',
        'embedded-subscriber',
        'envelope',
        'error-context',
        'malformed-context-key'
      ],
      ...[
        'paging-bounds',
        'total-count',
        'unknown-channel-filter',
        'unknown-step',
        'unknown-subscriber-filter'
      ],
      ...['unknown-workflow', 'unserved-route', 'vendor-names']
    ])
  })

  test('ends with 1 and names the field when nothing explains a difference', async () => {
    const ours = await useMock({})
    const { json: page } = await ours.get('/v1/messages?limit=2')
    page.data[0].subject = 'Another one'
    delete page.data[1].status
    const asked =
      '# mine\nGET /v1/messages?limit=2\n/v1/messages?limit=3\nPOST /v1/integrations/sendgrid-main/set-primary\n'
    const args = await againstBroken(
      ours,
      { '/v1/messages?limit=2': (response) => sendJson(response, page) },
      asked
    )
    const { code, outcome } = await compare(...args)
    expect(code).toBe(1)
    expect(outcome).toMatchObject({ asked: 2, skipped: 1, same: 1 })
    expect(outcome.differences).toMatchObject([
      {
        path: '/v1/messages?limit=2',
        field: expect.stringMatching(/^data\[\w+\]\.subject$/),
        target: 'Another one'
      },
      { field: expect.stringMatching(/^data\[\w+\]\.status$/), ours: 'sent' }
    ])
    const text = await runCommand(['compare', '--api-key', 'development-key', ...args])
    expect(text.stdout).toMatch(
      /2 questions, 1 answered the same, 1 not asked[\s\S]*2 differences that nothing explains:\n.*subject: "Another one" there/
    )
  })

  test('ends with 1 when the total is wrong, or hasMore, or the order, in equal profiles', async () => {
    const ours = await useMock({})
    const { json } = await ours.get('/v1/messages?limit=2')
    const page = {
      ...json,
      totalCount: json.totalCount + 1,
      hasMore: !json.hasMore,
      data: json.data.toReversed()
    }
    const answers = {
      '/v1/messages?limit=2': (response: ServerResponse) => sendJson(response, page)
    }
    const { code, outcome } = await compare(
      ...(await againstBroken(ours, answers, 'GET /v1/messages?limit=2'))
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

  test('goes on where a server gave no answer that can be compared, and says what was wrong', async () => {
    const ours = await useMock({})
    const answers: [target: unknown, answer: (response: ServerResponse) => unknown][] = [
      [502, (response) => response.writeHead(502).end('<h1>Bad gateway</h1>')],
      [undefined, (response) => response.writeHead(200).end('<h1>Log in</h1>')],
      ['no answer: ECONNRESET', (response) => response.socket?.resetAndDestroy()],
      [302, (response) => response.writeHead(302, { location: '/login' }).end()],
      ['no whole answer within 1 s', () => {}],
      [
        expect.stringMatching(/header/i),
        (response) => response.writeHead(200, { 'x-long': 'a'.repeat(20_000) }).end()
      ],
      [
        'is nested more than 100 deep',
        (response) => response.writeHead(200).end(`{"data":${'['.repeat(5000)}${']'.repeat(5000)}}`)
      ]
    ]
    const broken = answers.map(([, answer], page) => [`/v1/messages?page=${page}`, answer] as const)
    const args = await againstBroken(ours, {
      ...Object.fromEntries(broken),
      '/v1/messages?page=9': undefined
    })
    const { code, outcome, stderr } = await compare(...args, '--timeout', '1')
    expect(code, stderr).toBe(1)
    expect(outcome).toMatchObject({ asked: answers.length + 1, same: 1 })
    const first = answers.map((_, page) =>
      outcome.differences.find(({ path }) => path.endsWith(`page=${page}`))
    )
    expect(first.map((each) => each?.target)).toEqual(answers.map(([target]) => target))
  })

  test('compares a published document, a file or an address, JSON or YAML', async () => {
    const { url } = await useMock({ profile: 'live' })
    const run = (...args: string[]) => runCommand(['compare', '--json', '--document', ...args])
    const same = await run(`${url}/openapi.json`, '--profile', 'live')
    expect({ code: same.code, outcome: JSON.parse(same.stdout) }).toEqual({
      code: 0,
      outcome: { compared: 3, missing: [], differences: [] }
    })
    const other = await runCommand(['compare', '--document', `${url}/openapi.json`])
    expect(other).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('differences that an assumption explains')
    })
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
      /2 operations compared\nGET \/v2\/workflows\/\S+ is not in the document/
    )
    expect(changed.stdout).toMatch(
      /1 differences that nothing explains:\n {2}GET \/v1\/messages: request body: there only\n {6}#\S+requestBody there\n/
    )
    for (const [args, code, message] of [
      [[`${url}/nothing`], 1, '/nothing: answers 404'],
      [[join(file, 'none')], 1, "can't be read"],
      [[file, '--seed', 'default'], 2, 'stands alone']
    ] as const) {
      expect(await run(...args)).toMatchObject({ code, stderr: expect.stringContaining(message) })
    }
  })

  test('says that it was interrupted', async () => {
    const ours = await useMock({})
    let held = 0
    const proxy = await startDisturbedProxy(ours.url, () => {
      held++
      return true
    })
    const { child, ended } = await spawnCommand([
      'compare',
      '--api-key',
      'development-key',
      ...between(proxy, ours)
    ])
    await expect.poll(() => held, { timeout: 30_000 }).toBe(1)
    child.kill('SIGINT')
    const { code, stdout, stderr } = await ended
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain('interrupted')
    expect(stderr).not.toMatch(/^\s+at /m)
  })

  test('asks the requests of a journal and of a HAR, and set-primary only with --allow-changes', async () => {
    const ours = await useMock({})
    const target = await useMock({})
    await ours.get('/v1/messages?limit=2&transactionId=a&transactionId=b%20c')
    await ours.get('/v1/messages?limit=2&transactionId=a&transactionId=b%20c')
    await ours.post('/v1/integrations/sendgrid-main/set-primary')
    const har = join(createTempFolder(), 'requests.har')
    const asked = [
      ['GET', '/v1/messages?limit=2&transactionId=a&transactionId=b+c'],
      ['POST', '/v1/integrations/sendgrid-main/set-primary']
    ]
    const entries = asked.map(([method, path]) => ({
      request: { method, url: `${ours.url}${path}` }
    }))
    writeFileSync(har, JSON.stringify({ log: { entries } }))
    const against = between(target, ours)
    const [read, changed] = [
      { asked: 1, skipped: 1, same: 1 },
      { asked: 2, skipped: 0, same: 2 }
    ]
    expect(await compare(...against, '--journal')).toMatchObject({ code: 0, outcome: read })
    expect(await compare(...against, '--har', har)).toMatchObject({ code: 0, outcome: read })
    expect(await compare(...against, '--har', har, '--allow-changes')).toMatchObject({
      code: 0,
      outcome: changed
    })
  })

  test('tells a wrong command line with 2, and what can not be asked with 1', async () => {
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
        'requests.txt:2: must be a method and a path'
      ],
      [['--target', url, '--seed', 'default', '--har', file], 1, 'is no HAR'],
      [between(nowhere, { url }), 1, 'http://127.0.0.1:9: no answer'],
      [
        ['--target', url, '--against', url, '--against-key', 'wrong-key'],
        1,
        '/_mock/workflows answers 401'
      ]
    ] as const) {
      expect(await compare(...args)).toMatchObject({
        code,
        stderr: expect.stringContaining(message)
      })
    }
  })
})
