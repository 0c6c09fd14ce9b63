import { type ChildProcess, execFile, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { createServer } from 'node:net'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'

const root = join(import.meta.dirname, '..')

/** The Node executable and the built command that start the servers. */
const servers = { node: process.execPath, command: join(root, 'dist/cli/index.js') }

/** Replaces the Node executable or the command that `start` uses, or both. */
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

/** Whether servers and clients run on different cores, so that they don't slow each other down. */
export const IS_PINNED =
  availableParallelism() > 1 && spawnSync('taskset', ['--version']).status === 0

const pinned = (core: 0 | 1, program: string, args: readonly string[]): [string, string[]] =>
  IS_PINNED ? ['taskset', ['-c', String(core), program, ...args]] : [program, [...args]]

/** Makes this process run only on the clients' core. */
export function pinToClientCore(): void {
  if (IS_PINNED) execFileSync('taskset', ['-acp', '1', String(process.pid)], { stdio: 'ignore' })
}

export interface ServerCommand {
  args(port: number): string[]
  /** The server counts as started when it responds to this path with status 200. */
  path: string
  headers?: Record<string, string>
}

/** Returns the command that starts the mock server. */
export function mock(args: readonly string[], apiKey: string): ServerCommand {
  return {
    args: (port) => [servers.command, '--port', String(port), ...args],
    path: '/v1/messages?limit=1',
    headers: authorization(apiKey)
  }
}

export function authorization(apiKey: string): Record<string, string> {
  return { authorization: `ApiKey ${apiKey}` }
}

/** Returns the command that runs one of the server scripts in bench/bare. */
export function bare(script: 'fastify' | 'hello', args: readonly string[] = []): ServerCommand {
  return {
    args: (port) => [join(import.meta.dirname, 'bare', `${script}.mjs`), String(port), ...args],
    path: '/'
  }
}

/** A server in a separate process. */
export interface RunningServer {
  url: string
  /** When the process was spawned, as a value of `performance.now()`. */
  spawnedAt: number
  /** Milliseconds from the spawn to the first response with status 200. */
  startedIn: number
  residentBytes(): number
  peakBytes(): number
  /** Stops the server and waits until its process has ended. */
  stop(): Promise<void>
}

const children = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL')
})

/**
 * Starts a server and waits for its first response with status 200. If the process ends first, or
 * ten minutes pass, throws an error that contains the end of the server's stderr.
 */
export async function start({ args, path, headers = {} }: ServerCommand): Promise<RunningServer> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const [program, programArgs] = pinned(0, servers.node, args(port))
  const spawnedAt = performance.now()
  const child = spawn(program, programArgs, {
    env: cleanEnvironment(),
    stdio: ['ignore', 'ignore', 'pipe']
  })
  children.add(child)
  const exited = once(child, 'close').then(() => children.delete(child))
  let errorOutput = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errorOutput = `${errorOutput}${text}`.slice(-2000)
  })
  while (!(await isReady(url + path, headers))) {
    const isTooSlow = performance.now() - spawnedAt > MAX_START
    if (!children.has(child) || isTooSlow) throw new Error(`did not start: ${errorOutput}`)
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

/**
 * How long a server may take to start, in milliseconds. Generating a million messages takes about a
 * minute.
 */
const MAX_START = 600_000

async function isReady(url: string, headers: Record<string, string>): Promise<boolean> {
  try {
    return (await send('GET', url, { headers })).status === 200
  } catch {
    // The server doesn't listen yet.
    return false
  }
}

/** Returns the process's resident memory (`VmRSS`) or its peak (`VmHWM`) in bytes. */
function memoryOf({ pid }: ChildProcess, name: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const kibibytes = new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]
  return 1024 * Number(kibibytes)
}

/** Returns the environment variables, except those that could change how a server behaves. */
function cleanEnvironment(): Record<string, string | undefined> {
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

interface TimedResponse {
  status: number
  body: Buffer
  /** The time from sending the request until the last byte of the response has arrived. */
  milliseconds: number
}

const agent = new Agent({ keepAlive: true, maxSockets: 1 })

interface RequestOptions {
  headers?: Record<string, string>
  body?: object
}

/** Sends a request over a keep-alive connection. */
async function send(
  method: string,
  url: string,
  { headers = {}, body }: RequestOptions
): Promise<TimedResponse> {
  const startedAt = performance.now()
  return new Promise((done, reject) => {
    const json = body && JSON.stringify(body)
    const content =
      json === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': json.length }
    const outgoing = request(
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
    outgoing.on('error', reject).end(json)
  })
}

/** Sends a request. Throws if the status is not 2xx. */
export async function sendRequest(
  method: string,
  url: string,
  options: RequestOptions = {}
): Promise<TimedResponse> {
  const response = await send(method, url, options)
  if (response.status >= 200 && response.status < 300) return response
  const text = response.body.toString().slice(0, 300)
  throw new Error(`${method} ${url} returned ${response.status}: ${text}`)
}

export interface Load {
  method: 'GET' | 'POST'
  /** The paths to cycle through. */
  paths: readonly [string, ...string[]]
  headers: Record<string, string>
  connections: number
  /** The duration, in whole seconds. */
  seconds: number
}

/**
 * Puts load on a server with wrk, which runs on the clients' core. Throws if any request fails or
 * gets a 4xx or 5xx.
 */
export async function load(
  { url }: RunningServer,
  { method, paths, headers, connections, seconds }: Load
) {
  const headerArgs = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
  const script = join(import.meta.dirname, 'load.lua')
  const options = [
    '-t1',
    `-c${connections}`,
    `-d${seconds}s`,
    '--timeout',
    '30s',
    '-s',
    script,
    ...headerArgs
  ]
  const [program, programArgs] = pinned(1, 'wrk', [...options, url + paths[0]])
  const env = {
    ...process.env,
    BENCH_METHOD: method,
    ...(paths.length > 1 && { BENCH_PATHS: paths.join(' ') })
  }
  const { stdout } = await promisify(execFile)(program, programArgs, { env })
  const {
    requests,
    seconds: taken,
    p99,
    failed
  } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
  if (failed > 0) throw new Error(`${failed} of ${requests} requests for ${paths[0]} failed`)
  return { requestsPerSecond: requests / taken, p99: p99 as number }
}
