import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { bundle } from '../../scripts/bundle.mjs'

const root = join(import.meta.dirname, '../..')

export interface CompiledCommand {
  /**
   * A server in a process of its own, ready, with a module loaded into it if one is named. Throws, with what the server
   * wrote to stderr, if it ends before that.
   */
  start(options: string[], module?: string): Promise<RunningCommand>
  /** Deletes what was compiled. */
  remove(): void
}

export interface RunningCommand {
  url: string
  kill(signal: 'SIGTERM' | 'SIGKILL'): void
  /** How it ended, once it has. */
  exited: Promise<{ code: number | null; signal: string | null; stderr: string }>
}

/**
 * The command as it is built for a release, from the source as it is now: for tests that start it so often that
 * compiling at each start would be most of what they do.
 */
export async function compileCommand(): Promise<CompiledCommand> {
  const folder = mkdtempSync(join(tmpdir(), 'notification-mock-'))
  for (const name of ['node_modules', 'migrations', 'seeds', 'package.json']) {
    symlinkSync(join(root, name), join(folder, name))
  }
  await bundle(join(folder, 'dist'))
  return {
    start: (options, module) => start(join(folder, 'dist/cli/index.js'), options, module),
    remove: () => rmSync(folder, { recursive: true, force: true })
  }
}

async function start(file: string, options: string[], module?: string): Promise<RunningCommand> {
  const { PORT: _, ...inherited } = process.env
  const env = Object.fromEntries(Object.entries(inherited).filter(([name]) => !name.startsWith('NOTIFICATION_MOCK_')))
  const node = module === undefined ? [] : ['--import', module]
  const always = ['--port', '0', '--json', '--log-level', 'warn']
  const child = spawn(process.execPath, [...node, file, ...always, ...options], {
    env,
    stdio: ['ignore', 'pipe', 'pipe']
  })
  const stderr = text(child.stderr)
  const exited = once(child, 'close').then(async ([code, signal]) => ({ code, signal, stderr: await stderr }))
  const ready = once(createInterface(child.stdout), 'line').then(([line]) => JSON.parse(line))
  const { url } = await Promise.race([
    ready,
    exited.then((end) => {
      throw new Error(`the server ended before it was ready: ${JSON.stringify(end)}`)
    })
  ])
  return { url, exited, kill: (signal) => void child.kill(signal) }
}
