import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, fstatSync, openSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { Socket } from 'node:net'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { type Command, Option } from 'commander'
import { DEFAULTS } from '../config.js'
import { attempt, StartError } from '../core/errors.js'
import { addOptions, textOption } from './options.js'
import { type Ready, readyText, serving } from './serve.js'
import { grouped, type ServerFlags, serverOptions, serverStart, TELLING } from './server-options.js'
import { onStopSignal } from './signals.js'
import { describeServer, isRunning, recordThisServer, startedFolder, startedServers } from './started.js'

interface StartFlags extends ServerFlags {
  pidFile?: string
  logFile?: string
  json?: true
}

/** What a server in the background tells who started it. */
interface Started extends Ready {
  pid: number
  logFile: string
}

/** The file descriptor by which it tells that. */
const READY_FD = 3

export function addStart(program: Command): void {
  const command = program
    .command('start')
    .description('start a server in the background, and wait until it is ready; `stop` stops it')
  addOptions(command, startOptions()).action(start)
  const background = program.command('serve-in-background', { hidden: true })
  addOptions(background, startOptions()).action(serveInBackground)
}

function startOptions(): Option[] {
  return [
    ...serverOptions(),
    ...grouped(TELLING, [
      textOption('--pid-file <file>', 'keep the number of the process in this file while it runs', 'none'),
      textOption('--log-file <file>', 'append the log to this file', 'a new one for each start on the port'),
      new Option('--json', 'print one line of JSON when ready, instead of text')
    ])
  ]
}

async function start(flags: StartFlags, command: Command): Promise<void> {
  const { options } = serverStart(flags, command)
  const logFile = flags.logFile ?? newLogFile(process.pid)
  const log = openLog(logFile)
  const { size } = fstatSync(log)
  const child = spawnInBackground(log)
  onStopSignal((signal) => child.kill(signal))
  const ended = once(child, 'exit')
  const message = await text(child.stdio[READY_FD] as Socket)
  if (message === '') {
    const [code, signal] = await ended
    const reason = readFileSync(logFile).subarray(size).toString().trimEnd()
    if (flags.logFile === undefined) rmSync(logFile)
    if (code === 0) throw new StartError('the server was stopped before it was ready')
    const what = reason.replace(/^error: /, '') || `it ended by ${signal ?? code}`
    throw new StartError(
      `the server has not started: ${what}${reason.includes('the port is taken') ? portHolder(flags) : ''}`
    )
  }
  child.unref()
  closeSync(log)
  const ready: Started = JSON.parse(message)
  process.stdout.write(flags.json ? `${message}\n` : startedText(ready, flags, options.seeds ?? []))
}

function startedText(ready: Started, flags: StartFlags, seeds: readonly string[]): string {
  const { port } = new URL(ready.url)
  const choice = flags.pidFile !== undefined ? ` --pid-file ${flags.pidFile}` : ` --port ${port}`
  const isDefault = flags.pidFile === undefined && Number(port) === DEFAULTS.port
  return `${readyText(ready, flags, seeds)}Process ${ready.pid}, log in ${ready.logFile}
To stop it:\n  notification-mock stop${isDefault ? '' : choice}\n`
}

/** Until it is known on which port the server listens. */
function newLogFile(pid: number): string {
  return join(startedFolder(), `start-${pid}.log`)
}

function openLog(file: string): number {
  try {
    return openSync(file, 'a', 0o600)
  } catch (error) {
    throw new StartError(
      `can't write ${file}: ${(error as NodeJS.ErrnoException).code}; name another file with --log-file`
    )
  }
}

function spawnInBackground(log: number): ChildProcess {
  const [, file = '', , ...flags] = process.argv
  // Without what makes a server stop when npm has ended.
  const { npm_lifecycle_event: _, ...env } = process.env
  return spawn(process.execPath, [...process.execArgv, file, 'serve-in-background', ...flags], {
    detached: true,
    windowsHide: true,
    stdio: ['ignore', log, log, 'pipe'],
    env
  })
}

/** Says which server has the port, if it is one that was started like this. */
function portHolder({ port }: StartFlags): string {
  const holder = startedServers().find(({ url }) => url !== undefined && Number(new URL(url).port) === port)
  return holder && isRunning(holder) ? `. It is that of ${describeServer(holder)}, which was started before` : ''
}

/** What the process in the background does. */
async function serveInBackground({ pidFile, logFile, ...flags }: StartFlags, command: Command): Promise<void> {
  const initialLog = logFile ?? newLogFile(process.ppid)
  const paths = { logFile: resolve(initialLog), pidFile: pidFile && resolve(pidFile) }
  const update = recordThisServer(paths)
  const served = await serving(flags, command)
  if (served === undefined) return
  const { ready } = served
  if (logFile === undefined) {
    const name = join(startedFolder(), `${new URL(ready.url).port}.log`)
    paths.logFile = attempt(() => renameSync(initialLog, name) ?? name) ?? initialLog
  }
  update({ url: ready.url, ...paths })
  const message: Started & { pidFile?: string | undefined } = { ...ready, pid: process.pid, ...paths }
  // Whoever has started it may have gone.
  new Socket({ fd: READY_FD }).on('error', () => {}).end(JSON.stringify(message))
}
