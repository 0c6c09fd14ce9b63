import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { ask } from './ask.js'

const root = join(import.meta.dirname, '..')

/** What servers are started with: the built command, by this Node, unless `useServers` names others. */
const servers = { node: process.execPath, command: join(root, 'dist/cli/index.js') }

/** The built command. */
export const commandFile = () => servers.command

/** The Node that servers run on. */
export const serverNode = () => servers.node

/** For servers that are started from now on: another Node, and the command of a package that was installed with it. */
export function useServers({ node, command }: { node?: string | undefined; command?: string | undefined }): void {
  if (node !== undefined) servers.node = resolve(node)
  if (command !== undefined) servers.command = resolve(command)
}

/** A server in a process of its own, on the servers' core. */
export interface Running {
  name: string
  url: string
  /** Milliseconds since 1970. */
  spawnedAt: number
  /** Milliseconds from the spawn to the first 200. */
  startedIn: number
  residentBytes(): number
  /** Of processor time, so far; null where the system does not know it. */
  cpuSeconds(): number | null
  /** Asks it to stop, and waits until it has ended. */
  stop(): Promise<void>
}

export interface ToStart {
  name: string
  /** The servers' Node if left out. */
  command?: string
  args(port: number): string[]
  /** What to ask until it is answered with 200. */
  path: string
  headers?: Record<string, string>
  env?: Record<string, string>
  /** Milliseconds to be ready in. */
  patience?: number
}

/** Servers on one core, what asks them on another, so that neither slows down the other; null where there is no way. */
export const CORES =
  availableParallelism() > 1 && spawnSync('taskset', ['--version']).status === 0
    ? { servers: '0', load: '1', all: `0-${availableParallelism() - 1}` }
    : null

/** The command line that runs this one on a core, or on all. */
export function onCore(core: 'servers' | 'load' | 'all', command: string, args: readonly string[]): [string, string[]] {
  return CORES ? ['taskset', ['-c', CORES[core], command, ...args]] : [command, [...args]]
}

/** Moves this process out of the servers' way. */
export function leaveServersAlone(): void {
  if (CORES) execFileSync('taskset', ['-acp', CORES.load, String(process.pid)], { stdio: 'ignore' })
}

/** Our command, as people start it. */
export function mock(args: readonly string[], apiKey: string): ToStart {
  return {
    name: 'notification-mock',
    args: (port) => [servers.command, '--port', String(port), ...args],
    path: '/v1/messages?limit=1',
    headers: authorization(apiKey)
  }
}

export function authorization(apiKey: string): Record<string, string> {
  return { authorization: `ApiKey ${apiKey}` }
}

/** A server of bench/bare. */
export function bare(script: 'node-http' | 'fastify' | 'hello', args: readonly string[] = []): ToStart {
  const name = { 'node-http': 'bare node:http', fastify: 'bare Fastify', hello: 'bare Fastify, hello' }[script]
  const file = join(import.meta.dirname, 'bare', `${script}.mjs`)
  return { name, args: (port) => [file, String(port), ...args], path: '/' }
}

const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** Resolves at its first 200. Throws, with what it wrote to stderr, if it ends before, or is not ready in time. */
export async function start(server: ToStart): Promise<Running> {
  const { name, path, headers = {}, patience = 120_000 } = server
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const spawnedAt = performance.now()
  const child = launch(server, port)
  const { pid } = child
  let complaints = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    complaints = `${complaints}${text}`.slice(-2000)
  })
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const stop = async () => {
    child.kill('SIGTERM')
    const gone = await Promise.race([exited.then(() => true), delay(STOP_WITHIN, false, { ref: false })])
    if (!gone) child.kill('SIGKILL')
    await exited
  }
  while ((await ask('GET', url + path, { headers }).catch(() => undefined))?.status !== 200) {
    const late = performance.now() - spawnedAt > patience
    if (late) await stop()
    if (late || pid === undefined || !running.has(child)) throw new Error(`${name} did not start: ${complaints}`)
    await delay(1)
  }
  const startedIn = performance.now() - spawnedAt
  if (pid === undefined) throw new Error(`${name} has no process`)
  return {
    name,
    url,
    spawnedAt: performance.timeOrigin + spawnedAt,
    startedIn,
    residentBytes: () => Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) * 1024,
    cpuSeconds: () => cpuSeconds(pid),
    stop
  }
}

const STOP_WITHIN = 10_000

function launch({ command, args, env }: ToStart, port: number): ChildProcess {
  const [program, words] = onCore('servers', command ?? servers.node, args(port))
  const child = spawn(program, words, { env: { ...ownEnvironment(), ...env }, stdio: ['ignore', 'ignore', 'pipe'] })
  running.add(child)
  child.once('error', () => running.delete(child))
  child.once('exit', () => running.delete(child))
  return child
}

/**
 * Runs a command to its end, on all cores, as nothing else runs meanwhile; milliseconds. Throws, with what it wrote to
 * stderr, if it fails.
 */
export async function runToEnd(
  args: readonly string[],
  env: Record<string, string> = {}
): Promise<{ milliseconds: number }> {
  const [program, words] = onCore('all', servers.node, args)
  const startedAt = performance.now()
  const child = spawn(program, words, { env: { ...ownEnvironment(), ...env }, stdio: ['ignore', 'ignore', 'pipe'] })
  running.add(child)
  let complaints = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaints += text
  })
  const [code] = await once(child, 'close')
  running.delete(child)
  if (code !== 0) throw new Error(`${args.join(' ')} left with ${code}: ${complaints.slice(0, 2000)}`)
  return { milliseconds: performance.now() - startedAt }
}

/** Without variables of ours, or of an npm that runs the bench: servers start as from an empty shell. */
function ownEnvironment(): Record<string, string | undefined> {
  const foreign = /^(NOTIFICATION_MOCK_|npm_|PORT$|NODE_OPTIONS$|NODE_ENV$)/
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)))
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('a server listens on no port')
  return address.port
}

/** Ticks are a hundredth of a second on every Linux that Node runs on. */
const TICKS_A_SECOND = 100

function cpuSeconds(pid: number): number | null {
  let stat: string
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return null
  }
  // The name of the command, in parentheses, may hold spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND
}
