import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { Agent, type ClientRequest, get, type IncomingMessage } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { type Browser, chromium, type Page } from '@playwright/test'
import { BENCH, givenSeed } from './data.js'
import type { Context, Measure, Outcome } from './outcome.js'
import { watchPage } from './page.js'
import { authorization, mock, type Running, start } from './processes.js'
import { inRounds, loadCells, ratioCells } from './throughput.js'

const CHROMIUM = '/usr/bin/chromium'
/** Of which each has one load of either kind: the difference is smaller than what one pair can tell. */
const ROUNDS = 25

export const inspector: Measure = {
  name: 'inspector',
  question: 'What does the inspector cost while it is open, and does it stay usable?',
  method: `A server with 100 messages in memory, the list of 10 at 10 connections, 2 s each in turn: with nobody who looks
    on, and with somebody. First its stream is read as the page reads it, by this process; then the inspector is open in
    Chromium, at its requests or at an empty page. Chromium shares a core with the load, and two busy cores slow down each
    other (a loop that does nothing on the other core makes a request cost 8 % more here), so the first tells what looking
    on costs the server, "by CPU". One server for both, as two of the same build differ by more. Then 10,000 requests, 500
    a second: how many the server answers of them, the page's tasks of over 50 ms, by the browser's own count, and its
    heap after a collection of garbage, after 2,000 of the requests and after all.`,
  minutes: 5,
  run
}

async function run({ quick, say }: Context): Promise<Outcome> {
  const outcome: Outcome = { tables: [], figures: {}, skipped: [] }
  const server = await start(mock(['--seed', givenSeed()], BENCH.apiKey))
  const wanted = { method: 'GET' as const, paths: [BENCH.list] as [string], headers, connections: 10, seconds: 2 }
  const compare = async (title: string, prepare: (isWatched: boolean) => Promise<unknown>) => {
    const onRound = (round: string) => say(`the list, ${title}, ${round}`)
    const load = quick ? { ...wanted, seconds: 1 } : wanted
    const rounds = await inRounds([server, server], load, quick ? 1 : ROUNDS, onRound, undefined, async (index) => {
      await prepare(index === 1)
    })
    outcome.tables.push({
      title: `list of 10 at full load, ${title}`,
      columns: ['server', 'requests/s', 'p50 ms', 'p99 ms', 'CPU µs', 'busy', 'first / this', 'by CPU'],
      rows: rounds.map((loaded, index) => [
        ['nobody looks on', title][index] ?? '',
        ...loadCells(loaded),
        ...ratioCells(rounds, index)
      ])
    })
    const byCpu = ratioCells(rounds, 1)[1]
    return typeof byCpu === 'number' ? 1 / byCpu : Number.NaN
  }
  let browser: Browser | undefined
  try {
    outcome.figures['cpu.of-without'] = await compare('its stream is read', createReader(server))
    if (!existsSync(CHROMIUM)) {
      outcome.skipped.push({ what: 'the page', why: `there is no ${CHROMIUM}` })
      return outcome
    }
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] })
    const page = await browser.newPage()
    await compare('the page is open', (isWatched) =>
      isWatched ? openRequests(page, server) : page.goto('about:blank')
    )
    await page.close()
    say('500 requests a second')
    const fresh = await browser.newPage()
    await openRequests(fresh, server)
    await steadily(fresh, server, quick ? 1000 : 10_000, outcome)
  } finally {
    await browser?.close()
    await server.stop()
  }
  return outcome
}

const headers = authorization(BENCH.apiKey)

/** Returns a function that reads the stream at the rate that the page asks for, or no longer. */
function createReader({ url }: Running): (isWanted: boolean) => Promise<void> {
  let reading: ClientRequest | undefined
  return async (isWanted) => {
    reading?.destroy()
    if (!isWanted) return
    // Not by `fetch`, which takes more from the load, with which it shares a core.
    reading = get(`${url}/_mock/requests/stream?rate=600`, { headers })
    const [answer] = (await once(reading, 'response')) as [IncomingMessage]
    answer.on('error', () => {}).resume()
  }
}

async function openRequests(page: Page, { url }: Running): Promise<void> {
  await page.goto(`${url}/#/requests`)
  await page.getByRole('heading', { name: 'Requests', exact: true }).waitFor()
}

/** Sends so many requests, 500 a second, and notes what became of the page. */
async function steadily(page: Page, { url }: Running, count: number, outcome: Outcome): Promise<void> {
  const watched = await watchPage(page)
  const heap = async () => (await watched.heap()) / 2 ** 20
  const early = count / 5
  await send(url, early)
  const before = await heap()
  const startedAt = performance.now()
  await send(url, count - early)
  const seconds = (performance.now() - startedAt) / 1000
  const after = await heap()
  const tasks = await watched.longTasks()
  const longest = Math.max(0, ...tasks)
  outcome.tables.push({
    title: `${count.toLocaleString('en')} requests, 500 a second`,
    columns: ['what', 'value', 'unit'],
    rows: [
      ['requests a second, really', (count - early) / seconds, '/s'],
      ['tasks of over 50 ms', tasks.length, ''],
      ['the longest task', longest, 'ms'],
      [`heap after ${early.toLocaleString('en')}`, before, 'MB'],
      [`heap after ${count.toLocaleString('en')}`, after, 'MB']
    ]
  })
  outcome.figures['longest-task'] = longest
  outcome.figures['heap.growth'] = after / before
}

const agent = new Agent({ keepAlive: true, maxSockets: 8 })

async function send(url: string, count: number): Promise<void> {
  const startedAt = performance.now()
  const pending: Promise<void>[] = []
  while (pending.length < count) {
    const due = Math.min(count, Math.ceil((performance.now() - startedAt) / 2))
    while (pending.length < due) {
      const path = `${url}/v1/messages?limit=1&page=${pending.length}`
      pending.push(
        new Promise((resolve, reject) => {
          get(path, { agent, headers }, (answer) => answer.resume().once('end', resolve)).once('error', reject)
        })
      )
    }
    await delay(5)
  }
  await Promise.all(pending)
}
