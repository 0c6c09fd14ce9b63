import { spawnSync } from 'node:child_process'
import {
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { attempt, StartError } from '../core/errors.js'

/** A server that `start` has started. */
export interface StartedServer {
  pid: number
  /** When the process began, in words of the system: another process may get its number later. */
  process: string
  /** In ISO 8601. */
  startedAt: string
  logFile: string
  pidFile?: string | undefined
  /** Once it is ready. */
  url?: string
}

/** Returns the folder of what is known of started servers, which belongs to this user alone. */
export function startedFolder(): string {
  const uid = process.getuid?.()
  const folder = join(tmpdir(), `notification-mock-${uid ?? 'user'}`)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const found = lstatSync(folder)
  if (!found.isDirectory() || (uid !== undefined && found.uid !== uid)) {
    throw new StartError(`${folder} belongs to somebody else; set TMPDIR to another folder`)
  }
  return folder
}

const fileOf = (pid: number) => join(startedFolder(), `${pid}.json`)

/**
 * Keeps in a file what is known of this process, and its number in its pid file, until it ends. Throws `StartError` if a
 * server that runs has that pid file. Returns a function that adds what is known later.
 */
export function recordThisServer(
  server: Pick<StartedServer, 'logFile' | 'pidFile'>
): (more: Partial<StartedServer>) => void {
  const { pid } = process
  const started = { pid, process: processOf(pid) ?? '', startedAt: new Date().toISOString(), ...server }
  const update = (more: Partial<StartedServer>) =>
    replaceText(fileOf(pid), JSON.stringify(Object.assign(started, more)))
  update({})
  process.once('exit', () => forget(started))
  if (server.pidFile !== undefined) claimPidFile(server.pidFile, pid)
  return update
}

/** Deletes what is kept of a server that has ended. */
export function forget({ pid, pidFile }: StartedServer): void {
  rmSync(fileOf(pid), { force: true })
  if (pidFile !== undefined && attempt(() => readPid(pidFile)) === pid) rmSync(pidFile, { force: true })
}

/** Returns the servers that were started and not stopped, the newest last; some may have ended. */
export function startedServers(): StartedServer[] {
  const folder = startedFolder()
  const files = readdirSync(folder).filter((name) => /^\d+\.json$/.test(name))
  const all = files.flatMap(
    (name): StartedServer[] => attempt(() => [JSON.parse(readFileSync(join(folder, name), 'utf8'))]) ?? []
  )
  return all.sort((one, other) => one.startedAt.localeCompare(other.startedAt))
}

/** Whether its very process is still there. */
export function isRunning(server: StartedServer): boolean {
  return processOf(server.pid) === server.process
}

/** Returns the number in a pid file, if there is one. Throws `StartError` if it is anything else, or can't be read. */
export function readPid(pidFile: string): number | undefined {
  try {
    const text = lstatSync(pidFile).isFile() ? readFileSync(pidFile, 'utf8') : ''
    if (/^\d{1,10}\s*$/.test(text)) return Number(text)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    throw new StartError(`can't read ${pidFile}: ${code}; name another file`)
  }
  throw new StartError(`${pidFile} is no pid file; name another file`)
}

/** Returns when a process began, or undefined if there is none: one that has ended and is not collected yet is none. */
function processOf(pid: number): string | undefined {
  if (process.platform === 'linux') {
    const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, 'utf8'))
    const [state, ...numbers] = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? []
    if (state === undefined || state === 'Z' || state === 'X') return undefined
    return `${attempt(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim())} ${numbers[18]}`
  }
  // There, only whether the number is in use.
  if (process.platform === 'win32') return attempt(() => String(process.kill(pid, 0)))
  const { stdout } = spawnSync('ps', ['-o', 'stat=,lstart=', '-p', `${pid}`], {
    encoding: 'utf8',
    env: { LC_ALL: 'C' }
  })
  const [, state, began] = /^\s*(\S+)\s+(.+?)\s*$/.exec(stdout) ?? []
  return state?.startsWith('Z') ? undefined : began
}

/** Of several that claim it at once, one gets it. */
function claimPidFile(pidFile: string, pid: number): void {
  const own = `${pidFile}.${pid}`
  try {
    writeFileSync(own, `${pid}\n`)
    while (!linked(own, pidFile)) {
      const holder = readPid(pidFile)
      if (holder === undefined) continue
      // In a container, the one before may have had our own number.
      if (holder !== pid) refuseRunning(pidFile, holder)
      takeAway(pidFile, holder, `${own}.old`)
    }
  } catch (error) {
    if (error instanceof StartError) throw error
    throw new StartError(
      `can't write ${pidFile}: ${(error as NodeJS.ErrnoException).code}; name another file with --pid-file`
    )
  } finally {
    rmSync(own, { force: true })
  }
}

/** Throws `StartError` if the holder of a pid file runs. */
function refuseRunning(pidFile: string, holder: number): void {
  const server = startedServers().find((each) => each.pid === holder)
  if (server && isRunning(server)) throw new StartError(`${pidFile} is that of ${describeServer(server)}`)
  if (!server && processOf(holder) !== undefined) {
    const remedy = 'name another file, or delete it if it was left behind'
    throw new StartError(`${pidFile} has the number of process ${holder}, which \`start\` has not started; ${remedy}`)
  }
}

function linked(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** Deletes the pid file of a server that has ended, unless another has got it since that was looked at. */
function takeAway(pidFile: string, holder: number, aside: string): void {
  try {
    renameSync(pidFile, aside)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    throw error
  }
  if (attempt(() => readPid(aside)) !== holder) linked(aside, pidFile)
  unlinkSync(aside)
}

function replaceText(file: string, text: string): void {
  const tempFile = `${file}.new`
  writeFileSync(tempFile, text, { mode: 0o600 })
  renameSync(tempFile, file)
}

/** `http://127.0.0.1:4210 (process 4711)` */
export function describeServer({ url, pid }: StartedServer): string {
  return `${url ?? 'a server that is starting'} (process ${pid})`
}
