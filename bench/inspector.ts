import { existsSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { type Browser, chromium, type Page } from '@playwright/test'
import { BENCH, givenSeed } from './data.js'
import type { Context, Measure, Outcome } from './outcome.js'
import { authorization, mock, type Running, start } from './processes.js'
import { inRounds, loadCells, ratioCells, ratioOf } from './throughput.js'

const CHROMIUM = '/usr/bin/chromium'

export const inspector: Measure = {
  name: 'inspector',
  question: 'What does the inspector cost while it is open, and does it stay usable?',
  method: `Two servers with 100 messages in memory, one of them with the inspector open in Chromium, at its requests. The
    list of 10 at 10 connections, 2 s each in turn; Chromium has the core of the load, as it would have one of its own, so
    "by CPU" is the one to go by. Then 10,000 requests, 500 a second: the page's tasks of over 50 ms, by the browser's own
    count, and its heap after a collection of garbage, after 2,000 of the requests and after all.`,
  minutes: 2,
  run
}

async function run({ quick, say }: Context): Promise<Outcome> {
  const outcome: Outcome = { tables: [], figures: {}, skipped: [] }
  if (!existsSync(CHROMIUM)) {
    outcome.skipped.push({ what: 'the inspector', why: `there is no ${CHROMIUM}` })
    return outcome
  }
  const settings = mock(['--seed', givenSeed()], BENCH.apiKey)
  const watched = await start(settings)
  const alone = await start(settings)
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-gpu'] })
  try {
    const page = await openRequests(browser, watched)
    const onRound = (round: string) => say(`the list with the page open and without, ${round}`)
    const wanted = { method: 'GET' as const, paths: [BENCH.list] as [string], headers, connections: 10, seconds: 2 }
    const rounds = await inRounds([watched, alone], quick ? { ...wanted, seconds: 1 } : wanted, quick ? 1 : 9, onRound)
    const names = ['with the page open', 'without it']
    outcome.tables.push({
      title: 'list of 10, at full load',
      columns: ['server', 'requests/s', 'p50 ms', 'p99 ms', 'CPU µs', 'busy', 'first / this', 'by CPU'],
      rows: rounds.map((loaded, index) => [names[index] ?? '', ...loadCells(loaded), ...ratioCells(rounds, index)])
    })
    outcome.figures['rate.of-without'] = ratioOf(rounds, 1)
    const byCpu = ratioCells(rounds, 1)[1]
    if (typeof byCpu === 'number') outcome.figures['cpu.of-without'] = byCpu
    await page.close()
    say('500 requests a second')
    await steadily(await openRequests(browser, watched), watched, quick ? 1000 : 10_000, outcome)
  } finally {
    await browser.close()
    await Promise.all([watched.stop(), alone.stop()])
  }
  return outcome
}

const headers = authorization(BENCH.apiKey)

async function openRequests(browser: Browser, { url }: Running): Promise<Page> {
  const page = await browser.newPage()
  await page.goto(`${url}/#/requests`)
  await page.getByRole('heading', { name: 'Requests', exact: true }).waitFor()
  return page
}

/** Sends so many requests, 500 a second, and notes what became of the page. */
async function steadily(page: Page, { url }: Running, count: number, outcome: Outcome): Promise<void> {
  await page.evaluate(`
    window.longTasks = []
    new PerformanceObserver((list) => longTasks.push(...list.getEntries().map(({ duration }) => duration)))
      .observe({ type: 'longtask' })
  `)
  const devtools = await page.context().newCDPSession(page)
  const heap = async () => {
    await devtools.send('HeapProfiler.collectGarbage')
    return (await devtools.send('Runtime.getHeapUsage')).usedSize / 2 ** 20
  }
  const early = count / 5
  await send(url, early)
  const before = await heap()
  const startedAt = performance.now()
  await send(url, count - early)
  const seconds = (performance.now() - startedAt) / 1000
  const after = await heap()
  const tasks = await page.evaluate<number[]>('longTasks')
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
