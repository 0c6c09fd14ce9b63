import closeWithGrace, { type AllEvents } from 'close-with-grace'
import type { Logger } from 'pino'
import type { Mock } from '../index.js'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
const OTHER_SIGNALS = ['SIGQUIT', 'SIGILL', 'SIGTRAP', 'SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGSEGV', 'SIGUSR2'] as const

/** Within so many milliseconds a second signal is the first again, as npm passes on what the terminal sent to us too. */
const SAME_SIGNAL = 1000

/** In milliseconds, beyond the grace of the server itself: for when closing hangs. */
const LAST_RESORT = 8000

/**
 * Closes the server and ends the process with exit code 0 on the first signal. A further signal, a second later or more,
 * cuts what is still in flight. An uncaught error is logged, closes the server too, and makes the exit code 1. A server
 * that is still starting is closed once it has started.
 */
export function stopOnSignals(starting: Promise<Mock>, logger: Promise<Logger>): { isAsked(): boolean } {
  let askedAt: number | undefined
  // For errors alone: on a second signal the package would leave the file unclosed, and on a crash of the addon it hangs.
  const skip: AllEvents[] = [...SIGNALS, ...OTHER_SIGNALS, 'beforeExit']
  const closing = closeWithGrace({ delay: LAST_RESORT, logger: false, skip }, async ({ err }) => {
    askedAt ??= performance.now()
    if (err) (await logger).fatal({ err }, 'stopping after an uncaught error')
    await (await starting).close()
  })
  const stop = () => {
    if (askedAt === undefined) {
      askedAt = performance.now()
      // Ends the process, also when closing fails.
      void closing.close()
    } else if (performance.now() - askedAt > SAME_SIGNAL) {
      void starting.then((mock) => mock.close(0))
    }
  }
  for (const signal of SIGNALS) process.on(signal, stop)
  stopWithParent(stop)
  return { isAsked: () => askedAt !== undefined }
}

/**
 * Stops when the parent has gone: npm starts us through a shell, and neither passes a SIGTERM on. Not on Windows, where
 * the parent's number stays when it has gone.
 */
function stopWithParent(stop: () => void): void {
  if (process.env.npm_lifecycle_event === undefined || process.platform === 'win32') return
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    stop()
  }, 100).unref()
}
