import { readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import type { SeedEnvironment } from '../../../src/seeds/format.js'
import { useMock, useNewMock } from '../../support/mock.js'
import { createTempFolder, runCommand, spawnCommand } from '../../support/process.js'
import { listen } from '../listen.js'
import { recordFrom, responsesOf, startDisturbedProxy } from './recording-target.js'

const DEVELOPMENT = { authorization: 'ApiKey development-key' }

/** Returns the ids of a server's steps, and the paths of the requests that retrieve them. */
async function stepsOf(url: string) {
  const response = await fetch(`${url}/_mock/state`, {
    headers: { ...DEVELOPMENT, accept: 'application/json' }
  })
  const [{ workflows = [] }] = ((await response.json()) as { environments: [SeedEnvironment] })
    .environments
  const steps = workflows.flatMap(({ _id: workflow = '', steps: all = [] }) =>
    all.map(({ _id: step = '' }) => ({ workflow, step }))
  )
  return {
    steps,
    paths: steps.map(({ workflow, step }) => `/v2/workflows/${workflow}/steps/${step}`)
  }
}

/** Returns whether a path requests a page of messages with a limit above 1. */
function isPage(path = ''): boolean {
  return /\/messages\?page=\d+&limit=([2-9]|\d\d+)$/.test(path)
}

const idOf = ({ _id }: { _id?: unknown }) => _id

function environmentIn(file: string): Required<SeedEnvironment> {
  return parse(readFileSync(file, 'utf8'), { maxAliasCount: -1 }).environments[0]
}

describe('a recorded seed', () => {
  test.each(['default', 'failures', 'steps', 'two-tenants', 'unicode', 'many-pages'])(
    'returns the same responses as the seed %s, byte for byte, in both profiles',
    async (name) => {
      for (const profile of ['document', 'live'] as const) {
        const source = await useMock({ seeds: [name], profile })
        const recording = await expectSameResponses(source.url)
        expect(recording).toMatchObject({ profile, assumptions: {} })
      }
    }
  )

  test('returns the same pages and steps, byte for byte, if it has 3,000 messages', async () => {
    const generate = { messages: 3000, subscribers: 150, randomSeed: 7 }
    const environments = [{ ...environmentIn('seeds/default.yaml'), generate }]
    const source = await useNewMock({ seed: { environments }, profile: 'live' })
    expect((await expectSameResponses(source.url, 'seed.json', 500)).messages).toBeGreaterThan(3000)
  }, 300_000)

  /** Records a server, and expects the same responses from a mock with the recorded seed. */
  async function expectSameResponses(url: string, file = 'seed.yaml', pageSize = 10) {
    const out = join(createTempFolder(), file)
    const { steps, paths } = await stepsOf(url)
    const recording = await recordFrom(url, out, { keepPersonalData: true, pageSize, steps })
    expect(recording.steps).toBe(steps.length)
    const copy = await useNewMock({ seeds: [out] })
    const expected = (await responsesOf(url, 'development-key', paths)).map(withoutWebhooks)
    expect((await responsesOf(copy.url, 'recorded-key', paths)).map(withoutWebhooks)).toEqual(
      expected
    )
    return recording
  }

  type Message = { _id: string; transactionId: string; subscriber?: { subscriberId: string } }

  /** Records a mock, without its personal data. Starts another mock with the recorded seed. */
  async function createCopy() {
    const source = await useMock({ seeds: ['everything'] })
    const out = join(createTempFolder(), 'seed.yaml')
    await recordFrom(source.url, out)
    const copy = await useMock({ seeds: [out] })
    const list = async (mock: typeof copy, key: string, filter: object): Promise<Message[]> => {
      const query = new URLSearchParams({ limit: '1000', ...filter })
      return (await mock.get(`/v1/messages?${query}`, { key })).json.data
    }
    return {
      listSource: (filter = {}) => list(source, 'development-key', filter),
      listCopy: (filter = {}) => list(copy, 'recorded-key', filter)
    }
  }

  test('has the same number and shape of messages if personal data is replaced', async () => {
    const { listSource, listCopy } = await createCopy()
    expect((await listCopy()).map(shapeOf)).toEqual((await listSource()).map(shapeOf))
  })

  test('has the same messages for each channel if personal data is replaced', async () => {
    const { listSource, listCopy } = await createCopy()
    for (const channel of ['in_app', 'email', 'sms', 'chat', 'push']) {
      const expected = (await listSource({ channel })).map(idOf)
      expect((await listCopy({ channel })).map(idOf)).toEqual(expected)
    }
  })

  test('has the same messages per transaction and subscriber if ids are replaced', async () => {
    const { listSource, listCopy } = await createCopy()
    const copies = await listCopy()
    for (const [index, original] of (await listSource()).entries()) {
      for (const filterOf of [transactionFilter, subscriberFilter]) {
        const filter = filterOf(original)
        const replaced = filterOf(copies[index])
        if (filter === undefined) continue
        const expected = (await listSource(filter)).map(idOf)
        expect((await listCopy(replaced)).map(idOf)).toEqual(expected)
      }
    }
  })

  const transactionFilter = (message?: Message) => ({ transactionId: message?.transactionId })
  const subscriberFilter = ({ subscriber }: Partial<Message> = {}) =>
    subscriber && { subscriberId: subscriber.subscriberId }

  test('sets exactly the assumptions whose values differ from the profile', async () => {
    const assumptions = {
      envelope: 'data',
      'unknown-step': 'bad-request',
      'unknown-workflow': 'with-facts',
      'paging-bounds': 'lenient',
      'unserved-route': 'not-found',
      'auth-scheme-case': 'exact'
    }
    const source = await useMock({ assumptions })
    // The recording must not mistake this message's content for a provider.
    await source.post('/_mock/messages', {
      body: JSON.stringify({ channel: 'sms', content: '"novu-slack"' })
    })
    const recording = await recordFrom(source.url, join(createTempFolder(), 'seed.yaml'))
    expect(recording).toMatchObject({ profile: 'document', assumptions })
    expect(Object.keys(recording.assumptions).sort()).toEqual(Object.keys(assumptions).sort())
    expect(recording.differences.join()).not.toContain('unknown-step')
  })

  test('has the same bytes as a second recording', async () => {
    const source = await useMock({})
    const folder = createTempFolder()
    await recordFrom(source.url, join(folder, 'one.yaml'))
    await recordFrom(source.url, join(folder, 'two.yaml'))
    expect(readFileSync(join(folder, 'two.yaml'), 'utf8')).toBe(
      readFileSync(join(folder, 'one.yaml'), 'utf8')
    )
  })
})

/** Removes webhook URLs, device tokens and credentials, which a recording always replaces. */
function withoutWebhooks(text: string): string {
  return text
    .replaceAll(/("(?:directW|w)ebhookUrl":)"[^"]*"/g, '$1""')
    .replaceAll(/("deviceTokens":)\[[^\]]*\]/g, '$1[]')
    .replaceAll(/("credentials":)\{[^{}]*\}/g, '$1{}')
}

/** Returns the shape of a value: its field names with the types of their values. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf)
  if (typeof value !== 'object' || value === null) return value === null ? null : typeof value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shapeOf(inner)]))
}

describe('record', () => {
  test('survives 429, 503, connection resets, broken JSON and HTML pages', async () => {
    const source = await useMock({ seeds: ['many-pages'] })
    const folder = createTempFolder()
    const pageSize = 25
    await recordFrom(source.url, join(folder, 'quiet.yaml'), { pageSize })
    const disturbances = [
      { status: 429, headers: { 'retry-after': '0' }, body: '{"statusCode":429}' },
      { status: 503, headers: {}, body: '<h1>Unavailable</h1>' },
      { status: 200, headers: {}, body: '<html>Log in to the network</html>' },
      { status: 200, headers: {}, body: '{"data": [{"_id": "6' },
      { status: 200, headers: {}, body: '{"ok": true}' }
    ]
    let requests = 0
    const retries: string[] = []
    const proxy = await startDisturbedProxy(source.url, (request, response, count) => {
      if (count > 1) return false
      const disturbance = disturbances[requests++ % (disturbances.length + 1)]
      if (disturbance)
        response.writeHead(disturbance.status, disturbance.headers).end(disturbance.body)
      else request.socket.resetAndDestroy()
      return true
    })
    const onRetry = (reason: string) => {
      retries.push(reason)
    }
    await recordFrom(proxy.url, join(folder, 'disturbed.yaml'), { pageSize, onRetry })
    expect(environmentIn(join(folder, 'disturbed.yaml'))).toEqual(
      environmentIn(join(folder, 'quiet.yaml'))
    )
    expect(retries.join('\n')).toMatch(
      /returned 429[\s\S]*returned 503[\s\S]*without a JSON object/
    )
  })

  test.each([
    [1, [1, 1, 1]],
    [3, [1, 1, 1]],
    [20, [7, 45, 3]]
  ])(
    'records every remaining message if some are removed during the recording (page size: %d)',
    async (pageSize, counts) => {
      const source = await useNewMock({ seeds: ['many-pages'] })
      const idsOf = async () => (await source.get('/v1/messages?limit=1000')).json.data.map(idOf)
      const newest = await idsOf()
      let pages = 0
      const proxy = await startDisturbedProxy(source.url, async ({ url = '' }) => {
        const removed =
          /page=[1-9]/.test(url) && [2, 4, 6].includes(++pages)
            ? newest.splice(0, counts.shift())
            : []
        for (const id of removed) await source.call(`/_mock/messages/${id}`, { method: 'DELETE' })
        return false
      })
      const out = join(createTempFolder(), 'seed.yaml')
      const recording = await recordFrom(proxy.url, out, { pageSize })
      expect(counts).toEqual([])
      expect(environmentIn(out).messages.map(idOf)).toEqual(expect.arrayContaining(await idsOf()))
      expect(recording.differences.join()).not.toContain('some may be missing')
    }
  )

  test('records each message once, even if messages arrive during the recording', async () => {
    const source = await useNewMock({ seeds: ['many-pages'] })
    let pages = 0
    let added = 0
    const proxy = await startDisturbedProxy(source.url, async ({ url = '' }) => {
      pages += isPage(url) ? 1 : 0
      const counts: Record<number, number> = { 2: 3, 3: 12, 4: 3, 5: 3, 20: 1 }
      for (const end = added + (isPage(url) ? (counts[pages] ?? 0) : 0); added < end; added++) {
        const createdAt = new Date(Date.UTC(2030, 0, 1) + added * 1000).toISOString()
        const body = JSON.stringify({ channel: 'sms', content: `Late ${added}`, createdAt })
        await source.post('/_mock/messages', {
          body,
          headers: { 'content-type': 'application/json' }
        })
      }
      return false
    })
    const out = join(createTempFolder(), 'seed.yaml')
    expect(await recordFrom(proxy.url, out)).toMatchObject({ messages: 137 + 22 })
    const { json } = await source.get('/v1/messages?limit=1000')
    expect(environmentIn(out).messages.map(idOf)).toEqual(json.data.map(idOf))
    expect(pages).toBeGreaterThan(20)
  })

  test.each([1, 25])(
    'stops if a target returns the same %d messages on every page',
    async (limit) => {
      const source = await useMock({ seeds: ['many-pages'] })
      let pages = 0
      const stuck = await startDisturbedProxy(source.url, async ({ url = '' }, response) => {
        if (!/\/messages\?page=\d+&limit=25/.test(url)) return false
        pages += 1
        const page = await source.get(`/v1/messages?page=0&limit=${limit}`)
        response.writeHead(200, { 'content-type': 'application/json' }).end(page.text)
        return true
      })
      const out = join(createTempFolder(), 'seed.yaml')
      await expect(recordFrom(stuck.url, out, { pageSize: 25 })).rejects.toThrow(
        'page 1 of the target only repeats messages'
      )
      expect(pages).toBe(3)
    }
  )

  /** Records one message whose JSON ends with `fields`, such as `,"a":1}`. */
  async function recordOne(fields: string) {
    const source = await useMock({})
    const { json } = await source.get('/v1/messages?limit=1')
    const message = JSON.stringify(json.data[0]).replace(/\}$/, fields)
    const text = `{"data":[${message}],"page":0,"pageSize":1,"hasMore":false}`
    const proxy = await startDisturbedProxy(source.url, ({ url = '' }, response) => {
      if (!isPage(url)) return false
      response.writeHead(200, { 'content-type': 'application/json' }).end(text)
      return true
    })
    return recordFrom(proxy.url, join(createTempFolder(), 'seed.yaml'))
  }

  test.each([
    [
      'a message that is nested 5,000 levels deep',
      `,"payload":{"a":${'['.repeat(5000)}${']'.repeat(5000)}}}`,
      /a message is left out: it is nested more than 100/
    ],
    [
      'fields that are not in the API reference',
      ',"tenant":"acme","lastSeenDate":"yesterday","status":"lost"}',
      new RegExp(
        'lastSeenDate is not an ISO 8601 timestamp: left out.*' +
          'message\\.tenant is not in the API reference: left out'
      )
    ],
    [
      'the error of a message with the status `sent`',
      ',"errorText":"Not sent","status":"sent"}',
      /errorText are left out if/
    ]
  ])('leaves out %s, and reports the difference', async (_, fields, difference) => {
    expect((await recordOne(fields)).differences.join()).toMatch(difference)
  })

  test('does not write through a symbolic link', async () => {
    const source = await useMock({})
    const folder = createTempFolder()
    writeFileSync(join(folder, 'mine.txt'), 'mine')
    symlinkSync(join(folder, 'mine.txt'), join(folder, 'seed.yaml'))
    await expect(recordFrom(source.url, join(folder, 'seed.yaml'))).rejects.toThrow(
      'it is a link or not a regular file; choose another file'
    )
    expect(readdirSync(folder).sort()).toEqual(['mine.txt', 'seed.yaml'])
    expect(readFileSync(join(folder, 'mine.txt'), 'utf8')).toBe('mine')
  })

  test('records a target behind a gateway that returns HTML for unknown paths', async () => {
    const source = await useMock({})
    const proxy = await startDisturbedProxy(source.url, async (request, response) => {
      const forwarded = await fetch(source.url + request.url, { headers: DEVELOPMENT })
      if (forwarded.status < 400) return false
      response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Not found</h1>')
      return true
    })
    const out = join(createTempFolder(), 'seed.yaml')
    const steps = [{ workflow: 'unknown', step: 'unknown' }]
    const retries: string[] = []
    const recording = await recordFrom(proxy.url, out, {
      steps,
      onRetry: (reason: string) => {
        retries.push(reason)
      }
    })
    expect(recording.differences.join()).toMatch(/could not be detected.*unserved-route/)
    expect(recording.assumptions).toEqual({})
    expect(retries.filter((reason) => reason.includes('/steps/unknown'))).toEqual([])
  })

  test.skipIf(process.platform === 'win32')(
    'only the owner can read a seed with personal data',
    async () => {
      const source = await useMock({})
      const out = join(createTempFolder(), 'seed.yaml')
      await recordFrom(source.url, out, { keepPersonalData: true })
      expect(statSync(out).mode & 0o777).toBe(0o600)
    }
  )

  test('--messages can end the recording in the middle of a page', async () => {
    const source = await useMock({ seeds: ['many-pages'] })
    const out = join(createTempFolder(), 'seed.yaml')
    const progress: number[] = []
    const options = {
      pageSize: 20,
      maximum: 30,
      onProgress(count: number) {
        progress.push(count)
      }
    }
    expect(await recordFrom(source.url, out, options)).toMatchObject({ messages: 30 })
    expect(progress.slice(0, 2)).toEqual([20, 30])
    expect(readFileSync(out, 'utf8')).toMatch(/: 30 messages,/)
    expect(environmentIn(out).messages).toHaveLength(30)
  })

  test('rejects a wrong key, a missing key and a wrong file extension', async () => {
    const source = await useMock({})
    const cwd = createTempFolder()
    const run = (...args: string[]) =>
      runCommand(['record', '--from', source.url, ...args], { cwd })
    for (const [args, code, message] of [
      [['--api-key', 'wrong-key', '--out', 'seed.yaml'], 1, 'rejects the key with 401'],
      [
        ['--api-key', 'development-key', '--out', 'seed.txt'],
        2,
        '--out must end in .yaml or .json'
      ],
      [['--out', 'seed.yaml'], 2, '--api-key']
    ] as const) {
      expect(await run(...args)).toMatchObject({ code, stderr: expect.stringContaining(message) })
    }
    expect(readdirSync(cwd)).toEqual([])
  })
})

/** The number of messages to record. Set `RECORDED_MESSAGES` to change it. */
const COUNT = Number(process.env.RECORDED_MESSAGES ?? 25_000)
const MAX_MEMORY = 180

/** Returns the peak memory of a process in MiB, or 0 if it has ended. Only works on Linux. */
function peakMemory(pid: number | undefined): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1024
  } catch {
    return 0
  }
}

const id = (number: number) => `6${number.toString(16).padStart(23, '0')}`

const owner = { _organizationId: id(2), _environmentId: id(1) }
const message = (number: number) => ({
  _id: id(COUNT - number),
  ...owner,
  _notificationId: id(3),
  _subscriberId: id(number % 5000),
  subscriber: {
    _id: id(number % 5000),
    subscriberId: `user-${number % 5000}`,
    firstName: 'Ada',
    ...owner,
    deleted: false,
    createdAt: '2026-01-01T00:00:00.000Z',
    updatedAt: '2026-01-01T00:00:00.000Z'
  },
  createdAt: new Date(Date.UTC(2026, 0, 1) - number * 1000).toISOString(),
  transactionId: `t-${number}`,
  channel: 'email',
  read: false,
  seen: false,
  cta: {},
  status: 'sent',
  content: `Order ${number} `.repeat(6)
})

/** Starts a service that lists `COUNT` messages. */
function startLargeService() {
  return listen((request, response) => {
    const query = new URL(request.url ?? '', 'http://x').searchParams
    const page = Number(query.get('page'))
    const limit = Number(query.get('limit') ?? 10)
    const length = Math.max(0, Math.min(limit, COUNT - page * limit))
    const data = Array.from({ length }, (_, at) => message(page * limit + at))
    const body = { hasMore: (page + 1) * limit < COUNT, data, pageSize: limit, page }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
}

test.skipIf(process.platform !== 'linux')(
  `recording ${COUNT} messages takes less than ${MAX_MEMORY} MiB of memory`,
  async () => {
    await using server = await startLargeService()
    const cwd = createTempFolder()
    const flags = [
      '--from',
      server.url,
      '--api-key',
      'development-key',
      '--out',
      'seed.json',
      '--json'
    ]
    const fast = ['--page-size', '500', '--rate', '10000', '--messages', String(COUNT)]
    const { child, ended } = await spawnCommand(['record', ...flags, ...fast], { cwd })
    let peak = 0
    const timer = setInterval(() => {
      peak = Math.max(peak, peakMemory(child.pid))
    }, 50)
    const { code, stdout, stderr } = await ended
    clearInterval(timer)
    expect(code, stderr).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ messages: COUNT, subscribers: 5000 })
    expect(peak).toBeGreaterThan(50)
    expect(peak).toBeLessThan(MAX_MEMORY)
    const copy = await useNewMock({ seeds: [join(cwd, 'seed.json')] })
    const { json } = await copy.get(`/v1/messages?limit=1&page=${COUNT - 1}`, {
      key: 'recorded-key'
    })
    expect(json).toMatchObject({ data: [{ _id: id(1) }] })
  },
  600_000
)
