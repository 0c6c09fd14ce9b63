import { type ChildProcess, spawn } from 'node:child_process'
import files from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Command, Option } from 'commander'
import { StartError } from '../domain/errors.js'
import { directFetch } from '../platform/direct-fetch.js'
import { replaceFileSync } from '../platform/replace-file.js'
import {
  addOptions,
  addServerOptions,
  mockOptions,
  portOption,
  type ServerFlags,
  withoutVariable
} from './options.js'
import { type Ready, readyText, serve } from './serve.js'
import { onStopSignal, printOutcome } from './terminal.js'

/** The record of a background server. It is stored in a file named after the server's port. */
interface StartedServer {
  url: string
  pid: number
  /** The value of the header `x-mock-instance` in the server's responses. */
  instance: string
  /** An ISO 8601 timestamp. */
  startedAt: string
  logFile: string
}

export function addCommands(root: Command): void {
  root.commandsGroup('Serve:')
  const starting = 'start a mock server in the background and wait until it is ready'
  const line = new Option('--json', 'print one line of JSON when ready, instead of text')
  addOptions(addServerOptions(root.command('start').description(starting)), [line]).action(start)
  const hidden = root.command('serve-in-background', { hidden: true })
  addOptions(addServerOptions(hidden), [line]).action(serveInBackground)
  const listing = 'list background servers; exit with 1 if none is running'
  const json = new Option('--json', 'print the result as JSON')
  addOptions(root.command('status').description(listing), [json]).action(status)
  const stopping = 'stop a background server and wait until it has exited'
  const port = portOption('port of the server to stop', 1).default(
    undefined,
    'the only running server'
  )
  const all = withoutVariable(new Option('--all', 'stop all background servers of this user'))
  addOptions(root.command('stop').description(stopping), [port, json, all]).action(stop)
}

async function start(flags: ServerFlags, command: Command): Promise<void> {
  // Report usage errors before starting anything.
  mockOptions(flags, command)
  const logFile = logFileOf(process.pid)
  const log = files.openSync(logFile, 'w', 0o600)
  const [node = '', file = '', , ...words] = process.argv
  // With this variable, the server would stop as soon as npm exits.
  const { npm_lifecycle_event: _, ...env } = process.env
  const child = spawn(node, [...process.execArgv, file, 'serve-in-background', ...words], {
    detached: true,
    windowsHide: true,
    stdio: ['ignore', log, log, 'ipc'],
    env
  })
  onStopSignal((signal) => child.kill(signal))
  const result = await waitForResult(child)
  if (result.kind === 'failed') throw await startFailure(flags, child, logFile, result.isPortTaken)
  const { ready } = result
  child.channel?.unref()
  child.unref()
  const stop = `notification-mock stop --port ${new URL(ready.url).port}`
  const more = `Process ${ready.pid}, log in ${ready.logFile}\nTo stop it:\n  ${stop}\n`
  printOutcome(ready, flags.json, (shown) => `${readyText(shown, flags)}${more}`)
}

/** The message that a background server sends to the process that started it. */
type StartResult =
  | { kind: 'ready'; ready: Ready & StartedServer }
  | { kind: 'failed'; isPortTaken: boolean }

/** Waits until the server is ready or has exited. */
async function waitForResult(child: ChildProcess): Promise<StartResult> {
  let result: StartResult = { kind: 'failed', isPortTaken: false }
  await new Promise<void>((settle) => {
    child.on('message', (message) => {
      result = message as StartResult
      if (result.kind === 'ready') settle()
    })
    // After a `failed` message, wait for the exit, because the server sends the message before it
    // logs the error.
    child.once('exit', () => {
      // A message may still arrive after the exit, until the channel is closed.
      if (child.connected) child.once('disconnect', () => settle())
      else settle()
    })
  })
  return result
}

/** Returns an error for a failed start. Its message includes the error that the server logged. */
async function startFailure(
  { port }: ServerFlags,
  child: ChildProcess,
  logFile: string,
  isPortTaken: boolean
): Promise<StartError> {
  const log = files.readFileSync(logFile, 'utf8').trimEnd()
  files.rmSync(logFile)
  const { signalCode, exitCode } = child
  const ending = signalCode ? `was ended by ${signalCode}` : `exited with code ${exitCode}`
  const reason = log.replace(/^error: /, '') || `it ${ending}`
  const [holder] = isPortTaken ? await startedServers(port) : []
  const user = holder ? `. The port is used by ${describe(holder)}` : ''
  return new StartError(`the server did not start: ${reason}${user}`)
}

/** Sends the result to the process that started this one, if that process still exists. */
function reportToStarter(result: StartResult): void {
  if (process.connected) process.send?.(result)
}

const causeCode = (error: unknown) =>
  error instanceof Error ? (error.cause as NodeJS.ErrnoException | undefined)?.code : undefined

/** Returns the log file to use until the server's port is known. */
const logFileOf = (starter: number) => join(startedFolder(), `start-${starter}.log`)

async function serveInBackground(flags: ServerFlags, command: Command): Promise<void> {
  const firstLog = logFileOf(process.ppid)
  const ready = await serve(flags, command).catch((error) => {
    reportToStarter({ kind: 'failed', isPortTaken: causeCode(error) === 'EADDRINUSE' })
    throw error
  })
  const logFile = join(startedFolder(), `${new URL(ready.url).port}.log`)
  files.renameSync(firstLog, logFile)
  const instance = (await instanceAt(ready.url)) ?? ''
  const started = {
    url: ready.url,
    pid: process.pid,
    instance,
    startedAt: new Date().toISOString(),
    logFile
  }
  replaceFileSync(fileOf(started), JSON.stringify(started), 0o600)
  process.once('exit', () => forget(started))
  reportToStarter({ kind: 'ready', ready: { ...ready, ...started } })
}

/** Returns the folder for the records of background servers. Only this user can access it. */
function startedFolder(): string {
  const uid = process.getuid?.()
  const folder = join(tmpdir(), `notification-mock-${uid ?? 'user'}`)
  try {
    files.mkdirSync(folder, { recursive: true, mode: 0o700 })
    files.accessSync(folder, files.constants.W_OK)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new StartError(
      `can't write to ${folder} (${code}); set TMPDIR to a folder you can write to`
    )
  }
  const stats = files.lstatSync(folder)
  if (stats.isDirectory() && (uid === undefined || stats.uid === uid)) return folder
  throw new StartError(`${folder} belongs to another user; set TMPDIR to another folder`)
}

const fileOf = ({ url }: StartedServer) => join(startedFolder(), `${new URL(url).port}.json`)

/** Returns undefined if the file is missing or isn't valid JSON. */
function readRecord(file: string): StartedServer | undefined {
  try {
    return JSON.parse(files.readFileSync(file, 'utf8'))
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    if (isMissing || error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Returns whether the server's record still exists. A server deletes its record when it stops. */
const hasRecord = (server: StartedServer) => readRecord(fileOf(server))?.pid === server.pid

function forget(server: StartedServer): void {
  if (hasRecord(server)) files.rmSync(fileOf(server), { force: true })
}

type ServerState = StartedServer & { state: 'running' | 'not responding' }

/**
 * Returns the background servers, sorted by start time. If `port` is set, returns only the server
 * on that port. Deletes the records of servers that are gone.
 */
async function startedServers(port?: number): Promise<ServerState[]> {
  const folder = startedFolder()
  const names = files
    .readdirSync(folder)
    .filter((name) => (port ? name === `${port}.json` : name.endsWith('.json')))
  const checks = names.map(async (name): Promise<ServerState[]> => {
    const server = readRecord(join(folder, name))
    if (server === undefined) return []
    const state = await stateOf(server)
    if (state !== 'gone') return [{ ...server, state }]
    forget(server)
    return []
  })
  return (await Promise.all(checks))
    .flat()
    .sort((one, other) => one.startedAt.localeCompare(other.startedAt))
}

/**
 * Returns the state of a server. It is `gone` only if its process has ended or another mock server
 * now uses its port. A failed request alone isn't enough, because the server may be busy.
 */
async function stateOf(server: StartedServer): Promise<ServerState['state'] | 'gone'> {
  const instance = await instanceAt(server.url)
  if (instance === server.instance) return 'running'
  return instance === undefined && isAlive(server.pid) ? 'not responding' : 'gone'
}

/** Returns the instance id of the mock server at `url`, or undefined if none responds in time. */
async function instanceAt(url: string): Promise<string | undefined> {
  try {
    const request = { method: 'HEAD', signal: AbortSignal.timeout(2500) }
    const { headers, text } = await directFetch(`${url}/health`, request)
    // Read to the end, because an open response keeps this process alive.
    await text()
    return headers.get('x-mock-instance') ?? undefined
  } catch {
    return undefined
  }
}

async function status({ json }: { json?: true }): Promise<void> {
  const servers = await startedServers()
  const lines = servers.map(({ url, state, pid, startedAt, logFile }) => {
    return `${url}  ${state}, process ${pid} since ${startedAt}, log in ${logFile}\n`
  })
  printOutcome({ servers }, json, () => lines.join('') || NONE)
  if (!servers.some(({ state }) => state === 'running')) process.exitCode = 1
}

async function stop({
  all,
  port,
  json
}: {
  all?: true
  port?: number
  json?: true
}): Promise<void> {
  const servers = await startedServers(all ? undefined : port)
  if (servers.length > 1 && !all) {
    const list = servers.map(describe).join(', ')
    throw new StartError(
      `several servers are running: ${list}; choose one with --port, or use --all`
    )
  }
  await Promise.all(servers.map(stopServer))
  const stopped = servers.map(({ url, pid }) => ({ url, pid }))
  printOutcome(
    { stopped },
    json,
    () => servers.map((server) => `stopped ${describe(server)}\n`).join('') || NONE
  )
}

const NONE = 'no server is running\n'

/**
 * Milliseconds to wait for a server to exit. Must be longer than `LAST_RESORT`, the longest time
 * that a server takes to stop.
 */
const STOP_TIMEOUT = 10_000

/**
 * Stops a running server. If the server doesn't respond, throws `StartError` and sends no signal,
 * because its process id may now belong to another process.
 */
async function stopServer(server: ServerState): Promise<void> {
  if (server.state !== 'running') {
    throw new StartError(
      `${describe(server)} does not respond; end the process yourself, ` +
        `or delete ${fileOf(server)} if the process isn't a mock server`
    )
  }
  process.kill(server.pid, 'SIGTERM')
  const deadline = performance.now() + STOP_TIMEOUT
  while (hasRecord(server) && isAlive(server.pid)) {
    if (performance.now() > deadline) {
      throw new StartError(
        `${describe(server)} has not exited after 10 s; end the process yourself`
      )
    }
    await delay(20)
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0) && !isZombie(pid)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // EPERM means that the id now belongs to another user's process, so the server has ended.
    if (code === 'ESRCH' || code === 'EPERM') return false
    throw error
  }
}

/**
 * Returns whether the process is a zombie: it has ended, but still has its id. In a container
 * without an init process, a background server becomes a zombie when it ends.
 */
function isZombie(pid: number): boolean {
  try {
    return files.readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')
  } catch {
    // Only Linux has this file.
    return false
  }
}

/** Returns text such as `http://127.0.0.1:4210 (process 4711)`. */
const describe = ({ url, pid }: StartedServer) => `${url} (process ${pid})`
