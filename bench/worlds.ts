/**
 * Measures what environments cost, over HTTP on loopback: making one as a fork and resetting one, on the default seed
 * and with many messages. `npx tsx bench/worlds.ts`; prints a table, writes nothing.
 */
import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Seed } from '../src/seeds/format.js'
import { startServer } from '../src/server.js'

const ROUNDS = 200
const MESSAGES = 100_000
const FEW_ROUNDS = 20

interface Measured {
  name: string
  times: number[]
  /** Milliseconds of processor time, of client and server together: what is left of them on a busy machine. */
  cpu: number[]
  /** Milliseconds that the median has to stay under. */
  target?: number
}

const agent = new Agent({ keepAlive: true, maxSockets: 1 })
const server = await startServer({ port: 0, logLevel: 'silent' })
try {
  const small = await onDefaultSeed()
  const large = await withManyMessages()
  print(`default seed, ${ROUNDS} rounds`, small)
  print(`${MESSAGES} messages, ${FEW_ROUNDS} rounds`, large)
} finally {
  agent.destroy()
  await server.app.close()
}

/** All of a round after one another, so that each has the same weather. */
async function onDefaultSeed(): Promise<Measured[]> {
  const health: Measured = { name: 'GET /health', times: [], cpu: [] }
  const fork: Measured = { name: 'make by fork', times: [], cpu: [], target: 5 }
  const reset: Measured = { name: 'reset after a set-primary', times: [], cpu: [], target: 5 }
  const primary: Measured = { name: 'set-primary after a reset', times: [], cpu: [] }
  for (let round = -20; round < ROUNDS; round++) {
    const each = round < 0 ? [] : [health, fork, primary, reset]
    const times = [await timed('GET', '/health')]
    const made = await timed('POST', '/_mock/environments', { from: 'Development' })
    const { apiKey, environmentId } = JSON.parse(made.answer)
    times.push(made, await setPrimary('mailgun-eu', apiKey), await timed('POST', '/_mock/reset', undefined, apiKey))
    for (const [place, measured] of each.entries()) note(measured, times[place])
    await timed('DELETE', `/_mock/environments/${environmentId}`)
  }
  return [health, fork, primary, reset]
}

async function withManyMessages(): Promise<Measured[]> {
  const health: Measured = { name: 'GET /health', times: [], cpu: [] }
  const reset: Measured = { name: 'reset after only set-primary', times: [], cpu: [], target: 20 }
  const fork: Measured = { name: 'full fork', times: [], cpu: [], target: 1500 }
  const removal: Measured = { name: 'remove the fork', times: [], cpu: [] }
  server.services.seeds.load(server.services.environments.find('Development'), manyMessages(), 'replace')
  for (let round = 0; round < FEW_ROUNDS; round++) {
    note(health, await timed('GET', '/health'))
    await setPrimary('other', 'development-key')
    note(reset, await timed('POST', '/_mock/reset', undefined, 'development-key'))
    if (round % 4 > 0) continue
    const made = await timed('POST', '/_mock/environments', { from: 'Development' })
    note(fork, made)
    note(removal, await timed('DELETE', `/_mock/environments/${JSON.parse(made.answer).environmentId}`))
  }
  return [health, reset, fork, removal]
}

function manyMessages(): Seed {
  const seed: Seed = {
    environments: [
      {
        name: 'Many',
        integrations: [
          { identifier: 'main', providerId: 'ses', channel: 'email', primary: true },
          { identifier: 'other', providerId: 'sendgrid', channel: 'email' }
        ],
        subscribers: Array.from({ length: 100 }, (_, index) => ({ subscriberId: `user-${index}` })),
        messages: Array.from({ length: MESSAGES }, (_, index) => ({
          channel: index % 3 === 0 ? 'sms' : 'email',
          subscriberId: `user-${index % 100}`,
          contextKeys: [`tenant:${index % 7}`],
          subject: `Order ${index}`,
          content: 'Your order has been shipped, and will be with you tomorrow.'
        }))
      }
    ]
  }
  return seed
}

function setPrimary(identifier: string, apiKey: string) {
  return timed('POST', `/v1/integrations/${identifier}/set-primary`, undefined, apiKey)
}

interface Timed {
  duration: number
  cpu: number
  answer: string
}

function note(measured: Measured, timed: Timed | undefined): void {
  measured.times.push(timed?.duration ?? Number.NaN)
  measured.cpu.push(timed?.cpu ?? Number.NaN)
}

async function timed(method: string, path: string, body?: object, apiKey?: string): Promise<Timed> {
  const used = process.cpuUsage()
  const started = performance.now()
  const answer = await new Promise<string>((resolve, reject) => {
    const headers = apiKey === undefined ? {} : { authorization: `ApiKey ${apiKey}` }
    const sent = request(`${server.url}${path}`, { method, agent, headers }, (response) => {
      if ((response.statusCode ?? 0) >= 400) reject(new Error(`${method} ${path} -> ${response.statusCode}`))
      text(response).then(resolve, reject)
    })
    sent.on('error', reject).end(body && JSON.stringify(body))
  })
  const duration = performance.now() - started
  const { user, system } = process.cpuUsage(used)
  return { duration, cpu: (user + system) / 1000, answer }
}

function print(title: string, rows: readonly Measured[]): void {
  const [first] = rows
  const base = first ? quantile(first.times, 0.5) : Number.NaN
  console.log(`\n${title}`)
  console.table(
    Object.fromEntries(
      rows.map(({ name, times, cpu, target }) => [
        name,
        {
          'median ms': round(quantile(times, 0.5)),
          'cpu ms': round(quantile(cpu, 0.5)),
          'p95 ms': round(quantile(times, 0.95)),
          'times /health': round(quantile(times, 0.5) / base),
          'target ms': target ?? '',
          holds: target === undefined ? '' : quantile(times, 0.5) < target
        }
      ])
    )
  )
}

function quantile(times: readonly number[], share: number): number {
  const sorted = [...times].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length * share)] ?? Number.NaN
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}
