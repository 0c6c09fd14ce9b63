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

/** How many times the server is killed. CI uses the default. Set `KILLS=200` for a longer run. */
const KILLS = Number(process.env.KILLS ?? 12)
const CALLS = 64
/**
 * The number of environments in a test that kills the server before each step of a call. Each step
 * uses its own environment, so this number must be greater than the number of steps.
 */
const STEPS = 60

/**
 * To repeat an earlier run, set `CRASH_SEED` to the number that it printed. The server is then
 * killed after the same numbers of responses. The exact moment of each kill still varies.
 */
const RANDOM_SEED = Number(process.env.CRASH_SEED ?? Date.now() % 1_000_000)

/**
 * A set-primary call with an idempotency key. Each call that should succeed has its own
 * integration, whose state later shows whether the call took effect.
 */
interface Call {
  environment: number
  integration: string
  key: string
}

const KILL_SWITCH = join(import.meta.dirname, 'kill-switch.mjs')

/** Calls for this integration are rejected, because it doesn't exist. */
const UNKNOWN = 'unknown'

interface ReceivedResponse {
  status: number
  replayed: boolean
  body: Buffer
}

/** A data file, the seed it is created from, and the primary integrations it must contain. */
interface DataFile {
  file: string
  seed: string
  /** Maps each environment to the primary integration of its email channel. */
  primaries: Map<number, string>
}

test(`each call has its full effect or none, even after ${KILLS} random kills`, async () => {
  console.info(`CRASH_SEED=${RANDOM_SEED}`)
  const random = randomNumbers(RANDOM_SEED)
  const dataFile = createDataFile(KILLS)

  let server = await startServer(['--data', dataFile.file, '--seed', dataFile.seed])
  for (let environment = 1; environment <= KILLS; environment++) {
    const calls = callsTo(environment)
    const moment = { responses: 1 + random(CALLS - 8), microseconds: random(500) }
    const responses = await killDuringCalls(server, calls, moment)
    const stored = checkStoredData(dataFile, calls, responses)
    server = await startServer(['--data', dataFile.file, '--no-seed'])
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
  'a call %s has its full effect or none, no matter when the server is killed',
  async (_, callIndex) => {
    const dataFile = createDataFile(STEPS)
    const outcomes: number[] = []

    let server = await startServer(['--data', dataFile.file, '--seed', dataFile.seed], KILL_SWITCH)
    for (let step = 0; ; step++) {
      const calls = callsTo(step + 1).slice(callIndex, callIndex + 1)
      const call = calls[0] as Call
      const response = send(server, call, { 'x-kill-before-step': String(step) })
      if (await response.catch(() => undefined)) break
      expect(await server.ended).toMatchObject({ signal: 'SIGKILL' })

      const stored = checkStoredData(dataFile, calls, new Map())
      outcomes.push(stored.size)
      server = await startServer(['--data', dataFile.file, '--no-seed'], KILL_SWITCH)
      await checkReplays(dataFile, server, calls, stored)
    }

    // A kill before the commit prevents the effect. A kill between the commit and the response
    // doesn't.
    expect(outcomes.join('')).toMatch(/^0{8,}1+$/)
  }
)

/**
 * Returns calls to an environment. One call in eight is for an integration that doesn't exist, to
 * test that rejections are stored and replayed too.
 */
function callsTo(environment: number): Call[] {
  return Array.from({ length: CALLS }, (_, index) => ({
    environment,
    integration: index % 8 === 7 ? UNKNOWN : `email-${index}`,
    key: `call-${index}`
  }))
}

/**
 * Writes a seed with the given number of environments, and returns the data file that a server will
 * create from it. In the seed, only the primary integrations are active.
 */
function createDataFile(size: number): DataFile {
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
 * Sends all calls at once, each over its own connection. After the given number of responses, waits
 * for the given time and kills the server, while the other calls are in progress. Resolves with the
 * responses that were received in full.
 */
async function killDuringCalls(
  server: RunningProcess,
  calls: Call[],
  moment: { responses: number; microseconds: number }
): Promise<Map<Call, ReceivedResponse>> {
  const responses = new Map<Call, ReceivedResponse>()
  const sockets = await Promise.all(calls.map(() => connected(server)))
  for (const [index, call] of calls.entries()) {
    const socket = sockets[index] as Socket
    const received: Buffer[] = []
    socket.on('data', (data) => {
      received.push(data)
      const response = parseResponse(Buffer.concat(received))
      if (!response) return
      responses.set(call, response)
      if (responses.size !== moment.responses) return
      spin(moment.microseconds)
      server.child.kill('SIGKILL')
    })
    const headers = Object.entries({ ...headersOf(call), host: 'mock', 'content-length': 0 })
    const lines = [`POST ${pathOf(call)} HTTP/1.1`, ...headers.map((header) => header.join(': '))]
    socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  }
  await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.on('close', resolve))))
  expect(await server.ended).toMatchObject({ code: null, signal: 'SIGKILL', stderr: '' })
  return responses
}

async function connected({ url }: RunningProcess): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  await once(socket, 'connect')
  return socket.on('error', () => {})
}

function parseResponse(received: Buffer): ReceivedResponse | undefined {
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

/** Waits in a busy loop, because a timer is too imprecise for microseconds. */
function spin(microseconds: number): void {
  const end = performance.now() + microseconds / 1000
  while (performance.now() < end);
}

/**
 * Checks that the killed server's data file contains each call's full effect or none of it. Returns
 * the stored responses by idempotency key.
 */
function checkStoredData(
  dataFile: DataFile,
  calls: Call[],
  responses: Map<Call, ReceivedResponse>
): Map<string, KeyRow> {
  const { integrations, keys } = read(dataFile)
  const environment = calls[0]?.environment as number
  const stored = new Map(
    keys.filter((row) => row.environment === environment).map((row) => [row.key, row])
  )
  checkAtomic(calls, integrations, stored)
  checkReceivedResponses(responses, stored)
  const last = [...stored.values()].filter(({ status }) => status === 200).at(-1)
  const primary = calls.find(({ key }) => key === last?.key)
  if (primary) dataFile.primaries.set(environment, primary.integration)
  checkPrimaries(dataFile, integrations)
  return stored
}

/**
 * Checks the calls for existing integrations: a response must be stored if and only if the call
 * took effect. Without the response, a retry would repeat the effect. Without the effect, a retry
 * would replay a success that never happened.
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
      (candidate) => candidate.environment === environment && candidate.identifier === integration
    )
    const response = stored.get(key)
    expect([key, row?.active === 1]).toEqual([key, response !== undefined])
    if (!row || !response) continue
    expect(JSON.parse(row.document)).toEqual({
      ...JSON.parse(String(response.body)),
      primary: row.is_primary === 1
    })
  }
}

/** Checks that every received response is stored. */
function checkReceivedResponses(
  responses: Map<Call, ReceivedResponse>,
  stored: Map<string, KeyRow>
): void {
  for (const [{ key }, { status, body }] of responses) {
    expect([key, stored.get(key)]).toMatchObject([key, { status, body }])
  }
}

/**
 * Checks that each environment has exactly its expected primary integrations, and that the columns
 * of each integration match its JSON document.
 */
function checkPrimaries({ primaries }: DataFile, integrations: IntegrationRow[]): void {
  const primaryRows = integrations
    .filter(({ is_primary }) => is_primary === 1)
    .map(({ environment, channel, identifier }) => `${environment} ${channel} ${identifier}`)
  const expected = [...primaries].map(([environment, identifier]) => [
    `${environment} email ${identifier}`,
    `${environment} sms untouched`
  ])
  expect(primaryRows.sort()).toEqual(expected.flat().sort())
  const inconsistent = integrations.filter(
    ({ is_primary, active, document }) =>
      !document.includes(`"active":${active === 1},"deleted":false,"primary":${is_primary === 1}`)
  )
  expect(inconsistent).toEqual([])
}

/**
 * Repeats all calls to a restarted server. Checks that the server replays every stored response,
 * even one that no client received, and that it runs each call without a stored response.
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
 * Reads a copy of the data file. Opening the original file would make SQLite recover it, so the
 * restarted server would no longer have to.
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
  extraHeaders: Record<string, string> = {}
): Promise<ReceivedResponse> {
  const response = await fetch(url + pathOf(call), {
    method: 'POST',
    headers: { ...headersOf(call), ...extraHeaders }
  })
  const body = Buffer.from(await response.arrayBuffer())
  return { status: response.status, replayed: response.headers.has('idempotency-replay'), body }
}

async function startServer(options: string[], module?: string): Promise<RunningProcess> {
  const env = module === undefined ? {} : { NODE_OPTIONS: `--import=${module}` }
  return startCommand(['--json', '--log-level', 'warn', ...options], { env })
}

/**
 * Returns a function that returns random integers from 0 to `limit - 1`. The same seed gives the
 * same integers.
 */
function randomNumbers(seed: number): (limit: number) => number {
  const random = createRandom(seed)
  return (limit) => Math.floor(random.next() * limit)
}
