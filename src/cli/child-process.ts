import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import spawn from 'cross-spawn'

/** How a process ended: with an exit code or by a signal. */
export type Ending = { code: number | null; signal: NodeJS.Signals | null }

const IS_WINDOWS = process.platform === 'win32'

/** Milliseconds between SIGTERM and SIGKILL for processes that the command left running. */
const LEFTOVER_GRACE = 500

/**
 * A running command with its child processes.
 *
 * Without a terminal, the command gets its own process group, except on Windows. Signals are sent
 * to the whole group, because npm and shells don't forward signals to their child processes. At a
 * terminal, the command stays in this process's group, because only this group may read from the
 * terminal.
 */
export class CommandProcess {
  /** Resolves when the command ends. Rejects with the system's error if it can't be started. */
  readonly ended: Promise<Ending>
  readonly #child: ChildProcess
  readonly #hasGroup = !IS_WINDOWS && !process.stdin.isTTY

  /**
   * Starts the command. Throws on some system errors, such as E2BIG. Other errors reject `ended`.
   */
  constructor(command: readonly string[], env: NodeJS.ProcessEnv) {
    const [name = '', ...args] = command
    // Start the guard first, so that the command never runs without it.
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

  /** Sends a signal. Returns whether there was a process to receive it. */
  send(signal: NodeJS.Signals): boolean {
    const { pid } = this.#child
    if (pid === undefined) return false
    return this.#hasGroup ? trySignal(-pid, signal) : this.#child.kill(signal)
  }

  /** Forwards a signal to the command, unless the command has already received it. */
  forward(signal: NodeJS.Signals): void {
    // Windows reports Ctrl-C to every process that is attached to the console. On other systems,
    // the terminal sends SIGINT and SIGQUIT to all processes in the group.
    const isFromTerminal = !this.#hasGroup && (signal === 'SIGINT' || signal === 'SIGQUIT')
    if (!IS_WINDOWS && !isFromTerminal) this.send(signal)
  }

  /**
   * Ends the processes that the command left running. Does nothing if the command has no process
   * group of its own.
   */
  async endLeftovers(): Promise<void> {
    if (!this.#hasGroup || !this.send('SIGTERM')) return
    await delay(LEFTOVER_GRACE)
    this.send('SIGKILL')
  }
}

/** Sends a signal. Returns false if the process doesn't exist or belongs to another user. */
function trySignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ESRCH' || code === 'EPERM') return false
    throw error
  }
}

/**
 * Reads a process id or a negative group id from stdin. Ends that process or group when stdin is
 * closed.
 */
const GUARD_SCRIPT =
  'read target; read _; kill -s TERM -- "$target" && sleep 1 && kill -s KILL -- "$target"'

/** Starts a guard: a process that ends the command if this process dies, even from SIGKILL. */
function startGuard(): ChildProcess {
  const guard = spawn('/bin/sh', ['-c', GUARD_SCRIPT], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true
  })
  guard.unref()
  guard.stdin?.on('error', () => {})
  // If there is no /bin/sh, the command runs without a guard.
  return guard.on('error', () => {})
}

/** Ends this process the way the command ended: with the same exit code or by the same signal. */
export async function endLike({ code, signal }: Ending): Promise<void> {
  process.exitCode = code ?? undefined
  if (signal === null) return
  restoreDefaultAction(signal)
  process.kill(process.pid, signal)
  // If the system supports the signal, this process ends during the delay.
  await delay(LEFTOVER_GRACE)
  process.exit(128 + constants.signals[signal])
}

/**
 * Restores a signal's default action, so that the signal ends this process. Node ignores some
 * signals until a listener has been added and removed.
 */
function restoreDefaultAction(signal: NodeJS.Signals): void {
  process.removeAllListeners(signal)
  try {
    process.on(signal, () => {}).removeAllListeners(signal)
  } catch (error) {
    // No process can listen to SIGKILL or SIGSTOP, so they always have their default action.
    const { code = '' } = error as NodeJS.ErrnoException
    if (code !== 'EINVAL' && code !== 'ENOSYS') throw error
  }
}
