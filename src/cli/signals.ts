/** How long what is in flight may take, in milliseconds: longer than answers do, and the process ends within a second. */
export const GRACE = 800

/** In milliseconds, for when closing hangs. */
export const LAST_RESORT = 5000

/** Whoever has started us, which may end before we look. */
const PARENT = process.ppid

/**
 * Calls back on each signal that asks the process to end, and when its parent has gone: npm starts us through a shell, and
 * neither passes a SIGTERM on. Not on Windows, where the parent's number stays when it has gone.
 */
export function onStopSignal(stop: (signal: NodeJS.Signals) => void): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop)
  if (process.env.npm_lifecycle_event === undefined || process.platform === 'win32') return
  const timer = setInterval(() => {
    if (process.ppid === PARENT) return
    clearInterval(timer)
    stop('SIGTERM')
  }, 100).unref()
}

/** Returns a signal that the first one to end the process aborts. A later one ends it at once, with exit code 1. */
export function abortOnSignal(): AbortSignal {
  const abort = new AbortController()
  onStopSignal(() => {
    // npm passes on what the terminal has sent to us too, so that one Ctrl-C comes twice.
    setTimeout(() => onStopSignal(() => process.exit(1)), 500).unref()
    abort.abort()
  })
  return abort.signal
}
