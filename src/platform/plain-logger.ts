import type { Logger, pino } from 'pino'
import { printableTexts } from './printable.js'
import { writeToStderr } from './stderr.js'

/**
 * Returns a logger that writes plain lines to stderr. In the output of tests, they are easier to
 * read than JSON.
 */
export function createPlainLogger(createLogger: typeof pino, level: string): Logger {
  return createLogger({ level }, { write: (line) => writeToStderr(toPlainLine(JSON.parse(line))) })
}

/** The fields of a JSON log entry that appear in the plain line. */
interface LogRecord {
  msg?: string
  method?: string
  url?: string
  statusCode?: number
  reason?: string
  err?: { message?: string }
}

function toPlainLine(record: LogRecord): string {
  const { method, url, statusCode, msg, reason, err } = printableTexts(record)
  const subject = method ? `${method} ${url} ${statusCode ?? ''}`.trim() : msg
  const detail = reason ?? err?.message
  return `notification-mock: ${[subject, detail].filter(Boolean).join(': ')}\n`
}
