import { once } from 'node:events'
import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { createRandom } from '../../src/domain/random.js'
import { createTempFolder, type RunningProcess, startCommand } from '../support/process.js'
import { type IntegrationRow, integrationRows, type KeyRow, keyRows } from '../support/rows.js'

/** The number of kills; `KILLS=200` runs more than CI does. */
const KILLS = Number(process.env.KILLS ?? 50)
const CALLS = 64
/** An upper limit for the steps of a call. */
const STEPS = 60

/**
 * `CRASH_SEED=<number>` repeats the kills of an earlier run after the same number of responses, not
 * microseconds.
 */
const RANDOM_SEED = Number(process.env.CRASH_SEED ?? Date.now() % 1_000_000)

/**
 * A call with an idempotency key and its own integration, which shows later whether the call took
 * effect.
 */
interface Call {
  environment: number
  integration: string
  key: string
}

const KILL_SWITCH = join(import.meta.dirname, 'kill-switch.mjs')

/** The integration in the calls to an integration that does not exist. */
const UNKNOWN = 'unknown'

interface Answer {
  status: number
  replayed: boolean
  body: Buffer
}

/** A data file, its seed, and its expected primaries. */
interface DataFile {
  file: string
  seed: string
  /** The primary integration of each environment's email channel. */
  primaries: Map<number, string>
}

test(`killed at ${KILLS} random times, a call either has no effect, or takes effect and is replayed`, async () => {
  console.info(`CRASH_SEED=${RANDOM_SEED}`)
  const random = randomNumbers(RANDOM_SEED)
  const dataFile = givenDataFile(KILLS)

  let server = await givenServer(['--data', dataFile.file, '--seed', dataFile.seed])
  for (let environment = 1; environment <= KILLS; environment++) {
    const calls = callsTo(environment)
    const moment = { answers: 1 + random(CALLS - 8), microseconds: random(500) }
    const answers = await killedInStorm(server, calls, moment)
    const stored = checkWhatIsLeft(dataFile, calls, answers)
    server = await givenServer(['--data', dataFile.file, '--no-seed'])
    await checkReplays(dataFile, server, calls, stored)
  }

  server.child.kill('SIGTERM')
  expect(await server.ended).toMatchObject({ code: 0, signal: null, stderr: '' })
  checkPrimaries(dataFile, read(dataFile).integrations)
}, 300_000)

test.each([
  ['that succeeds', 0],
  ['that is rejected', 7]
])(
  'killed before any step, a call %s either has no effect, or takes effect and is replayed',
  async (_, place) => {
    const dataFile = givenDataFile(STEPS)
    const outcomes: number[] = []

    let server = await givenServer(['--data', dataFile.file, '--seed', dataFile.seed], KILL_SWITCH)
    for (let step = 0; ; step++) {
      const calls = callsTo(step + 1).slice(place, place + 1)
      const call = calls[0] as Call
      const dying = send(server, call, { 'x-kill-before-step': String(step) })
      if (await dying.catch(() => undefined)) break
      expect(await server.ended).toMatchObject({ signal: 'SIGKILL' })

      const stored = checkWhatIsLeft(dataFile, calls, new Map())
      outcomes.push(stored.size)
      server = await givenServer(['--data', dataFile.file, '--no-seed'], KILL_SWITCH)
      await checkReplays(dataFile, server, calls, stored)
    }

    // The call has no effect before the commit and its full effect after it, even before the
    // response.
    expect(outcomes.join('')).toMatch(/^0{8,}1+$/)
  }
)

/**
 * Returns calls to an environment. One in eight is rejected, because rejections are stored and
 * replayed too.
 */
function callsTo(environment: number): Call[] {
  return Array.from({ length: CALLS }, (_, index) => ({
    environment,
    integration: index % 8 === 7 ? UNKNOWN : `email-${index}`,
    key: `call-${index}`
  }))
}

/**
 * Creates a data file with the given number of environments, where only the primary integrations
 * are active.
 */
function givenDataFile(size: number): DataFile {
  const folder = createTempFolder()
  const environments = Array.from({ length: size }, (_, index) => ({
    name: `Environment ${index + 1}`,
    apiKeys: [`key-${index + 1}`],
    integrations: [
      { identifier: 'first', providerId: 'ses', channel: 'email', primary: true },
      { identifier: 'untouched', providerId: 'twilio', channel: 'sms', primary: true },
      ...callsTo(index + 1)
        .filter(({ integration }) => integration !== UNKNOWN)
        .map(({ integration }) => ({
          identifier: integration,
          providerId: 'ses',
          channel: 'email',
          active: false
        }))
    ]
  }))
  const seed = join(folder, 'seed.json')
  writeFileSync(seed, JSON.stringify({ environments }))
  const primaries = new Map(environments.map((_, index) => [index + 1, 'first']))
  return { file: join(folder, 'data.db'), seed, primaries }
}

/**
 * Sends all calls at once, each over its own connection, and kills the server after the given
 * number of responses and the given delay, while the other calls are in flight. Resolves with the
 * complete responses.
 */
async function killedInStorm(
  server: RunningProcess,
  calls: Call[],
  moment: { answers: number; microseconds: number }
): Promise<Map<Call, Answer>> {
  const answers = new Map<Call, Answer>()
  const sockets = await Promise.all(calls.map(() => connected(server)))
  for (const [index, call] of calls.entries()) {
    const socket = sockets[index] as Socket
    const received: Buffer[] = []
    socket.on('data', (data) => {
      received.push(data)
      const answer = parseAnswer(Buffer.concat(received))
      if (!answer) return
      answers.set(call, answer)
      if (answers.size !== moment.answers) return
      spin(moment.microseconds)
      server.child.kill('SIGKILL')
    })
    const headers = Object.entries({ ...headersOf(call), host: 'mock', 'content-length': 0 })
    const lines = [`POST ${pathOf(call)} HTTP/1.1`, ...headers.map((header) => header.join(': '))]
    socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  }
  await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.on('close', resolve))))
  expect(await server.ended).toMatchObject({ code: null, signal: 'SIGKILL', stderr: '' })
  return answers
}

async function connected({ url }: RunningProcess): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  await once(socket, 'connect')
  return socket.on('error', () => {})
}

function parseAnswer(received: Buffer): Answer | undefined {
  const end = received.indexOf('\r\n\r\n')
  const head = received.toString('latin1', 0, end)
  const body = received.subarray(end + 4)
  if (end < 0 || body.length < Number(/^content-length: (\d+)/im.exec(head)?.[1])) return undefined
  return {
    status: Number(head.split(' ', 2)[1]),
    replayed: /^idempotency-replay: true/im.test(head),
    body
  }
}

/** Blocks this process while the server process continues. */
function spin(microseconds: number): void {
  const end = performance.now() + microseconds / 1000
  while (performance.now() < end);
}

/**
 * Checks that a killed server kept all or nothing of each call. Returns the stored responses by
 * idempotency key.
 */
function checkWhatIsLeft(
  dataFile: DataFile,
  calls: Call[],
  answers: Map<Call, Answer>
): Map<string, KeyRow> {
  const { integrations, keys } = read(dataFile)
  const environment = calls[0]?.environment as number
  const stored = new Map(
    keys.filter((row) => row.environment === environment).map((row) => [row.key, row])
  )
  checkAtomic(calls, integrations, stored)
  checkAnswered(answers, stored)
  const last = [...stored.values()].filter(({ status }) => status === 200).at(-1)
  const primary = calls.find(({ key }) => key === last?.key)
  if (primary) dataFile.primaries.set(environment, primary.integration)
  checkPrimaries(dataFile, integrations)
  return stored
}

/**
 * Checks that each effect has a stored response and vice versa: else a retry repeats the effect or
 * never causes it.
 */
function checkAtomic(
  calls: Call[],
  integrations: IntegrationRow[],
  stored: Map<string, KeyRow>
): void {
  for (const { environment, integration, key } of calls.filter(
    (call) => call.integration !== UNKNOWN
  )) {
    const row = integrations.find(
      (each) => each.environment === environment && each.identifier === integration
    )
    const answer = stored.get(key)
    expect([key, row?.active === 1]).toEqual([key, answer !== undefined])
    if (!row || !answer) continue
    expect(JSON.parse(row.document)).toEqual({
      ...JSON.parse(String(answer.body)),
      primary: row.is_primary === 1
    })
  }
}

/** Checks that each response that a client received is stored. */
function checkAnswered(answers: Map<Call, Answer>, stored: Map<string, KeyRow>): void {
  for (const [{ key }, { status, body }] of answers) {
    expect([key, stored.get(key)]).toMatchObject([key, { status, body }])
  }
}

/** Checks that each environment has exactly its expected primary integrations. */
function checkPrimaries({ primaries }: DataFile, integrations: IntegrationRow[]): void {
  const found = integrations
    .filter(({ is_primary }) => is_primary === 1)
    .map(({ environment, channel, identifier }) => `${environment} ${channel} ${identifier}`)
  const expected = [...primaries].map(([environment, identifier]) => [
    `${environment} email ${identifier}`,
    `${environment} sms untouched`
  ])
  expect(found.sort()).toEqual(expected.flat().sort())
  const torn = integrations.filter(
    ({ is_primary, active, document }) =>
      !document.includes(`"active":${active === 1},"deleted":false,"primary":${is_primary === 1}`)
  )
  expect(torn).toEqual([])
}

/**
 * Checks that a restarted server replays each stored response, received or not, and runs the other
 * calls.
 */
async function checkReplays(
  { primaries }: DataFile,
  server: RunningProcess,
  calls: Call[],
  stored: Map<string, KeyRow>
): Promise<void> {
  for (const call of calls) {
    const row = stored.get(call.key)
    if (row)
      expect(await send(server, call)).toEqual({
        status: row.status,
        replayed: true,
        body: row.body
      })
  }
  for (const call of calls.filter(({ key }) => !stored.has(key))) {
    const status = call.integration === UNKNOWN ? 404 : 200
    expect(await send(server, call)).toMatchObject({ status, replayed: false })
    if (status === 200) primaries.set(call.environment, call.integration)
  }
}

/**
 * Reads a copy of a data file without a running server, so that the server itself still has to
 * recover the file.
 */
function read({ file }: DataFile): { integrations: IntegrationRow[]; keys: KeyRow[] } {
  const folder = mkdtempSync(join(tmpdir(), 'notification-mock-'))
  const copy = join(folder, 'copy.db')
  copyFileSync(file, copy)
  if (existsSync(`${file}-wal`)) copyFileSync(`${file}-wal`, `${copy}-wal`)
  const client = new Database(copy)
  try {
    expect(client.pragma('integrity_check', { simple: true })).toBe('ok')
    return { integrations: integrationRows(client), keys: keyRows(client) }
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

async function send(
  { url }: RunningProcess,
  call: Call,
  more: Record<string, string> = {}
): Promise<Answer> {
  const response = await fetch(url + pathOf(call), {
    method: 'POST',
    headers: { ...headersOf(call), ...more }
  })
  const body = Buffer.from(await response.arrayBuffer())
  return { status: response.status, replayed: response.headers.has('idempotency-replay'), body }
}

async function givenServer(options: string[], module?: string): Promise<RunningProcess> {
  const env = module === undefined ? {} : { NODE_OPTIONS: `--import=${module}` }
  return startCommand(['--json', '--log-level', 'warn', ...options], { env })
}

/**
 * Returns a function for random integers from 0 to below a limit, which repeat with the same seed.
 */
function randomNumbers(seed: number): (limit: number) => number {
  const random = createRandom(seed)
  return (limit) => Math.floor(random.next() * limit)
}
