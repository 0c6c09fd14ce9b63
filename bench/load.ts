import { execFile, spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { onCore, type Running } from './processes.js'

export interface Load {
  method: 'GET' | 'POST'
  /** Sent in turn. */
  paths: readonly [string, ...string[]]
  headers?: Record<string, string>
  connections: number
  /** A whole number. */
  seconds: number
}

export interface Loaded {
  requests: number
  requestsPerSecond: number
  /** Milliseconds. */
  p50: number
  p99: number
  /** Of the server's processor time, a request; null where the system does not know it. */
  cpuMicroseconds: number | null
  /** Share of the time that the server was busy: far below 1, the load was the limit. */
  busy: number | null
}

/** wrk where it is installed: it takes less of a core than the servers do, so that these are what is measured. */
export const LOAD_TOOL: { name: 'wrk' | 'autocannon'; version: string } = findTool()

/**
 * Loads a server that is there, from another process on another core. Throws if one answer was not a 2xx; that none
 * came in the time is no failure.
 */
export async function load(server: Running, wanted: Load): Promise<Loaded> {
  const [command, args, env] = LOAD_TOOL.name === 'wrk' ? byWrk(server, wanted) : byAutocannon(server, wanted)
  const [program, words] = onCore('load', command, args)
  const before = server.cpuSeconds()
  const { stdout } = await promisify(execFile)(program, words, { env: { ...process.env, ...env } })
  const after = server.cpuSeconds()
  const { requests, seconds, p50, p99, failed } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '')
  if (failed > 0) throw new Error(`${failed} of ${requests} requests for ${wanted.paths[0]} failed`)
  const used = before === null || after === null ? null : after - before
  return {
    requests,
    requestsPerSecond: requests / seconds,
    p50,
    p99,
    cpuMicroseconds: used && requests > 0 ? (used * 1e6) / requests : null,
    busy: used && used / seconds
  }
}

type CommandLine = [command: string, args: string[], env: Record<string, string>]

function byWrk({ url }: Running, { method, paths, headers = {}, connections, seconds }: Load): CommandLine {
  const lines = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
  const script = join(import.meta.dirname, 'load.lua')
  const options = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '30s', '-s', script, ...lines]
  const turns = paths.length > 1 ? { BENCH_PATHS: paths.join(' ') } : {}
  return ['wrk', [...options, url + paths[0]], { BENCH_METHOD: method, ...turns }]
}

function byAutocannon({ url }: Running, wanted: Load): CommandLine {
  const script = join(import.meta.dirname, 'autocannon.mjs')
  return [process.execPath, [script, JSON.stringify({ url, ...wanted })], {}]
}

function findTool(): typeof LOAD_TOOL {
  // It prints its version and then leaves with 1.
  const [, version] = /wrk \S*?([\d.]+)/.exec(spawnSync('wrk', ['--version'], { encoding: 'utf8' }).stdout ?? '') ?? []
  if (version !== undefined && process.env.BENCH_LOAD !== 'autocannon') return { name: 'wrk', version }
  return { name: 'autocannon', version: createRequire(import.meta.url)('autocannon/package.json').version }
}
