import { writeFileSync } from 'node:fs'
import { StartError } from '../domain/errors.js'
import { printable, printableTexts } from '../platform/printable.js'
import { replaceFileSync, requireRegularFile } from '../platform/replace-file.js'
import { SeedError } from '../seeds/errors.js'

/** Before each line of ours that exec prints: the others are those of its command. */
export const EXEC_PREFIX = 'notification-mock exec: '

/** Prints an outcome: as JSON, or as the text that `format` makes of it, in which what others wrote stays in its line. */
export function printOutcome<Outcome>(
  outcome: Outcome,
  json: true | undefined,
  format: (outcome: Outcome) => string,
  indent = 0
): void {
  const text = json ? `${JSON.stringify(outcome, null, indent)}\n` : format(printableTexts(outcome))
  process.stdout.write(printable(text, '\t\n'))
}

/** Returns what to print of an error: without a stack if it is the user's own. */
export function messageOf(error: unknown): string {
  const isOwn = error instanceof SeedError || error instanceof StartError
  return printable(
    String(isOwn ? error.message : ((error as Partial<Error> | undefined)?.stack ?? error)),
    '\t\n'
  )
}

/** `60 messages, 1 integration` */
export function formatCounts(counts: Readonly<Record<string, number>>): string {
  const parts = Object.entries(counts).map(
    ([kind, count]) => `${count} ${count === 1 ? kind.slice(0, -1) : kind}`
  )
  return parts.join(', ')
}

/** Replaces a file, appends to it, or makes one that must be new. Throws `StartError` if that can't be done. */
export function write(file: string, text: string, flag: 'w' | 'a' | 'wx' = 'w'): void {
  try {
    requireRegularFile(file)
    if (flag === 'w') replaceFileSync(file, text)
    else writeFileSync(file, text, { flag })
  } catch (error) {
    notWritten(file)(error)
  }
}

/** Returns what throws the errors of writing a file: as `StartError` with the remedy, and any other as it is. */
export const notWritten =
  (file: string) =>
  (error: unknown): never => {
    const { syscall, code = '' } = error as NodeJS.ErrnoException
    throw syscall === undefined
      ? error
      : new StartError(`can't write ${file}: ${REMEDIES[code] ?? code}`)
  }

const REMEDIES: Record<string, string> = {
  EEXIST: 'it exists already; name another file',
  ENOENT: 'its folder does not exist; make it first',
  EISDIR: 'it is a folder; name a file in it',
  ELOOP: 'it is a link, or no regular file; name another file',
  EACCES: 'permission denied; check the permissions, or name another file',
  ENOSPC: 'the disk is full; free some space, or name another file'
}

/** Shows on stderr how far it is: in one line of a terminal, and in a line of a pipe every 5 seconds. */
export function progressLine() {
  const { isTTY } = process.stderr
  let shown = performance.now()
  const print = (text: string, end = '\n') =>
    void process.stderr.write(isTTY ? `\r${printable(text)}\x1b[K${end}` : `${printable(text)}\n`)
  return {
    update(text: string): void {
      if (!isTTY && performance.now() - shown < 5000) return
      shown = performance.now()
      print(text, '')
    },
    retry: (reason: string, wait: number) =>
      print(`${reason}; once more in ${(wait / 1000).toFixed(1)} s`),
    end: () => void (isTTY && print('', ''))
  }
}

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
