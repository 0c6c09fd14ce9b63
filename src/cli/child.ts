import { type ChildProcess, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { constants } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import spawn from 'cross-spawn'
import { attempt, StartError } from '../core/errors.js'
import { isUnderNohup } from './signals.js'

/** How a process ended: by itself with a code, or by a signal. */
export interface Ending {
  code: number | null
  signal: NodeJS.Signals | null
}

/** A command that could not be started. */
export class NotRunnable extends StartError {
  /** As of `env`, `nohup` and `timeout`. */
  readonly exitCode: 126 | 127

  constructor(file: string, code: string) {
    super(`can't run ${file}: ${REASONS[code] ?? code}`)
    this.exitCode = code === 'ENOENT' ? 127 : 126
  }
}

const IS_WINDOWS = process.platform === 'win32'
const REASONS: Record<string, string> = {
  ENOENT: 'there is no such command, or not the interpreter that its first line names',
  EACCES: 'it is not executable; check the permissions',
  E2BIG: 'its arguments and variables are too long'
}

/** A command that runs with our own input and output. */
export interface Child {
  /** Rejects with `NotRunnable` if the command could not be started. */
  ended: Promise<Ending>
  /** Passes on a signal that this process got. */
  pass(signal: NodeJS.Signals): void
  /** Asks the command and what it started to end. */
  stop(): void
  /** Ends what the command started and left behind. Not at a terminal, where its job control does that. */
  endRest(): Promise<void>
}

/** How long what a command left behind may take to end before it is killed, in milliseconds. */
const REST_GRACE = 1000
const POLL_INTERVAL = 10

/**
 * Starts a command. Without a terminal it gets a process group of its own, so that signals reach what it starts too: npm
 * and shells do not pass them on. At a terminal it stays in ours, as only that group may read from it.
 */
export function startChild(words: readonly string[], env: NodeJS.ProcessEnv): Child {
  const [name = '', ...args] = words
  const hasGroup = !IS_WINDOWS && (!hasTerminal() || isUnderNohup())
  const child = spawned(name, () => spawn(name, args, { env, stdio: 'inherit', detached: hasGroup }))
  const { pid } = child
  const ended = once(child, 'exit').then(
    ([code, signal]): Ending => ({ code, signal }),
    (error) => {
      throw new NotRunnable(name, error.code)
    }
  )
  // Waited for later.
  ended.catch(() => {})

  /** Returns whether there was anybody to send it to. */
  function send(signal: NodeJS.Signals | 0): boolean {
    if (pid === undefined) return false
    return hasGroup ? (attempt(() => process.kill(-pid, signal)) ?? false) : child.kill(signal)
  }
  return {
    ended,
    pass(signal) {
      // The console of Windows has told all its processes, and to send a signal there is to kill.
      if (IS_WINDOWS) return
      if (hasGroup || pid === undefined) send(signal)
      // A terminal sends these to the whole group, and twice would be a command to hurry.
      else if (signal !== 'SIGINT' && signal !== 'SIGQUIT') {
        for (const each of [pid, ...descendantsOf(pid)]) attempt(() => process.kill(each, signal))
      }
    },
    stop() {
      // There a process that is killed leaves behind what it has started.
      if (IS_WINDOWS) spawnSync('taskkill', ['/pid', String(pid), '/t', '/f'], { stdio: 'ignore' })
      else this.pass('SIGTERM')
    },
    async endRest() {
      if (!hasGroup || !send('SIGTERM')) return
      for (let waited = 0; waited < REST_GRACE; waited += POLL_INTERVAL) {
        await delay(POLL_INTERVAL)
        if (!send(0)) return
      }
      send('SIGKILL')
    }
  }
}

/** Most errors come as an event, some are thrown. */
function spawned(file: string, start: () => ChildProcess): ChildProcess {
  try {
    return start()
  } catch (error) {
    throw new NotRunnable(file, (error as NodeJS.ErrnoException).code ?? String(error))
  }
}

/** Returns the processes that a process has started, and those that these have started. */
function descendantsOf(pid: number): number[] {
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
  const pairs = (stdout ?? '').split('\n').map((line) => line.trim().split(/\s+/).map(Number))
  const childrenOf = (parent: number): number[] =>
    pairs.flatMap(([child = 0, ppid]) => (ppid === parent ? [child, ...childrenOf(child)] : []))
  return childrenOf(pid)
}

/** Whether a terminal controls this process, in the foreground or not. */
function hasTerminal(): boolean {
  return attempt(() => closeSync(openSync('/dev/tty', 'r')) ?? true) ?? false
}

/** Ends this process as another has ended, also by its signal: who waits for us may look at that. */
export async function endLike({ code, signal }: Ending): Promise<void> {
  if (signal === null) {
    process.exitCode = code ?? undefined
    return
  }
  process.removeAllListeners(signal)
  // Node ignores or uses some. What a listener leaves behind is the default of the system.
  attempt(() => process.on(signal, () => {}).removeAllListeners(signal))
  process.kill(process.pid, signal)
  // It is on its way, unless the system has no such signal.
  await delay(REST_GRACE)
  process.exit(128 + constants.signals[signal])
}
