import { once } from 'node:events'
import { copyFileSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { type CompiledCommand, compileCommand, type RunningCommand } from '../support/command.js'
import { givenHeldCall } from '../support/held-call.js'
import { type IntegrationRow, integrationRows, type KeyRow, keyRows } from '../support/rows.js'

const KILLS = 50
const CALLS = 64

/** `CRASH_SEED=<number>` repeats the kills of an earlier run: after as many answers, though not to the microsecond. */
const RANDOM_SEED = Number(process.env.CRASH_SEED ?? Date.now() % 1_000_000)

/** A keyed call. It has an integration of its own, which shows for ever whether the call has had its effect. */
interface Call {
  environment: number
  integration: string
  key: string
}

/** The integration of those calls that ask for one which is not there. */
const UNKNOWN = 'unknown'

interface Answer {
  status: number
  replayed: boolean
  body: Buffer
}

let command: CompiledCommand
beforeAll(async () => {
  command = await compileCommand()
})
afterAll(() => command.remove())

test(`killed at ${KILLS} random instants, a call has not happened, or has happened and replays`, async () => {
  console.info(`CRASH_SEED=${RANDOM_SEED}`)
  const random = randomNumbers(RANDOM_SEED)
  const folder = givenFolder()
  const file = join(folder, 'data.db')
  /** What each environment's primary has to be, from now on. */
  const settled = new Map<number, string>()

  let server = await givenServer('--data', file, '--seed', seedFile(folder))
  for (let environment = 1; environment <= KILLS; environment++) {
    const calls = callsTo(environment)
    const moment = { answers: 1 + random(CALLS - 8), microseconds: random(500) }
    const answers = await killedInStorm(server, calls, moment)

    const { integrations, stored } = whatIsLeft(file, environment)
    checkAtomic(calls, integrations, stored)
    checkTold(answers, stored)
    const last = [...stored.values()].filter(({ status }) => status === 200).at(-1)
    const primary = calls.find(({ key }) => key === last?.key)?.integration ?? 'first'
    checkPrimaries(integrations, settled.set(environment, primary))

    server = await givenServer('--data', file, '--no-seed')
    await checkReplays(server, calls, stored)
    settled.set(environment, (await checkFresh(server, calls, stored)) ?? primary)
  }

  server.kill('SIGTERM')
  expect(await server.exited).toEqual({ code: 0, signal: null, stderr: '' })
  checkPrimaries(whatIsLeft(file, KILLS).integrations, settled)
}, 300_000)

test('SIGTERM answers every call in flight, and leaves one file, which has them all', async () => {
  const folder = givenFolder()
  const file = join(folder, 'data.db')
  const server = await givenServer('--data', file, '--seed', seedFile(folder))
  const calls = callsTo(1).slice(0, 24)
  const held = await Promise.all(calls.map((call) => givenHeldCall(server.url + pathOf(call), headersOf(call))))

  server.kill('SIGTERM')
  await vi.waitUntil(() => refusesConnections(server), { timeout: 20_000 })
  const answers = await Promise.all(held.map((call) => call.finish()))

  expect(answers.map(({ status, text }) => [status, JSON.parse(text).identifier])).toEqual(
    calls.map(({ integration }) => (integration === UNKNOWN ? [404, undefined] : [200, integration]))
  )
  expect(await server.exited).toEqual({ code: 0, signal: null, stderr: '' })
  expect(readdirSync(folder)).toEqual(['data.db', 'seed.json'])

  const again = await givenServer('--data', file, '--no-seed')
  for (const [place, { status, text }] of answers.entries()) {
    expect(await send(again, calls[place] as Call)).toEqual({ status, replayed: true, body: Buffer.from(text) })
  }
})

/** One call in eight is refused, as refusals are stored and replayed too. */
function callsTo(environment: number): Call[] {
  return Array.from({ length: CALLS }, (_, index) => ({
    environment,
    integration: index % 8 === 7 ? UNKNOWN : `email-${index}`,
    key: `call-${index}`
  }))
}

/** An environment for each kill. All its integrations are inactive, but for the primaries. */
function seedFile(folder: string): string {
  const environments = Array.from({ length: KILLS }, (_, index) => ({
    name: `Environment ${index + 1}`,
    apiKeys: [`key-${index + 1}`],
    integrations: [
      { identifier: 'first', providerId: 'ses', channel: 'email', primary: true },
      { identifier: 'untouched', providerId: 'twilio', channel: 'sms', primary: true },
      ...callsTo(index + 1)
        .filter(({ integration }) => integration !== UNKNOWN)
        .map(({ integration }) => ({ identifier: integration, providerId: 'ses', channel: 'email', active: false }))
    ]
  }))
  const file = join(folder, 'seed.json')
  writeFileSync(file, JSON.stringify({ environments }))
  return file
}

/**
 * Sends all calls at once, each over a connection of its own, and kills the server when it has given so many answers
 * and so much time has passed, while it has the rest in hand. Resolves with the answers that arrived whole.
 */
async function killedInStorm(
  server: RunningCommand,
  calls: Call[],
  moment: { answers: number; microseconds: number }
): Promise<Map<Call, Answer>> {
  const answers = new Map<Call, Answer>()
  const sockets = await Promise.all(calls.map(() => connected(server)))
  for (const [place, call] of calls.entries()) {
    const socket = sockets[place] as Socket
    const received: Buffer[] = []
    socket.on('data', (data) => {
      received.push(data)
      const answer = parseAnswer(Buffer.concat(received))
      if (!answer) return
      answers.set(call, answer)
      if (answers.size !== moment.answers) return
      spin(moment.microseconds)
      server.kill('SIGKILL')
    })
    const headers = Object.entries({ ...headersOf(call), host: 'mock', 'content-length': 0 })
    const lines = [`POST ${pathOf(call)} HTTP/1.1`, ...headers.map((header) => header.join(': '))]
    socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  }
  await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.on('close', resolve))))
  expect(await server.exited).toEqual({ code: null, signal: 'SIGKILL', stderr: '' })
  return answers
}

async function connected({ url }: RunningCommand): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  await once(socket, 'connect')
  return socket.on('error', () => {})
}

function parseAnswer(received: Buffer): Answer | undefined {
  const end = received.indexOf('\r\n\r\n')
  const head = received.toString('latin1', 0, end)
  const body = received.subarray(end + 4)
  if (end < 0 || body.length < Number(/^content-length: (\d+)/im.exec(head)?.[1])) return undefined
  return { status: Number(head.split(' ', 2)[1]), replayed: /^idempotency-replay: true/im.test(head), body }
}

/** Holds up this process while the server, in its own, goes on. */
function spin(microseconds: number): void {
  const end = performance.now() + microseconds / 1000
  while (performance.now() < end);
}

/** An effect without its stored answer would be done twice; an answer without its effect, never. */
function checkAtomic(calls: Call[], integrations: IntegrationRow[], stored: Map<string, KeyRow>): void {
  for (const { environment, integration, key } of calls.filter((call) => call.integration !== UNKNOWN)) {
    const row = integrations.find((each) => each.environment === environment && each.identifier === integration)
    const answer = stored.get(key)
    expect([key, row?.active === 1]).toEqual([key, answer !== undefined])
    if (!row || !answer) continue
    expect(JSON.parse(row.document)).toEqual({ ...JSON.parse(String(answer.body)), primary: row.is_primary === 1 })
  }
}

/** Who has been told can rely on it. */
function checkTold(answers: Map<Call, Answer>, stored: Map<string, KeyRow>): void {
  for (const [{ key }, { status, body }] of answers) {
    expect([key, stored.get(key)]).toMatchObject([key, { status, body }])
  }
}

/** In each environment the email channel has the primary it should have, and no channel has another. */
function checkPrimaries(integrations: IntegrationRow[], settled: Map<number, string>): void {
  const found = integrations
    .filter(({ is_primary }) => is_primary === 1)
    .map(({ environment, channel, identifier }) => `${environment} ${channel} ${identifier}`)
  const expected = Array.from({ length: KILLS }, (_, index) => [
    `${index + 1} email ${settled.get(index + 1) ?? 'first'}`,
    `${index + 1} sms untouched`
  ])
  expect(found.sort()).toEqual(expected.flat().sort())
  const torn = integrations.filter(
    ({ is_primary, active, document }) =>
      !document.includes(`"active":${active === 1},"deleted":false,"primary":${is_primary === 1}`)
  )
  expect(torn).toEqual([])
}

/** What is stored is replayed, whether or not anyone was told of it. */
async function checkReplays(server: RunningCommand, calls: Call[], stored: Map<string, KeyRow>): Promise<void> {
  for (const call of calls) {
    const row = stored.get(call.key)
    if (row) expect(await send(server, call)).toEqual({ status: row.status, replayed: true, body: row.body })
  }
}

/** What is not stored has not happened, and is done now. Answers with the integration that was last made primary. */
async function checkFresh(
  server: RunningCommand,
  calls: Call[],
  stored: Map<string, KeyRow>
): Promise<string | undefined> {
  const fresh = calls.filter(({ key }) => !stored.has(key))
  for (const call of fresh) {
    const status = call.integration === UNKNOWN ? 404 : 200
    expect(await send(server, call)).toMatchObject({ status, replayed: false })
  }
  return fresh.filter(({ integration }) => integration !== UNKNOWN).at(-1)?.integration
}

/** What is in a file that no server has open, read off a copy, so that it is still the server that has to recover it. */
function whatIsLeft(file: string, environment: number) {
  const folder = mkdtempSync(join(tmpdir(), 'notification-mock-'))
  const copy = join(folder, 'copy.db')
  copyFileSync(file, copy)
  if (existsSync(`${file}-wal`)) copyFileSync(`${file}-wal`, `${copy}-wal`)
  const client = new Database(copy)
  try {
    expect(client.pragma('integrity_check', { simple: true })).toBe('ok')
    const keys = keyRows(client).filter((row) => row.environment === environment)
    return { integrations: integrationRows(client), stored: new Map(keys.map((row) => [row.key, row])) }
  } finally {
    client.close()
    rmSync(folder, { recursive: true })
  }
}

function pathOf({ integration }: Call): string {
  return `/v1/integrations/${integration}/set-primary`
}

function headersOf({ environment, key }: Call): Record<string, string> {
  return { authorization: `ApiKey key-${environment}`, 'idempotency-key': key }
}

async function send({ url }: RunningCommand, call: Call): Promise<Answer> {
  const response = await fetch(url + pathOf(call), { method: 'POST', headers: headersOf(call) })
  const body = Buffer.from(await response.arrayBuffer())
  return { status: response.status, replayed: response.headers.has('idempotency-replay'), body }
}

async function refusesConnections({ url }: RunningCommand): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.on('error', () => resolve(true))
    socket.on('connect', () => {
      socket.destroy()
      resolve(false)
    })
  })
}

async function givenServer(...options: string[]): Promise<RunningCommand> {
  const server = await command.start(...options)
  onTestFinished(() => server.kill('SIGKILL'))
  return server
}

function givenFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'notification-mock-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Whole numbers from 0 to below a limit; the same ones for the same seed. */
function randomNumbers(seed: number): (limit: number) => number {
  let state = seed
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0
    const mixed = Math.imul(state ^ (state >>> 15), state | 1)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit
  }
}
