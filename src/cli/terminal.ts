import { writeFileSync } from 'node:fs'
import { StartError } from '../domain/errors.js'
import { rethrowWriteError } from '../platform/output-file.js'
import { printable, printableTexts } from '../platform/printable.js'
import { replaceFileSync, requireRegularFile } from '../platform/replace-file.js'
import { SeedError } from '../seeds/errors.js'

/** Marks the messages from `exec`, because the command that it runs writes to the same stderr. */
export const EXEC_PREFIX = 'notification-mock exec: '

/** The exit code if no check failed, but something could not be checked. */
export const UNCHECKED = 3

/**
 * Prints an outcome as JSON, or as the text that `format` returns. Escapes control characters in
 * the outcome before it calls `format`, so that data can't forge lines of output.
 */
export function printOutcome<Outcome>(
  outcome: Outcome,
  json: true | undefined,
  format: (outcome: Outcome) => string,
  indent = 0
): void {
  const text = json ? `${JSON.stringify(outcome, null, indent)}\n` : format(printableTexts(outcome))
  process.stdout.write(printable(text, '\t\n'))
}

/** Returns the text to print for an error. Leaves out the stack if the user can fix the error. */
export function messageOf(error: unknown): string {
  const isUserError = error instanceof SeedError || error instanceof StartError
  return printable(
    String(isUserError ? error.message : ((error as Partial<Error> | undefined)?.stack ?? error)),
    '\t\n'
  )
}

/** Returns text such as `60 messages, 1 integration`. */
export function formatCounts(counts: Readonly<Record<string, number>>): string {
  const parts = Object.entries(counts).map(
    ([kind, count]) => `${count} ${count === 1 ? kind.slice(0, -1) : kind}`
  )
  return parts.join(', ')
}

/**
 * Replaces a file (`w`), appends to it (`a`) or creates it (`wx`). Throws `StartError` on failure.
 */
export function write(file: string, text: string, flag: 'w' | 'a' | 'wx' = 'w'): void {
  try {
    requireRegularFile(file)
    if (flag === 'w') replaceFileSync(file, text)
    else writeFileSync(file, text, { flag })
  } catch (error) {
    rethrowWriteError(file)(error)
  }
}

/**
 * Shows progress on stderr. In a terminal, updates a single line. Elsewhere, prints a line at most
 * every 5 seconds.
 */
export function progressLine() {
  const { isTTY } = process.stderr
  let lastUpdate = performance.now()
  const print = (text: string, end = '\n') => {
    process.stderr.write(isTTY ? `\r${printable(text)}\x1b[K${end}` : `${printable(text)}\n`)
  }
  return {
    update(text: string): void {
      if (!isTTY && performance.now() - lastUpdate < 5000) return
      lastUpdate = performance.now()
      print(text, '')
    },
    retry: (reason: string, wait: number) =>
      print(`${reason}; retrying in ${(wait / 1000).toFixed(1)} s`),
    end(): void {
      if (isTTY) print('', '')
    }
  }
}

/**
 * How many milliseconds a closing server waits for requests in progress. Below 1,000, so that the
 * process stops within a second.
 */
export const GRACE = 800

/** How many milliseconds closing may take. If it takes longer, the process exits anyway. */
export const LAST_RESORT = 5000

/** The parent's process id at startup. `process.ppid` changes when the parent ends. */
const PARENT = process.ppid

/**
 * Calls `stop` on every signal that should end the process. In an npm script, also calls `stop`
 * when the parent process ends, because npm and its shell don't forward SIGTERM. Doesn't
 * detect the parent's end on Windows, where `process.ppid` never changes.
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

/**
 * Returns an AbortSignal that the first stop signal aborts. A later stop signal ends the process
 * with exit code 1.
 */
export function abortOnSignal(): AbortSignal {
  const abort = new AbortController()
  onStopSignal(() => {
    // One Ctrl-C can arrive twice, from the terminal and from npm. Don't exit on a second signal
    // within 500 ms.
    setTimeout(() => onStopSignal(() => process.exit(1)), 500).unref()
    abort.abort()
  })
  return abort.signal
}
