import { spawn } from 'node:child_process'
import files from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Command, Option } from 'commander'
import { attempt, StartError } from '../domain/errors.js'
import { replaceFileSync } from '../platform/replace-file.js'
import {
  addOptions,
  addServerOptions,
  mockOptions,
  portOption,
  type ServerFlags
} from './options.js'
import { type Ready, readyText, serve } from './serve.js'
import { onStopSignal, printOutcome } from './terminal.js'

/** A server that `start` has started. A file for each port keeps what is known of it. */
interface StartedServer {
  url: string
  pid: number
  /** What its `/health` answers with as `x-mock-instance`: no other server does. */
  instance: string
  /** In ISO 8601. */
  startedAt: string
  logFile: string
}

export function addCommands(root: Command): void {
  root.commandsGroup('Serve:')
  const starting = 'start a server in the background, and wait until it is ready; `stop` stops it'
  const line = new Option('--json', 'print one line of JSON when ready, instead of text')
  addOptions(addServerOptions(root.command('start').description(starting)), [line]).action(start)
  const hidden = root.command('serve-in-background', { hidden: true })
  addOptions(addServerOptions(hidden), [line]).action(serveInBackground)
  const listing =
    'list the servers that `start` has started: exit code 0 when one of them runs, 1 when none does'
  const json = new Option('--json', 'print the outcome as JSON')
  addOptions(root.command('status').description(listing), [json]).action(status)
  const stopping = 'stop a server that `start` has started, and wait until it has ended'
  const port = portOption('the server that was started on this port', 1).default(
    undefined,
    'the only one that runs'
  )
  const all = new Option('--all', 'stop all that this user has started, whatever else is chosen')
  addOptions(root.command('stop').description(stopping), [port, json, all]).action(stop)
}

async function start(flags: ServerFlags, command: Command): Promise<void> {
  // A wrong command line is told before anything is started.
  mockOptions(flags, command)
  const logFile = logFileOf(process.pid)
  const log = files.openSync(logFile, 'w', 0o600)
  const [node = '', file = '', , ...words] = process.argv
  // Without what makes a server stop when npm has ended.
  const { npm_lifecycle_event: _, ...env } = process.env
  const child = spawn(node, [...process.execArgv, file, 'serve-in-background', ...words], {
    detached: true,
    windowsHide: true,
    stdio: ['ignore', log, log, 'ipc'],
    env
  })
  onStopSignal((signal) => child.kill(signal))
  const ready = await new Promise<(Ready & StartedServer) | undefined>((settle) => {
    child.once('message', settle as () => void).once('exit', () => settle(undefined))
  })
  if (ready === undefined) {
    const reason = files.readFileSync(logFile, 'utf8').trimEnd()
    files.rmSync(logFile)
    const what =
      reason.replace(/^error: /, '') || `it ended by ${child.signalCode ?? child.exitCode}`
    const [holder] = what.includes(': the port is taken') ? await startedServers(flags.port) : []
    throw new StartError(
      `the server has not started: ${what}${holder ? `. It is that of ${describe(holder)}` : ''}`
    )
  }
  child.channel?.unref()
  child.unref()
  const stop = `notification-mock stop --port ${new URL(ready.url).port}`
  const more = `Process ${ready.pid}, log in ${ready.logFile}\nTo stop it:\n  ${stop}\n`
  printOutcome(ready, flags.json, (shown) => `${readyText(shown, flags)}${more}`)
}

/** Until it is known on which port the server listens. */
const logFileOf = (starter: number) => join(startedFolder(), `start-${starter}.log`)

async function serveInBackground(flags: ServerFlags, command: Command): Promise<void> {
  const firstLog = logFileOf(process.ppid)
  const ready = await serve(flags, command)
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
  // Whoever has started it may have gone.
  if (process.connected) process.send?.({ ...ready, ...started })
}

/** Returns the folder of what is known of started servers, which belongs to this user alone. */
function startedFolder(): string {
  const uid = process.getuid?.()
  const folder = join(tmpdir(), `notification-mock-${uid ?? 'user'}`)
  files.mkdirSync(folder, { recursive: true, mode: 0o700 })
  const found = files.lstatSync(folder)
  if (found.isDirectory() && (uid === undefined || found.uid === uid)) return folder
  throw new StartError(`${folder} belongs to somebody else; set TMPDIR to another folder`)
}

const fileOf = ({ url }: StartedServer) => join(startedFolder(), `${new URL(url).port}.json`)

const recordIn = (file: string): StartedServer | undefined =>
  attempt(() => JSON.parse(files.readFileSync(file, 'utf8')))

/** Whether a server has its file: it deletes that when it ends, and a later one on the port replaces it. */
const isKept = (server: StartedServer) => recordIn(fileOf(server))?.pid === server.pid

function forget(server: StartedServer): void {
  if (isKept(server)) files.rmSync(fileOf(server), { force: true })
}

type ServerState = StartedServer & { state: 'running' | 'not answering' }

/** Returns the servers that were started and still are there, of all ports or of one; the newest last. */
async function startedServers(port?: number): Promise<ServerState[]> {
  const folder = startedFolder()
  const names = files
    .readdirSync(folder)
    .filter((name) => (port ? name === `${port}.json` : name.endsWith('.json')))
  const found = names.map(async (name): Promise<ServerState[]> => {
    const server = recordIn(join(folder, name))
    if (server === undefined) return []
    const instance = await instanceAt(server.url)
    if (instance === undefined) return [{ ...server, state: 'not answering' }]
    if (instance === server.instance) return [{ ...server, state: 'running' }]
    forget(server)
    return []
  })
  return (await Promise.all(found))
    .flat()
    .sort((one, other) => one.startedAt.localeCompare(other.startedAt))
}

/** Returns which server answers at a URL: null if none of ours does, undefined if the answer is late. */
async function instanceAt(url: string): Promise<string | null | undefined> {
  try {
    const { headers } = await fetch(`${url}/health`, {
      method: 'HEAD',
      signal: AbortSignal.timeout(2500)
    })
    return headers.get('x-mock-instance')
  } catch (error) {
    return (error as Error).name === 'TimeoutError' ? undefined : null
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
  const found = await startedServers(all ? undefined : port)
  if (found.length > 1 && !all) {
    const each = found.map(describe).join(', ')
    throw new StartError(
      `there are several servers: ${each}; choose one with --port, or give --all`
    )
  }
  await Promise.all(found.map(end))
  const stopped = found.map(({ url, pid }) => ({ url, pid }))
  printOutcome(
    { stopped },
    json,
    () => found.map((server) => `stopped ${describe(server)}\n`).join('') || NONE
  )
}

const NONE = 'no server is running\n'

/** Ends a server that has answered as itself: another process may have got the number of one that has not. */
async function end(server: ServerState): Promise<void> {
  if (server.state !== 'running')
    throw new StartError(`${describe(server)} does not answer; end the process yourself`)
  process.kill(server.pid, 'SIGTERM')
  for (let waited = 0; isKept(server) && attempt(() => process.kill(server.pid, 0)); waited += 20) {
    // In milliseconds: it gives itself less.
    if (waited > 10_000) throw new StartError(`${describe(server)} has not ended after 10 s`)
    await delay(20)
  }
}

/** `http://127.0.0.1:4210 (process 4711)` */
const describe = ({ url, pid }: StartedServer) => `${url} (process ${pid})`
