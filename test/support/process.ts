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
import { onTestFinished } from 'vitest'
import { bundle } from '../../scripts/bundle.mjs'
import { attempt } from '../../src/domain/errors.js'
import { lazily } from '../../src/domain/lazily.js'

const root = join(import.meta.dirname, '../..')

/** How a process ended, and all that it wrote. */
export interface ProcessResult {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

export interface RunningProcess {
  child: ChildProcessWithoutNullStreams & { pid: number }
  /** What it printed when it was ready. */
  printed: string
  url: string
  /** Settles when nobody holds its output any more: it has ended, and all that it started. */
  ended: Promise<ProcessResult>
}

export interface Options
  extends Pick<SpawnOptions, 'cwd' | 'uid' | 'gid' | 'detached' | 'timeout'> {
  /** Beside an environment without variables of ours, or of an npm that runs the tests. */
  env?: Record<string, string>
  /** What it prints when it is ready, if it is not `serve`. */
  ready?: RegExp
}

/**
 * The folder of the package as it is when it is installed, with the command compiled from the source as it is now.
 * Built once for all test files that run in this process, in about two seconds.
 */
export const buildPackage = lazily(async (): Promise<string> => {
  const folder = mkdtempSync(join(process.env.TEST_RUN_FOLDER ?? tmpdir(), 'package-'))
  chmodSync(folder, 0o755)
  for (const name of ['package.json', 'llms.txt', 'docs', 'migrations', 'seeds']) {
    cpSync(join(root, name), join(folder, name), { recursive: true })
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  await bundle(join(folder, 'dist'))
  return folder
})

export function commandIn(folder: string): string {
  return join(folder, 'dist/cli/index.js')
}

/** Runs our command to its end, or kills it after two minutes. May be used in concurrent tests. */
export async function runCommand(
  args: readonly string[],
  options: Options = {}
): Promise<ProcessResult> {
  return launch(process.execPath, [commandIn(await buildPackage()), ...args], {
    timeout: 120_000,
    ...options
  }).ended
}

/** Our command, just started; killed when the test ends. */
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

/** Our command, serving on a free port unless told otherwise; killed when the test ends. Throws if it ends unready. */
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

/** Any command line that starts our server somehow. */
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

/** What it prints last: the curl to try, or that there is nothing to try. Or it is one line of JSON. */
const READY = /^(\{"url"| *curl |No environments|.*not in the seeds given\)).*$\s/m

function launch(
  command: string,
  args: readonly string[],
  { env, ready: pattern = READY, ...options }: Options
) {
  const child = spawn(command, args, {
    ...options,
    env: { ...ownEnvironment(), ...env },
    stdio: 'pipe'
  })
  let [stdout, stderr] = ['', '']
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
  // Waiting for it later is not the same as nobody caring now.
  ended.catch(() => {})
  return { child: child as RunningProcess['child'], ready, ended }
}

function ownEnvironment(): Record<string, string | undefined> {
  // Node takes a terminal in CI for one without colours.
  const foreign =
    /^(_$|CI$|NOTIFICATION_MOCK_|npm_(lifecycle|package|command|node)|PORT$|NODE_ENV$|VITEST|(FORCE|NO)_COLOR$)/
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)))
}

function kill({ pid }: ChildProcess, group = false): void {
  // It may have ended already.
  if (pid !== undefined) attempt(() => process.kill(group ? -pid : pid, 'SIGKILL'))
}

/** A port that nobody listens on, below those that the system itself gives to servers and to connections. */
export async function freePort(): Promise<number> {
  const port = randomInt(10_000, 32_000)
  const server = createServer().listen(port, '127.0.0.1')
  const isFree = await once(server, 'listening').then(
    () => once(server.close(), 'close'),
    () => undefined
  )
  return isFree ? port : freePort()
}

/** A folder of its own for one test. */
export function createTempFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'notification-mock-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A package that depends on ours, as npm installs it, with these scripts. */
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
