import { fstatSync, readSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import closeWithGrace, { type AllEvents } from 'close-with-grace'
import type { Logger } from 'pino'
import { attempt } from '../core/errors.js'
import type { Mock } from '../index.js'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
const OTHER_SIGNALS = ['SIGQUIT', 'SIGILL', 'SIGTRAP', 'SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGSEGV', 'SIGUSR2'] as const

/** How long what is in flight may take, in milliseconds: longer than answers do, and the process ends within a second. */
export const GRACE = 800

/** In milliseconds, for when closing hangs. */
export const LAST_RESORT = 5000

export interface Stopping {
  isAsked(): boolean
  /** Does what a signal does. */
  stop(): void
}

/**
 * Closes the server and ends the process with exit code 0 on the first signal; npm passes on what the terminal sent to us
 * too, so that it may come twice. An uncaught error is logged, closes the server too, and makes the exit code 1. A server
 * that is still starting is closed once it has started, if that is soon.
 */
export function stopOnSignals(starting: Promise<Mock>, logger: Promise<Logger>): Stopping {
  let asked = false
  // For errors alone: on a second signal the package would leave the file unclosed, and on a crash of the addon it hangs.
  const skip: AllEvents[] = [...SIGNALS, ...OTHER_SIGNALS, 'beforeExit']
  const closing = closeWithGrace({ delay: LAST_RESORT, logger: false, skip }, async ({ err }) => {
    asked = true
    if (err) (await logger).fatal({ err }, 'stopping after an uncaught error')
    // A start that takes longer is ended with the process, as if that were killed.
    const mock = await Promise.race([starting, delay(GRACE)])
    await mock?.close(GRACE)
  })
  const stop = () => {
    if (asked) return
    asked = true
    // Ends the process, also when closing fails.
    void closing.close()
  }
  onStopSignal(stop)
  stopWithParent(stop)
  return { isAsked: () => asked, stop }
}

/** Calls back on each signal that asks the process to end. */
export function onStopSignal(stop: (signal: NodeJS.Signals) => void): void {
  const ignore = () => {}
  for (const signal of SIGNALS) process.on(signal, signal === 'SIGHUP' && isUnderNohup() ? ignore : stop)
}

/** Whether nohup has started this process. Node undoes at its start that SIGHUP is ignored, so other traces must do. */
export function isUnderNohup(): boolean {
  // Shells name the command there that they start.
  if (basename(process.env._ ?? '') === 'nohup') return true
  const isNull = attempt(() => fstatSync(0).rdev === statSync('/dev/null').rdev) ?? false
  // In place of a terminal, nohup gives a stdin that can only be written.
  return isNull && attempt(() => readSync(0, Buffer.alloc(1))) === undefined
}

/**
 * Stops when the parent has gone: npm starts us through a shell, and neither passes a SIGTERM on. Not on Windows, where
 * the parent's number stays when it has gone.
 */
export function stopWithParent(stop: () => void): void {
  if (process.env.npm_lifecycle_event === undefined || process.platform === 'win32') return
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    stop()
  }, 100).unref()
}
