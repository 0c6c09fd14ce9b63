import type { HintId } from '../client/hints.js'
import { type Report, reportOf } from '../client/report.js'
import { SECRET_NAME } from '../domain/credentials.js'
import type { Mock } from '../index.js'
import { printable } from '../platform/printable.js'
import { writeToStderr } from '../platform/stderr.js'
import { coverageMarkdown, coverageShortfall, coverageText } from './coverage.js'
import { EXEC_PREFIX, rethrowWriteError, write } from './terminal.js'

/** The report flags of `exec`. An empty file name means that no file is written. */
export interface ReportFlags {
  coverage?: true
  min?: number
  coverageJson: string
  report: string
  summary: string
  strict?: true
  allow: readonly HintId[]
}

/**
 * Prints a message to stderr. A prefix on each line distinguishes it from the output of the command
 * that `exec` runs.
 */
export const print = (message: string) =>
  writeToStderr(message.replaceAll(/^/gm, EXEC_PREFIX).concat('\n'))

/**
 * Prints or writes each report that the flags ask for. Returns the reasons why the run counts as
 * failed. The list is empty if there are none.
 */
export async function writeReports(
  mock: Mock,
  flags: ReportFlags,
  facts: { command: string; exitCode?: number }
): Promise<string[]> {
  const coverageFailure = await reportCoverage(mock, flags)
  const { report: file, summary, strict, allow } = flags
  const writtenReport =
    file === '' ? undefined : await mock.report(file, facts).catch(rethrowWriteError(file))
  if (writtenReport) print(`the report is in ${file}`)
  const failures = coverageFailure === undefined ? [] : [coverageFailure]
  if (summary === '' && !strict) return failures
  const report = writtenReport ?? reportOf(await mock.runRecord(), facts)
  if (summary !== '') write(summary, runMarkdown(report, allow), 'a')
  const hints = strict ? collectHints(report, allow) : []
  if (hints.length === 0) return failures
  const lines = hints.map(
    ({ id, message, source }) => `\n${printable(`${source}: ${message} (${id})`)}`
  )
  return [...failures, `--strict: the requests have likely mistakes${lines.join('')}`]
}

async function reportCoverage(
  mock: Mock,
  { coverage: isPrinted, min, coverageJson }: ReportFlags
): Promise<string | undefined> {
  if (!isPrinted && coverageJson === '') return undefined
  const coverage = await mock.coverage()
  if (isPrinted) {
    writeToStderr(coverageText(coverage, 'use --summary or --coverage-json for all of them'))
  }
  if (coverageJson !== '') write(coverageJson, `${JSON.stringify(coverage, null, 2)}\n`)
  return coverageShortfall(coverage, min)
}

/**
 * Returns the hints that `--allow` doesn't list. Includes the hints about requests that belong to
 * no test.
 */
function collectHints({ tests, hints }: Report, allowed: readonly HintId[]) {
  const testHints = tests.flatMap((test) =>
    test.hints.map((hint) => ({ ...hint, source: test.title }))
  )
  const otherHints = hints.map(({ environment = 'without a valid API key', ...hint }) => ({
    ...hint,
    source: environment
  }))
  return [...testHints, ...otherHints].filter(({ id }) => !allowed.includes(id))
}

/** Returns a Markdown summary of a run: failures, hints and coverage. */
function runMarkdown(report: Report, allowed: readonly HintId[]): string {
  const { tests, dropped, coverage } = report
  const failed = tests.filter(({ outcome }) => outcome === 'failed')
  const lines = [
    ...failed.map(describeFailure),
    ...collectHints(report, allowed).map(({ message, source }) => `hint: ${source}: ${message}`)
  ]
  if (dropped > 0) lines.push(`${dropped} tests are not listed: their records were dropped`)
  const title =
    tests.length > 0
      ? `${failed.length} of ${tests.length + dropped} failed`
      : 'no test has its own environment'
  const items = lines.map((line) => `- ${escapeMarkdown(printable(line).slice(0, 500))}\n`)
  const heading = `## Tests against notification-mock: ${title}`
  return `${heading}\n\n${items.join('')}\n${coverageMarkdown(coverage)}`
}

function describeFailure({ title, error = '', unauthenticated }: Report['tests'][number]): string {
  const reason = unauthenticated.at(-1)?.reason
  const count = unauthenticated.length
  const requests = count === 1 ? '1 request' : `${count} requests`
  const causes = [
    error.trim().split('\n')[0],
    reason && `${requests} had no valid API key: ${reason}`
  ]
  return `failed: ${title}: ${causes.filter(Boolean).join('; ')}`
}

const escapeMarkdown = (text: string) =>
  text.replace(/[\\|`*_[\]<>&]/g, (character) => `&#${character.charCodeAt(0)};`)

/** Returns a command line with `***` instead of secrets. */
export function maskCommand(command: readonly string[], secrets: readonly string[]): string {
  const masked = command.map((argument, index) =>
    maskArgument(argument, command[index - 1] ?? '', secrets)
  )
  return masked.join(' ')
}

function maskArgument(argument: string, previous: string, secrets: readonly string[]): string {
  const [, name, value] = /^([\w-]+)=(.*)$/s.exec(argument) ?? []
  const isSecretAssignment =
    name !== undefined && value !== undefined && SECRET_NAME.test(name.replace(/^-+/, ''))
  if (isSecretAssignment) return `${name}=***`
  const [, flag = ''] = /^--?([\w-]+)$/.exec(previous) ?? []
  const isSecret = SECRET_NAME.test(flag) || secrets.some((secret) => argument.includes(secret))
  return isSecret ? '***' : argument
}
