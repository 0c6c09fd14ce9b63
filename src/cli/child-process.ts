import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import spawn from 'cross-spawn'

/** How a process ended: with an exit code or by a signal. */
export type Ending = { code: number | null; signal: NodeJS.Signals | null }

const IS_WINDOWS = process.platform === 'win32'

/** Milliseconds that leftover processes of a command may take to end before they are killed. */
const LEFTOVER_GRACE = 500

/**
 * A running command with its child processes.
 *
 * Without a terminal the command gets its own process group, so that signals also reach the
 * processes it starts: npm and shells don't forward them. At a terminal it stays in our group,
 * because only that group may read from the terminal.
 */
export class CommandProcess {
  /** Rejects with the system's error if the command can't be started. */
  readonly ended: Promise<Ending>
  readonly #child: ChildProcess
  readonly #hasGroup = !IS_WINDOWS && !process.stdin.isTTY

  /** Throws some of the system's errors instead of rejecting `ended`. */
  constructor(command: readonly string[], env: NodeJS.ProcessEnv) {
    const [name = '', ...args] = command
    // Start the guard first, so that the command is guarded from its first moment.
    const guard = IS_WINDOWS ? undefined : startGuard()
    this.#child = spawn(name, args, { env, stdio: 'inherit', detached: this.#hasGroup })
    const { pid } = this.#child
    if (pid === undefined) guard?.kill('SIGKILL')
    else guard?.stdin?.write(`${this.#hasGroup ? -pid : pid}\n`)
    this.ended = once(this.#child, 'exit').then(([code, signal]): Ending => {
      guard?.kill('SIGKILL')
      return { code, signal }
    })
  }

  /** Returns whether there was a process to receive the signal. */
  send(signal: NodeJS.Signals): boolean {
    const { pid } = this.#child
    if (pid === undefined) return false
    return this.#hasGroup ? trySignal(-pid, signal) : this.#child.kill(signal)
  }

  /** Forwards a signal that this process received, unless the command received it too. */
  forward(signal: NodeJS.Signals): void {
    // The Windows console notifies all its processes. A terminal sends these two to its group.
    const isFromTerminal = !this.#hasGroup && (signal === 'SIGINT' || signal === 'SIGQUIT')
    if (!IS_WINDOWS && !isFromTerminal) this.send(signal)
  }

  /** Ends the processes that the command left running. At a terminal, job control does that. */
  async endLeftovers(): Promise<void> {
    if (!this.#hasGroup || !this.send('SIGTERM')) return
    await delay(LEFTOVER_GRACE)
    this.send('SIGKILL')
  }
}

/** Returns false if there is no such process, or none that we may signal. */
function trySignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ESRCH' || code === 'EPERM') return false
    throw error
  }
}

/** Reads a process or group id, waits until its stdin closes, and ends that process or group. */
const GUARD_SCRIPT =
  'read target; read _; kill -s TERM -- "$target" && sleep 1 && kill -s KILL -- "$target"'

/** Starts a process that ends the command once this process is gone, however it ended. */
function startGuard(): ChildProcess {
  const guard = spawn('/bin/sh', ['-c', GUARD_SCRIPT], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true
  })
  guard.unref()
  guard.stdin?.on('error', () => {})
  // A system without a shell runs without the guard.
  return guard.on('error', () => {})
}

/** Ends this process the way another one ended: with its exit code or by its signal. */
export async function endLike({ code, signal }: Ending): Promise<void> {
  process.exitCode = code ?? undefined
  if (signal === null) return
  restoreDefaultAction(signal)
  process.kill(process.pid, signal)
  // The signal is on its way, unless this system doesn't have it.
  await delay(LEFTOVER_GRACE)
  process.exit(128 + constants.signals[signal])
}

/** Makes a signal end this process. Node ignores some signals until a listener was removed. */
function restoreDefaultAction(signal: NodeJS.Signals): void {
  process.removeAllListeners(signal)
  try {
    process.on(signal, () => {}).removeAllListeners(signal)
  } catch (error) {
    // No program can listen to SIGKILL and SIGSTOP, so these have their default action already.
    const { code = '' } = error as NodeJS.ErrnoException
    if (code !== 'EINVAL' && code !== 'ENOSYS') throw error
  }
}
