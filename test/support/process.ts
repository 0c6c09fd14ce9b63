import {
  type ChildProcess,
  type ChildProcessWithoutNullStreams,
  type SpawnOptions,
  spawn
} from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished, vi } from 'vitest'
import { bundle } from '../../scripts/bundle.mjs'
import { lazily } from '../../src/domain/lazily.js'

const root = join(import.meta.dirname, '../..')

export interface ProcessResult {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

export interface RunningProcess {
  child: ChildProcessWithoutNullStreams & { pid: number }
  /** What the process printed to stdout until it was ready. */
  printed: string
  url: string
  /** Settles when the process and all processes that it started have ended. */
  ended: Promise<ProcessResult>
}

export interface Options
  extends Pick<SpawnOptions, 'cwd' | 'uid' | 'gid' | 'detached' | 'timeout'> {
  /**
   * Environment variables to add. The new process also inherits the variables of the test process,
   * except those of this project, npm and Vitest.
   */
  env?: Record<string, string>
  /**
   * Matches stdout once the process is ready. The default pattern matches the output of `serve`.
   */
  ready?: RegExp
}

/**
 * Builds the package from the current source. Returns its folder, which has the same layout as an
 * installed package. Building takes seconds, so all test processes share the folder. Tests must not
 * change its files.
 */
export const buildPackage = lazily(async (): Promise<string> => {
  const runFolder = process.env.TEST_RUN_FOLDER
  if (!runFolder) return buildPackageIn(mkdtempSync(join(tmpdir(), 'package-')))
  const folder = join(runFolder, 'package')
  const finished = join(runFolder, 'package-is-built')
  const isFirst = mkdirSync(folder, { recursive: true }) !== undefined
  if (isFirst) {
    await buildPackageIn(folder)
    writeFileSync(finished, '')
  } else {
    await vi.waitUntil(() => existsSync(finished), { timeout: 60_000 })
  }
  return folder
})

async function buildPackageIn(folder: string): Promise<string> {
  chmodSync(folder, 0o755)
  for (const name of ['package.json', 'llms.txt', 'docs', 'migrations', 'seeds']) {
    cpSync(join(root, name), join(folder, name), { recursive: true })
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  await bundle(join(folder, 'dist'))
  return folder
}

export function commandIn(folder: string): string {
  return join(folder, 'dist/cli/index.js')
}

/**
 * Runs the command and waits until it ends. By default, kills it after two minutes. Concurrent
 * tests can call this function, because it doesn't use `onTestFinished`.
 */
export async function runCommand(
  args: readonly string[],
  options: Options = {}
): Promise<ProcessResult> {
  return launch(process.execPath, [commandIn(await buildPackage()), ...args], {
    timeout: 120_000,
    ...options
  }).ended
}

/** Starts the command without waiting until it is ready. Kills it when the test ends. */
export async function spawnCommand(
  args: readonly string[],
  options: Options = {}
): Promise<Omit<RunningProcess, 'printed' | 'url'>> {
  const { child, ended } = launch(
    process.execPath,
    [commandIn(await buildPackage()), ...args],
    options
  )
  onTestFinished(() => kill(child))
  return { child, ended }
}

/**
 * Starts the command and waits until it is ready. If no port is set, the command uses a free port.
 * Kills the process when the test ends. Throws if the process ends before it is ready.
 */
export async function startCommand(
  args: readonly string[],
  options: Options = {}
): Promise<RunningProcess> {
  const port =
    args.includes('--port') || options.env?.NOTIFICATION_MOCK_PORT || options.env?.PORT
      ? []
      : ['--port', '0']
  return startProcess(
    process.execPath,
    [commandIn(await buildPackage()), ...args, ...port],
    options
  )
}

/**
 * Starts a server with this command line, and waits until it is ready. Kills it when the test ends.
 */
export async function startProcess(
  command: string,
  args: readonly string[],
  options: Options = {}
): Promise<RunningProcess> {
  const { child, ready, ended } = launch(command, args, options)
  onTestFinished(() => kill(child, options.detached))
  const printed = await Promise.race([
    ready,
    ended.then((end) => {
      throw new Error(`ended before it was ready: ${JSON.stringify(end)}`)
    })
  ])
  const url = /https?:\/\/[\w.:[\]]+:\d+/.exec(printed)?.[0] ?? ''
  return { child, printed, url, ended }
}

/**
 * Matches the last line of the startup output. This line is JSON, a curl example, or a text about
 * missing environments or API keys.
 */
const READY = /^(\{"url"| *curl |No environments|.*key unknown: no seed contains it\)).*$\s/m

function launch(
  command: string,
  args: readonly string[],
  { env, ready: pattern = READY, ...options }: Options
) {
  const child = spawn(command, args, {
    ...options,
    env: { ...cleanEnvironment(), ...env },
    stdio: 'pipe'
  })
  let stdout = ''
  let stderr = ''
  const ready = new Promise<string>((settle) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
      if (pattern.test(stdout)) settle(stdout)
    })
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const ended = once(child, 'close').then(
    ([code, signal]): ProcessResult => ({ code, signal, stdout, stderr })
  )
  // Prevents an unhandled rejection before a test awaits this promise.
  ended.catch(() => {})
  return { child: child as RunningProcess['child'], ready, ended }
}

/** Returns the environment variables without those of this project, npm and Vitest. */
function cleanEnvironment(): Record<string, string | undefined> {
  // The variable `CI` is also removed, because Node turns colors off if it is set.
  const foreign =
    /^(_$|CI$|NOTIFICATION_MOCK_|npm_(lifecycle|package|command|node)|PORT$|NODE_ENV$|VITEST|(FORCE|NO)_COLOR$)/
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)))
}

function kill({ pid }: ChildProcess, group = false): void {
  if (pid === undefined) return
  try {
    process.kill(group ? -pid : pid, 'SIGKILL')
  } catch (error) {
    const hasEnded = (error as NodeJS.ErrnoException).code === 'ESRCH'
    if (!hasEnded) throw error
  }
}

/**
 * Returns a free port below the range of ephemeral ports, so that the system doesn't assign it to
 * another process.
 */
export async function freePort(): Promise<number> {
  const port = randomInt(10_000, 32_000)
  const server = createServer().listen(port, '127.0.0.1')
  const isFree = await once(server, 'listening').then(
    () => once(server.close(), 'close'),
    () => undefined
  )
  return isFree ? port : freePort()
}

/** Creates a folder that is deleted when the test ends. */
export function createTempFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'notification-mock-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Creates a package that has these scripts and depends on `notification-mock`. */
export async function createDependentPackage(scripts: Record<string, string>): Promise<string> {
  const folder = createTempFolder()
  const ours = await buildPackage()
  mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true })
  symlinkSync(ours, join(folder, 'node_modules/notification-mock'))
  symlinkSync(commandIn(ours), join(folder, 'node_modules/.bin/notification-mock'))
  const manifest = {
    name: 'dependent',
    private: true,
    scripts,
    dependencies: { 'notification-mock': '*' }
  }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  return folder
}
