import { type ChildProcess, execFile, execFileSync, spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { createServer } from 'node:net'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'

const root = join(import.meta.dirname, '..')

/** What servers are started with: the built command, by this Node, unless `useServers` names others. */
const servers = { node: process.execPath, command: join(root, 'dist/cli/index.js') }

/** For servers that are started from now on: another Node, and the command of a package that was installed with it. */
export function useServers({
  node,
  command
}: {
  node?: string | undefined
  command?: string | undefined
}): void {
  if (node !== undefined) servers.node = resolve(node)
  if (command !== undefined) servers.command = resolve(command)
}

export const command = () => servers.command
export const node = () => servers.node

/** Whether servers have a core and what asks them has another, so that neither slows down the other. */
export const IS_PINNED =
  availableParallelism() > 1 && spawnSync('taskset', ['--version']).status === 0

const pinned = (core: 0 | 1, program: string, args: readonly string[]): [string, string[]] =>
  IS_PINNED ? ['taskset', ['-c', String(core), program, ...args]] : [program, [...args]]

/** Moves this process out of the servers' way. */
export function leaveServersAlone(): void {
  if (IS_PINNED) execFileSync('taskset', ['-acp', '1', String(process.pid)], { stdio: 'ignore' })
}

export interface ToStart {
  args(port: number): string[]
  /** What to ask until it is answered with 200. */
  path: string
  headers?: Record<string, string>
}

/** Our command, as people start it. */
export function mock(args: readonly string[], apiKey: string): ToStart {
  return {
    args: (port) => [servers.command, '--port', String(port), ...args],
    path: '/v1/messages?limit=1',
    headers: authorization(apiKey)
  }
}

export function authorization(apiKey: string): Record<string, string> {
  return { authorization: `ApiKey ${apiKey}` }
}

/** A server of bench/bare. */
export function bare(script: 'fastify' | 'hello', args: readonly string[] = []): ToStart {
  return {
    args: (port) => [join(import.meta.dirname, 'bare', `${script}.mjs`), String(port), ...args],
    path: '/'
  }
}

/** A server in a process of its own. */
export interface Running {
  url: string
  /** Of `performance.now()`. */
  spawnedAt: number
  /** Milliseconds from the spawn to the first 200. */
  startedIn: number
  residentBytes(): number
  peakBytes(): number
  /** Asks it to stop, and waits until it has ended. */
  stop(): Promise<void>
}

const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** Resolves at its first 200. Throws, with what it wrote to stderr, when it ends before, or takes two minutes. */
export async function start({ args, path, headers = {} }: ToStart): Promise<Running> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const [program, words] = pinned(0, servers.node, args(port))
  const spawnedAt = performance.now()
  const child = spawn(program, words, {
    env: ownEnvironment(),
    stdio: ['ignore', 'ignore', 'pipe']
  })
  running.add(child)
  const exited = new Promise<void>((done) =>
    child.once('close', () => done(void running.delete(child)))
  )
  let complaints = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    complaints = `${complaints}${text}`.slice(-2000)
  })
  while ((await ask('GET', url + path, { headers }).catch(() => undefined))?.status !== 200) {
    if (!running.has(child) || performance.now() - spawnedAt > 120_000)
      throw new Error(`no start: ${complaints}`)
    await delay(1)
  }
  return {
    url,
    spawnedAt,
    startedIn: performance.now() - spawnedAt,
    residentBytes: () => memoryOf(child, 'VmRSS'),
    peakBytes: () => memoryOf(child, 'VmHWM'),
    async stop() {
      child.kill('SIGTERM')
      await exited
    }
  }
}

function memoryOf({ pid }: ChildProcess, name: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const kibibytes = new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]
  return 1024 * Number(kibibytes)
}

/** Without variables of ours, or of an npm that runs the bench: servers start as from an empty shell. */
function ownEnvironment(): Record<string, string | undefined> {
  const foreign = /^(NOTIFICATION_MOCK_|npm_|PORT$|NODE_OPTIONS$|NODE_ENV$)/
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)))
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((done) => server.once('listening', done))
  const address = server.address()
  await new Promise((done) => server.close(done))
  return typeof address === 'object' && address ? address.port : 0
}

export interface Asked {
  status: number
  body: Buffer
  /** From sending to the last byte. */
  milliseconds: number
}

const agent = new Agent({ keepAlive: true, maxSockets: 1 })

interface Details {
  headers?: Record<string, string>
  body?: object
}

/** One request, over a connection that is kept for the next. */
async function ask(method: string, url: string, { headers = {}, body }: Details): Promise<Asked> {
  const startedAt = performance.now()
  return new Promise((done, reject) => {
    const json = body && JSON.stringify(body)
    const content =
      json === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': json.length }
    const sent = request(
      url,
      { method, agent, headers: { ...headers, ...content } },
      (response) => {
        buffer(response).then((received) => {
          done({
            status: response.statusCode ?? 0,
            body: received,
            milliseconds: performance.now() - startedAt
          })
        }, reject)
      }
    )
    sent.on('error', reject).end(json)
  })
}

/** Throws unless it is answered with a 2xx. */
export async function mustAsk(method: string, url: string, details: Details = {}): Promise<Asked> {
  const asked = await ask(method, url, details)
  if (asked.status >= 200 && asked.status < 300) return asked
  throw new Error(
    `${method} ${url} was answered with ${asked.status}: ${asked.body.toString().slice(0, 300)}`
  )
}

export interface Load {
  method: 'GET' | 'POST'
  /** Sent in turn. */
  paths: readonly [string, ...string[]]
  headers: Record<string, string>
  connections: number
  /** A whole number. */
  seconds: number
}

/** Loads a server by wrk, on the other core. Throws when one answer was not a 2xx. */
export async function load(
  { url }: Running,
  { method, paths, headers, connections, seconds }: Load
) {
  const lines = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
  const script = join(import.meta.dirname, 'load.lua')
  const options = [
    '-t1',
    `-c${connections}`,
    `-d${seconds}s`,
    '--timeout',
    '30s',
    '-s',
    script,
    ...lines
  ]
  const [program, words] = pinned(1, 'wrk', [...options, url + paths[0]])
  const env = {
    ...process.env,
    BENCH_METHOD: method,
    ...(paths.length > 1 && { BENCH_PATHS: paths.join(' ') })
  }
  const { stdout } = await promisify(execFile)(program, words, { env })
  const {
    requests,
    seconds: taken,
    p99,
    failed
  } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
  if (failed > 0) throw new Error(`${failed} of ${requests} requests for ${paths[0]} failed`)
  return { requestsPerSecond: requests / taken, p99: p99 as number }
}
