import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { cpus, loadavg, release, totalmem, type } from 'node:os'
import { join } from 'node:path'
import { LOAD_TOOL } from './load.js'
import { CORES, commandFile, serverNode } from './processes.js'

export interface Machine {
  processor: string
  cores: number
  memoryGiB: number
  system: string
  /** Of the last minute, when the run began: above 0.3 or so somebody else was at work. */
  loadAverage: number
  pinned: string
}

export function thisMachine(): Machine {
  const [first] = cpus()
  return {
    processor: first?.model.trim() || 'unknown',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 1024 ** 3),
    system: `${type()} ${release()}`,
    loadAverage: Math.round((loadavg()[0] ?? 0) * 100) / 100,
    pinned: CORES
      ? `servers on core ${CORES.servers}, load and bench on core ${CORES.load}`
      : 'nothing is pinned: there is no taskset, or but one core'
  }
}

export function versions(): Record<string, string> {
  const require = createRequire(import.meta.url)
  const read = ['-p', 'JSON.stringify([process.versions.node, process.versions.v8])']
  const [node, v8] = JSON.parse(execFileSync(serverNode(), read, { encoding: 'utf8' }))
  return {
    'notification-mock': require('../package.json').version,
    node,
    v8,
    fastify: require('fastify/package.json').version,
    'better-sqlite3': createRequire(commandFile())('better-sqlite3/package.json').version,
    [LOAD_TOOL.name]: LOAD_TOOL.version
  }
}

/** What was measured; `dirty` when the tree is not that of the commit. */
export function commit(): { commit: string; dirty: boolean } {
  const git = (...args: string[]) =>
    execFileSync('git', args, {
      cwd: import.meta.dirname,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore']
    }).trim()
  try {
    return { commit: git('rev-parse', 'HEAD'), dirty: git('status', '--porcelain', '--', '..', ':!results') !== '' }
  } catch {
    return { commit: packedCommit(), dirty: false }
  }
}

/** A package has no history. */
function packedCommit(): string {
  const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8'))
  return `none: the package ${version}`
}
