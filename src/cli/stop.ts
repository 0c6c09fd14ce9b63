import closeWithGrace, { type AllEvents } from 'close-with-grace'
import type { Logger } from 'pino'
import type { Mock } from '../index.js'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** npm passes on to us the signal that the terminal has sent to us already. */
const SAME_SIGNAL = 1000

/** Beyond the grace of the server itself: for when closing hangs. */
const AT_THE_LATEST = 8000

/**
 * Closes the server and ends the process, with exit code 0, on the first signal; on another one, a second later or
 * more, without waiting any longer for what is in flight. A fault that nobody has caught is logged, closes the server
 * too, and makes the exit code 1. A server that is still starting is closed when it has started.
 */
export function stopWhenTold(starting: Promise<Mock>, logger: Logger): { isAsked(): boolean } {
  let askedAt: number | undefined
  const closing = closeWithGrace(
    // Signals are ours: with its own, a second one leaves the file unclosed, and a crash of the addon hangs.
    { delay: AT_THE_LATEST, logger: false, skip: EVERY_EVENT_BUT_FAULTS },
    async ({ err }) => {
      askedAt ??= performance.now()
      if (err) logger.fatal({ err }, 'stopping after a fault')
      await (await starting).close()
    }
  )
  const stop = () => {
    if (askedAt === undefined) {
      askedAt = performance.now()
      // It ends the process itself, also when closing fails.
      void closing.close()
    } else if (performance.now() - askedAt > SAME_SIGNAL) {
      void starting.then((mock) => mock.close(0))
    }
  }
  for (const signal of SIGNALS) process.on(signal, stop)
  stopWithParent(stop)
  return { isAsked: () => askedAt !== undefined }
}

const EVERY_EVENT_BUT_FAULTS: AllEvents[] = [
  'SIGHUP',
  'SIGINT',
  'SIGQUIT',
  'SIGILL',
  'SIGTRAP',
  'SIGABRT',
  'SIGBUS',
  'SIGFPE',
  'SIGSEGV',
  'SIGUSR2',
  'SIGTERM',
  'beforeExit'
]

/**
 * npm starts us through a shell, and ends itself and the shell on a SIGTERM that it does not pass on to us. Then we are
 * orphaned, which shows in the parent's id.
 */
function stopWithParent(stop: () => void): void {
  if (process.env.npm_lifecycle_event === undefined) return
  const parent = process.ppid
  const watch = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(watch)
    stop()
  }, 100)
  watch.unref()
}
