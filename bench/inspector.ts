import { existsSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { type Browser, chromium, type Page } from '@playwright/test'
import { BENCH, givenSeed } from './data.js'
import type { Context, Measure, Outcome } from './outcome.js'
import { watchPage } from './page.js'
import { authorization, mock, type Running, start } from './processes.js'
import { inRounds, loadCells, ratioCells } from './throughput.js'

const CHROMIUM = '/usr/bin/chromium'

export const inspector: Measure = {
  name: 'inspector',
  question: 'What does the inspector cost while it is open, and does it stay usable?',
  method: `Two servers with 100 messages in memory, the list of 10 at 10 connections, 2 s each in turn. First the stream of
    one of them is read as the page reads it, by this process; then the inspector is open in Chromium, at its requests.
    Chromium shares a core with the load, and two busy cores slow down each other (a loop that does nothing on the other
    core makes a request cost 8 % more here), so the first tells what looking on costs the server, "by CPU". Then 10,000
    requests, 500 a second: the page's tasks of over 50 ms, by the browser's own count, and its heap after a collection
    of garbage, after 2,000 of the requests and after all.`,
  minutes: 2,
  run
}

async function run({ quick, say }: Context): Promise<Outcome> {
  const outcome: Outcome = { tables: [], figures: {}, skipped: [] }
  const settings = mock(['--seed', givenSeed()], BENCH.apiKey)
  const alone = await start(settings)
  const watched = await start(settings)
  const wanted = { method: 'GET' as const, paths: [BENCH.list] as [string], headers, connections: 10, seconds: 2 }
  const compare = async (title: string) => {
    const onRound = (round: string) => say(`the list, ${title}, ${round}`)
    const load = quick ? { ...wanted, seconds: 1 } : wanted
    const rounds = await inRounds([alone, watched], load, quick ? 1 : 11, onRound)
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
    const reading = new AbortController()
    await readStream(watched, reading.signal)
    outcome.figures['cpu.of-without'] = await compare('its stream is read')
    reading.abort()
    if (!existsSync(CHROMIUM)) {
      outcome.skipped.push({ what: 'the page', why: `there is no ${CHROMIUM}` })
      return outcome
    }
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] })
    const page = await openRequests(browser, watched)
    await compare('the page is open')
    await page.close()
    say('500 requests a second')
    await steadily(await openRequests(browser, watched), watched, quick ? 1000 : 10_000, outcome)
  } finally {
    await browser?.close()
    await Promise.all([alone, watched].map((server) => server.stop()))
  }
  return outcome
}

const headers = authorization(BENCH.apiKey)

/** Reads the stream at the rate that the page asks for, once it has begun, until the signal. */
async function readStream({ url }: Running, signal: AbortSignal): Promise<void> {
  const { body } = await fetch(`${url}/_mock/requests/stream?rate=600`, { headers, signal })
  const read = async () => {
    for await (const _ of body ?? []);
  }
  read().catch(() => {})
}

async function openRequests(browser: Browser, { url }: Running): Promise<Page> {
  const page = await browser.newPage()
  await page.goto(`${url}/#/requests`)
  await page.getByRole('heading', { name: 'Requests', exact: true }).waitFor()
  return page
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
