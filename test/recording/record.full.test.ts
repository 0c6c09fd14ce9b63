import { readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { attempt } from '../../src/core/errors.js'
import type { SeedEnvironment } from '../../src/seeds/format.js'
import { givenMock, givenOwnMock } from '../support/mock.js'
import { givenFolder, runCommand, spawnCommand } from '../support/process.js'
import { answersOf, givenProxy, recordFrom } from './target.js'

const DEVELOPMENT = { authorization: 'ApiKey development-key' }

async function stepsOf(url: string): Promise<string[]> {
  const { environments } = (await (
    await fetch(`${url}/_mock/state`, { headers: { ...DEVELOPMENT, accept: 'application/json' } })
  ).json()) as { environments: [SeedEnvironment] }
  const [{ workflows }] = environments
  return (workflows ?? []).flatMap(({ _id, steps = [] }) =>
    steps.map((step) => `/v2/workflows/${_id}/steps/${step._id}`)
  )
}

/** The steps at these paths, as `--step` names them. */
function namedIn(paths: readonly string[]) {
  return paths.map((path) => path.split('/')).map(([, , , workflow = '', , step = '']) => ({ workflow, step }))
}

/** Whether it asks for a page of messages, and not for the newest alone. */
function isPage(path = ''): boolean {
  return /\/messages\?page=\d+&limit=([2-9]|\d\d+)$/.test(path)
}

const idOf = ({ _id }: { _id?: string }) => _id

function environmentIn(file: string): Required<SeedEnvironment> {
  return parse(readFileSync(file, 'utf8'), { maxAliasCount: -1 }).environments[0]
}

describe('a recorded seed', () => {
  test.each(['default', 'failures', 'steps', 'two-tenants', 'unicode', 'many-pages'])(
    'gives the answers of %s, byte for byte, in both profiles',
    async (name) => {
      for (const profile of ['document', 'live'] as const) {
        const source = await givenMock({ seeds: [name], profile })
        const out = join(givenFolder(), 'seed.yaml')
        const steps = await stepsOf(source.url)
        const named = namedIn(steps)
        const recording = await recordFrom(source.url, out, { keepPersonalData: true, steps: named })
        expect(recording).toMatchObject({ profile, steps: steps.length, assumptions: {} })
        const copy = await givenMock({ seeds: [out] })
        const expected = (await answersOf(source.url, 'development-key', steps)).map(withoutWebhooks)
        expect((await answersOf(copy.url, 'recorded-key', steps)).map(withoutWebhooks)).toEqual(expected)
      }
    }
  )

  test('of 10,000 messages gives the same pages and steps, byte for byte', async () => {
    const environments = [
      { ...environmentOf('default'), generate: { messages: 10_000, subscribers: 500, randomSeed: 7 } }
    ]
    const source = await givenOwnMock({ seed: { environments }, profile: 'live' })
    const out = join(givenFolder(), 'seed.json')
    const steps = await stepsOf(source.url)
    const named = namedIn(steps)
    const recording = await recordFrom(source.url, out, { keepPersonalData: true, pageSize: 500, steps: named })
    expect(recording.messages).toBeGreaterThan(10_000)
    const copy = await givenOwnMock({ seeds: [recording.file] })
    const expected = (await answersOf(source.url, 'development-key', steps, 1000)).map(withoutWebhooks)
    expect((await answersOf(copy.url, 'recorded-key', steps, 1000)).map(withoutWebhooks)).toEqual(expected)
  }, 300_000)

  test('with other personal data has the same shapes, counts and filters', async () => {
    const source = await givenMock({ seeds: ['everything'] })
    const out = join(givenFolder(), 'seed.yaml')
    await recordFrom(source.url, out)
    const copy = await givenMock({ seeds: [out] })
    const listed = async (url: string, key: string, query: string) => {
      const response = await fetch(`${url}/v1/messages?limit=1000${query}`, {
        headers: { authorization: `ApiKey ${key}` }
      })
      return (await response.json()) as { totalCount: number; data: Record<string, unknown>[] }
    }
    const [all, own] = [await listed(source.url, 'development-key', ''), await listed(copy.url, 'recorded-key', '')]
    expect(own.data.map(shapeOf)).toEqual(all.data.map(shapeOf))
    for (const channel of ['in_app', 'email', 'sms', 'chat', 'push']) {
      const query = `&channel=${channel}`
      const expected = await listed(source.url, 'development-key', query)
      const found = await listed(copy.url, 'recorded-key', query)
      expect(found.data.map(({ _id }) => _id)).toEqual(expected.data.map(({ _id }) => _id))
    }
    // Each filter finds the same messages by the replaced value that messages have.
    for (const [index, { subscriber, transactionId }] of all.data.entries()) {
      const replaced = own.data[index] as (typeof all.data)[0]
      const queries = [`transactionId=${transactionId}`, `transactionId=${replaced.transactionId}`]
      const ids = (page: typeof all) => page.data.map(({ _id }) => _id)
      expect(ids(await listed(copy.url, 'recorded-key', `&${queries[1]}`))).toEqual(
        ids(await listed(source.url, 'development-key', `&${queries[0]}`))
      )
      if (!subscriber) continue
      const subscriberIdOf = (value: unknown) => encodeURIComponent((value as { subscriberId: string }).subscriberId)
      expect(
        ids(await listed(copy.url, 'recorded-key', `&subscriberId=${subscriberIdOf(replaced.subscriber)}`))
      ).toEqual(ids(await listed(source.url, 'development-key', `&subscriberId=${subscriberIdOf(subscriber)}`)))
    }
  })

  test('has the positions that its source was seen to take, and no others', async () => {
    const assumptions = {
      envelope: 'data',
      'unknown-step': 'bad-request',
      'unknown-workflow': 'with-facts',
      'paging-bounds': 'lenient',
      'unserved-route': 'not-found',
      'auth-scheme-case': 'exact'
    }
    const source = await givenMock({ assumptions })
    // A content that names the deployed service's provider is not a spelling of it.
    await source.post('/_mock/messages', { body: JSON.stringify({ channel: 'sms', content: '"novu-slack"' }) })
    const recording = await recordFrom(source.url, join(givenFolder(), 'seed.yaml'))
    expect(recording).toMatchObject({ profile: 'document', assumptions })
    expect(Object.keys(recording.assumptions).sort()).toEqual(Object.keys(assumptions).sort())
    expect(recording.differences.join()).not.toContain('unknown-step')
  })

  test('is the same bytes when it is recorded again', async () => {
    const source = await givenMock({})
    const folder = givenFolder()
    await recordFrom(source.url, join(folder, 'one.yaml'))
    await recordFrom(source.url, join(folder, 'two.yaml'))
    expect(readFileSync(join(folder, 'two.yaml'), 'utf8')).toBe(readFileSync(join(folder, 'one.yaml'), 'utf8'))
  })
})

/** Addresses of webhooks and tokens of devices are credentials, which are always replaced. */
function withoutWebhooks(text: string): string {
  return text
    .replaceAll(/("(?:directW|w)ebhookUrl":)"[^"]*"/g, '$1""')
    .replaceAll(/("deviceTokens":)\[[^\]]*\]/g, '$1[]')
    .replaceAll(/("credentials":)\{[^{}]*\}/g, '$1{}')
}

function environmentOf(seed: string): SeedEnvironment {
  const { environments } = parse(readFileSync(join(import.meta.dirname, `../../seeds/${seed}.yaml`), 'utf8'))
  return environments[0]
}

/** The names of fields, and the types of their values. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf)
  if (typeof value !== 'object' || value === null) return value === null ? null : typeof value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, shapeOf(each)]))
}

const MARK = 'qzmarkerzq'
const PHONE = '+49 170 90817263'

/** Fields whose values are ids, times or words of the contract, or names that programs use. */
const UNMARKED =
  /^(_.*|createdAt|updatedAt|deletedAt|deletedBy|deliveredAt|last.*|snoozedUntil|channel|status|type|identifier|providerId|integrationIdentifier|templateIdentifier|workflow|stepId|uuid|component|group|origin|issueType|operator|on|unit|backoffUnit|atTime|weekDays|monthDays|ordinal|ordinalValue|monthlyType|textAlign|field|variableName|delayPath|digestKey|variables|subscriberVariables|apiKeys|profile|format|required|enum|const|pattern|\$schema|\$ref|errorId|slug)$/

/** Puts the mark into every other text, in as many ways as there are texts. */
function marked(value: unknown, field = '', counter = { at: 0 }): unknown {
  if (typeof value === 'string') {
    if (UNMARKED.test(field) || /^(AND|OR)$/.test(value)) return value
    if (field === 'contextKeys') return `${value}-${MARK}`
    if (/email/i.test(field)) return `ada.${MARK}@${MARK}.example`
    if (field === 'phone') return PHONE
    const ways = [
      `${value} ${MARK}`,
      `<p class="${MARK}" title='${MARK}'>${value} ${MARK.toUpperCase()}</p><!-- ${MARK} -->`,
      `https://${MARK}.example/${MARK}?${MARK}=${MARK}`,
      `${value} ${MARK}.${MARK}@${MARK}.example, ${PHONE}`,
      `<style>.${MARK} { color: red }</style><a href="https://x.example/${MARK}" style="background: url(${MARK})">${MARK}</a>`,
      `<${MARK} ${MARK}=${MARK}> 1 <${MARK} 2`,
      `{{ payload.name | default: '${MARK}' }} ${MARK}`
    ]
    return ways[counter.at++ % ways.length]
  }
  if (Array.isArray(value)) return value.map((each) => marked(each, field, counter))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, marked(each, name, counter)]))
}

test('a recorded seed has none of the names, addresses, contents, credentials and keys of its source', async () => {
  const plain = await givenMock({ seeds: ['everything'] })
  const state = (await (
    await fetch(`${plain.url}/_mock/state`, { headers: { ...DEVELOPMENT, accept: 'application/json' } })
  ).json()) as { environments: Required<SeedEnvironment>[] }
  const { subscribers, workflows, messages } = state.environments[0] as Required<SeedEnvironment>
  const seed = {
    environments: [
      {
        name: 'Source',
        apiKeys: [`key-${MARK}`],
        subscribers: subscribers.map((each) => ({
          ...(marked(each) as object),
          subscriberId: `${MARK}-${each.subscriberId}@x.example`
        })),
        workflows: workflows.map((each) => ({
          ...each,
          steps: each.steps?.map((step) => ({
            ...(marked(step) as object),
            controlValues: {
              ...(marked(step.controlValues ?? {}) as object),
              tel: Number(PHONE.replaceAll(/\D/g, ''))
            },
            issues: step.issues ?? { controls: {} }
          }))
        })),
        messages: messages.map((each) => ({
          ...(marked(each) as object),
          payload: { name: MARK, token: MARK, [`${MARK} x`]: MARK, list: [{ phone: PHONE }] }
        }))
      }
    ]
  }
  const source = await givenOwnMock({ seed: JSON.stringify(seed) })
  const folder = givenFolder()
  const out = join(folder, 'seed.yaml')
  const steps = (workflows ?? []).flatMap(({ identifier = '', steps: all = [] }) =>
    all.map(({ stepId = '' }) => ({ workflow: identifier, step: stepId }))
  )
  const recording = await recordFrom(source.url, out, { apiKey: `key-${MARK}`, steps })
  expect(recording).toMatchObject({ messages: messages.length, steps: steps.length })
  const text = readFileSync(out, 'utf8')
  expect(text.match(new RegExp(`.*${MARK}.*`, 'gi')) ?? []).toEqual([])
  expect(text).not.toContain('90817263')
  // It is a seed.
  await givenOwnMock({ seeds: [out] })
})

describe('record', () => {
  test('survives 429, 503, resets, broken JSON and pages of a proxy', async () => {
    const source = await givenMock({ seeds: ['many-pages'] })
    const folder = givenFolder()
    const pageSize = 25
    await recordFrom(source.url, join(folder, 'quiet.yaml'), { pageSize })
    const ways = [
      { status: 429, headers: { 'retry-after': '0' }, body: '{"statusCode":429}' },
      { status: 503, headers: {}, body: '<h1>Unavailable</h1>' },
      { status: 200, headers: {}, body: '<html>Log in to the network</html>' },
      { status: 200, headers: {}, body: '{"data": [{"_id": "6' },
      { status: 200, headers: {}, body: '{"ok": true}' }
    ]
    let at = 0
    const retries: string[] = []
    const proxy = await givenProxy(source.url, (request, response, asked) => {
      if (asked > 1) return false
      const way = ways[at++ % (ways.length + 1)]
      if (way) response.writeHead(way.status, way.headers).end(way.body)
      else request.socket.resetAndDestroy()
      return true
    })
    const onRetry = (reason: string) => void retries.push(reason)
    await recordFrom(proxy.url, join(folder, 'disturbed.yaml'), { pageSize, onRetry })
    expect(environmentIn(join(folder, 'disturbed.yaml'))).toEqual(environmentIn(join(folder, 'quiet.yaml')))
    expect(retries.join('\n')).toMatch(/answers 429[\s\S]*answers 503[\s\S]*no JSON/)
  })

  test('has neither doubles nor gaps when messages come in while it reads', async () => {
    const source = await givenOwnMock({ seeds: ['many-pages'] })
    let added = 0
    const proxy = await givenProxy(source.url, async (request) => {
      if (!isPage(request.url) || added >= 25) return false
      for (let each = 0; each < 3; each++, added++) {
        const body = JSON.stringify({
          channel: 'sms',
          content: `Late ${added}`,
          createdAt: new Date(Date.UTC(2030, 0, 1) + added * 1000).toISOString()
        })
        await source.post('/_mock/messages', { body, headers: { 'content-type': 'application/json' } })
      }
      return false
    })
    const out = join(givenFolder(), 'seed.yaml')
    await recordFrom(proxy.url, out)
    const { json } = await source.get('/v1/messages?limit=1000')
    expect(added).toBeGreaterThan(24)
    expect(environmentIn(out).messages.map(({ _id }) => _id)).toEqual(json.data.map(({ _id }: { _id: string }) => _id))
  })

  test('has no gaps when messages are removed while it reads, more than a page has too', async () => {
    const source = await givenOwnMock({ seeds: ['many-pages'] })
    const newest = (await source.get('/v1/messages?limit=100')).json.data.map(({ _id }: { _id: string }) => _id)
    let pages = 0
    const proxy = await givenProxy(source.url, async ({ url = '' }) => {
      if (!isPage(url)) return false
      pages++
      const removed = pages === 3 ? newest.splice(0, 7) : pages === 6 ? newest.splice(0, 45) : []
      for (const id of removed) await source.call(`/_mock/messages/${id}`, { method: 'DELETE' })
      return false
    })
    const out = join(givenFolder(), 'seed.yaml')
    const recording = await recordFrom(proxy.url, out, { pageSize: 20 })
    const { json } = await source.get('/v1/messages?limit=1000')
    expect(json.data.length).toBe(137 - 7 - 45)
    const recorded = environmentIn(out).messages.map(({ _id }) => _id)
    expect(json.data.map(({ _id }: { _id: string }) => _id).filter((id: string) => !recorded.includes(id))).toEqual([])
    expect(recording.differences.join()).not.toMatch(/another place|some may be missing/)
  })

  test.each([1, 2, 3])('has no gaps when messages are removed while it reads, with pages of %d', async (pageSize) => {
    const sent = (index: number) => ({ channel: 'sms' as const, content: `Number ${index}` })
    const messages = Array.from({ length: 24 }, (_, index) => sent(index))
    const source = await givenOwnMock({ seed: { environments: [{ name: 'Source', apiKeys: ['key'], messages }] } })
    const idsOf = async () => (await source.get('/v1/messages?limit=24', { key: 'key' })).json.data.map(idOf)
    const newest = await idsOf()
    let asked = 0
    const proxy = await givenProxy(source.url, async ({ url = '' }) => {
      if (!/page=[1-9]/.test(url)) return false
      asked += 1
      const removed = [4, 5, 8].includes(asked) ? newest.splice(0, 1) : []
      for (const id of removed) await source.call(`/_mock/messages/${id}`, { key: 'key', method: 'DELETE' })
      return false
    })
    const out = join(givenFolder(), 'seed.yaml')
    await recordFrom(proxy.url, out, { apiKey: 'key', pageSize })
    const left = await idsOf()
    expect(left).toHaveLength(24 - 3)
    expect(environmentIn(out).messages.map(idOf)).toEqual(expect.arrayContaining(left))
  })

  async function addTo(source: Awaited<ReturnType<typeof givenOwnMock>>, from: number, count: number): Promise<void> {
    for (let at = from; at < from + count; at++) {
      const createdAt = new Date(Date.UTC(2030, 0, 1) + at * 1000).toISOString()
      const body = JSON.stringify({ channel: 'sms', content: `Late ${at}`, createdAt })
      await source.post('/_mock/messages', { body, headers: { 'content-type': 'application/json' } })
    }
  }

  test('has no gaps when messages come in while it reads a second time', async () => {
    const source = await givenOwnMock({ seeds: ['many-pages'] })
    let pages = 0
    const proxy = await givenProxy(source.url, async ({ url = '' }) => {
      if (isPage(url)) pages += 1
      if (isPage(url) && pages === 6) await addTo(source, 0, 25)
      if (isPage(url) && pages === 20) await addTo(source, 25, 1)
      return false
    })
    expect(await recordFrom(proxy.url, join(givenFolder(), 'seed.yaml'))).toMatchObject({ messages: 137 + 26 })
    expect(pages).toBeGreaterThan(20)
  })

  test('goes on when as many messages as a page has come in between two pages', async () => {
    const source = await givenOwnMock({ seeds: ['many-pages'] })
    let pages = 0
    const growing = await givenProxy(source.url, async ({ url = '' }) => {
      if (isPage(url) && ++pages === 3) await addTo(source, 0, 25)
      return false
    })
    const out = join(givenFolder(), 'seed.yaml')
    expect(await recordFrom(growing.url, out, { pageSize: 25 })).toMatchObject({ messages: 137 + 25 })
  })

  test.each([1, 25])(
    'ends at the second page of a target whose pages are all the same, of %d messages',
    async (limit) => {
      const source = await givenMock({ seeds: ['many-pages'] })
      let pages = 0
      const stuck = await givenProxy(source.url, async ({ url = '' }, response) => {
        if (!/\/messages\?page=\d+&limit=25/.test(url)) return false
        pages += 1
        const answer = await source.get(`/v1/messages?page=0&limit=${limit}`)
        response.writeHead(200, { 'content-type': 'application/json' }).end(answer.text)
        return true
      })
      const out = join(givenFolder(), 'seed.yaml')
      await expect(recordFrom(stuck.url, out, { pageSize: 25 })).rejects.toThrow(
        'page 1 of the target has only messages'
      )
      expect(pages).toBe(3)
    }
  )

  /** Records one message with other fields than it has in the seed. */
  async function recordOne(fields: string) {
    const source = await givenMock({})
    const { json } = await source.get('/v1/messages?limit=1')
    const text = `{"data":[${JSON.stringify(json.data[0]).replace(/\}$/, fields)}],"page":0,"pageSize":1,"hasMore":false}`
    const proxy = await givenProxy(source.url, ({ url = '' }, response) => {
      if (!isPage(url)) return false
      response.writeHead(200, { 'content-type': 'application/json' }).end(text)
      return true
    })
    return recordFrom(proxy.url, join(givenFolder(), 'seed.yaml'))
  }

  test('leaves out a message that is nested 5,000 deep, and says so', async () => {
    const recording = await recordOne(`,"payload":{"a":${'['.repeat(5000)}${']'.repeat(5000)}}}`)
    expect(recording).toMatchObject({ messages: 0 })
    expect(recording.differences.join()).toContain('a message is left out, as it is nested more than 100 deep')
  })

  test('leaves out what the contract does not have, and says so', async () => {
    const recording = await recordOne(',"tenant":"acme","lastSeenDate":"yesterday","status":"lost"}')
    expect(recording.differences.join()).toMatch(
      /message\.lastSeenDate is no time in ISO 8601: left out.*message\.tenant is not in the contract: left out/
    )
  })

  test('leaves out an error where the status is sent, which no seed may have', async () => {
    const recording = await recordOne(',"errorText":"Not sent","status":"sent"}')
    expect(recording).toMatchObject({ messages: 1 })
    expect(recording.differences.join()).toContain('errorText are left out where the status is sent')
  })

  test('writes through no link', async () => {
    const source = await givenMock({})
    const folder = givenFolder()
    writeFileSync(join(folder, 'mine.txt'), 'mine')
    symlinkSync(join(folder, 'mine.txt'), join(folder, 'seed.yaml'))
    await expect(recordFrom(source.url, join(folder, 'seed.yaml'))).rejects.toThrow('is no regular file')
    expect(readFileSync(join(folder, 'mine.txt'), 'utf8')).toBe('mine')
  })

  test('reads a target behind a gateway that answers unknown paths with HTML', async () => {
    const source = await givenMock({})
    const proxy = await givenProxy(source.url, async (request, response) => {
      const answer = await fetch(source.url + request.url, { headers: DEVELOPMENT })
      if (answer.status < 400) return false
      response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Not found</h1>')
      return true
    })
    const out = join(givenFolder(), 'seed.yaml')
    const steps = [{ workflow: 'unknown', step: 'unknown' }]
    const retries: string[] = []
    const recording = await recordFrom(proxy.url, out, { steps, onRetry: (reason) => void retries.push(reason) })
    expect(recording.differences.join()).toMatch(/unserved-route.*not to be seen by reading/)
    expect(recording.assumptions).toEqual({})
    expect(retries.filter((reason) => reason.includes('/steps/unknown'))).toEqual([])
  })

  test.skipIf(process.platform === 'win32')('only its owner can read a seed with personal data', async () => {
    const source = await givenMock({})
    const out = join(givenFolder(), 'seed.yaml')
    await recordFrom(source.url, out, { keepPersonalData: true })
    expect(statSync(out).mode & 0o777).toBe(0o600)
  })

  test('--messages tells and writes so many, also when pages end elsewhere', async () => {
    const source = await givenMock({ seeds: ['many-pages'] })
    const out = join(givenFolder(), 'seed.yaml')
    const told: number[] = []
    const options = { pageSize: 20, maximum: 30, onProgress: (count: number) => void told.push(count) }
    expect(await recordFrom(source.url, out, options)).toMatchObject({ messages: 30 })
    expect(told.slice(0, 2)).toEqual([20, 30])
    expect(readFileSync(out, 'utf8')).toMatch(/: 30 messages,/)
    expect(environmentIn(out).messages).toHaveLength(30)
  })

  test('tells a wrong key, a server that is none, and a file that has no name of a seed', async () => {
    const source = await givenMock({})
    const cwd = givenFolder()
    const run = (...args: string[]) => runCommand(['record', '--from', source.url, ...args], { cwd })
    expect(await run('--api-key', 'wrong-key', '--out', 'seed.yaml')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('refuses the key with 401')
    })
    expect(await run('--api-key', 'development-key', '--out', 'seed.txt')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--out must end in .yaml or .json')
    })
    expect(await run('--out', 'seed.yaml')).toMatchObject({ code: 2 })
    expect(readdirSync(cwd)).toEqual([])
  })
})

/** `RECORDED_MESSAGES` sets another number. */
const COUNT = Number(process.env.RECORDED_MESSAGES ?? 100_000)
const MAX_MEMORY = 300

/** What Linux says a process has had in memory at most, in MiB. */
function peakMemory(pid: number | undefined): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024
}

test.skipIf(process.platform !== 'linux')(
  `record of ${COUNT} messages takes less than ${MAX_MEMORY} MiB`,
  async () => {
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
    const server = createServer((request, response) => {
      const query = new URL(request.url ?? '', 'http://x').searchParams
      const [page, limit] = [Number(query.get('page')), Number(query.get('limit') ?? 10)]
      const data = Array.from({ length: Math.max(0, Math.min(limit, COUNT - page * limit)) }, (_, at) =>
        message(page * limit + at)
      )
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ hasMore: (page + 1) * limit < COUNT, data, pageSize: limit, page }))
    })
    await new Promise<void>((settle) => server.listen(0, '127.0.0.1', settle))
    onTestFinished(() => void server.close())
    const cwd = givenFolder()
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { child, ended } = await spawnCommand(
      ['record', '--from', url, '--api-key', 'development-key', '--out', 'seed.json', '--json'].concat([
        '--page-size',
        '500',
        '--rate',
        '10000',
        '--messages',
        String(COUNT)
      ]),
      { cwd }
    )
    let peak = 0
    const timer = setInterval(() => {
      peak = Math.max(peak, attempt(() => peakMemory(child.pid)) ?? 0)
    }, 50)
    const { code, stdout, stderr } = await ended
    clearInterval(timer)
    expect(code, stderr).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ messages: COUNT, subscribers: 5000 })
    expect(peak).toBeGreaterThan(50)
    expect(peak).toBeLessThan(MAX_MEMORY)
    const copy = await givenOwnMock({ seeds: [join(cwd, 'seed.json')] })
    const { json } = await copy.get(`/v1/messages?limit=1&page=${COUNT - 1}`, { key: 'recorded-key' })
    expect(json).toMatchObject({ data: [{ _id: id(1) }] })
  },
  600_000
)
