import type { Hint, HintId } from '../client/hints.js'
import type { Report, ReportedTest } from '../client/report.js'
import { SECRET_NAME } from '../core/credentials.js'
import { printable } from '../core/printable.js'
import { coverageMarkdown } from './coverage.js'

/** How many rows of a kind a summary has. */
const MAX_ROWS = 50

/** A hint, and where it was found. */
interface FoundHint extends Hint {
  /** Title of the test; of requests that no test has made, the name of their environment. */
  where: string
}

/** Returns the hints of all tests, and those about other requests, but for the allowed ones. */
export function hintsIn({ tests, hints }: Report, allowed: readonly HintId[] = []): FoundHint[] {
  const found = [
    ...tests.flatMap((test) => test.hints.map((hint) => ({ ...hint, where: test.title }))),
    ...hints.map(({ environment = 'without a valid key', ...hint }) => ({ ...hint, where: environment }))
  ]
  return found.filter(({ id }) => !allowed.includes(id))
}

/** Returns a summary of a run in Markdown, such as GitHub shows of a job: failures, hints, and the coverage. */
export function runMarkdown(report: Report, allowed: readonly HintId[]): string {
  const { tests, dropped } = report
  const failed = tests.filter(({ outcome }) => outcome === 'failed')
  const hints = hintsIn(report, allowed)
  const more = dropped > 0 ? `\n${dropped} more are not listed: their records have been dropped.\n` : ''
  return [
    tests.length > 0
      ? `## Tests against notification-mock: ${failed.length} of ${tests.length + dropped} failed\n${more}`
      : '## Tests against notification-mock: none has an environment of its own\n',
    ...table(['failed test', 'why'], failed, (test) => [test.title, whyFailed(test)]),
    ...table(['hint', 'where'], hints, ({ message, where }) => [message, where]),
    coverageMarkdown(report.coverage)
  ].join('\n')
}

function table<Row>(
  names: readonly string[],
  rows: readonly Row[],
  cellsOf: (row: Row) => readonly string[]
): string[] {
  if (rows.length === 0) return []
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const shown = rows.slice(0, MAX_ROWS).map((row) => line(cellsOf(row).map(inCell)))
  const more = rows.length > MAX_ROWS ? [line([`and ${rows.length - MAX_ROWS} more`, ''])] : []
  return [line(names), line(names.map(() => '---')), ...shown, ...more, '']
}

/** The first line of its error, and what else may have to do with it. */
function whyFailed({ error = '', keyless }: ReportedTest): string {
  const { reason = '' } = keyless.at(-1) ?? {}
  const [first = ''] = error.trim().split('\n')
  const requests = keyless.length === 1 ? 'a request' : `${keyless.length} requests`
  return [first, reason && `${requests} came without a valid key: ${reason}`].filter(Boolean).join('; ')
}

/** Text that stays text in a cell of a table. */
const inCell = (text: string) =>
  printable(text)
    .slice(0, 300)
    .replace(/[\\|`*_[\]<>&]/g, (sign) => `&#${sign.charCodeAt(0)};`)

/** Returns a command line without what it gives as secrets. */
export function shownCommand(words: readonly string[], secrets: readonly string[]): string {
  return words
    .map((word, index) => {
      const [, name = '', value] = /^([\w-]+)=(.*)$/s.exec(word) ?? []
      const before = /^--?([\w-]+)$/.exec(words[index - 1] ?? '')?.[1] ?? ''
      if (value !== undefined && SECRET_NAME.test(name.replace(/^-+/, ''))) return `${name}=***`
      return SECRET_NAME.test(before) || secrets.some((secret) => word.includes(secret)) ? '***' : word
    })
    .join(' ')
}
