import type { ReportState } from '../client/control-api.js'
import { failingHints, type HintId, type StrictOptions } from '../client/hints.js'
import { type Report, type RunFacts, reportOf, unauthenticatedDuring } from '../client/report.js'
import { countOf } from '../domain/count.js'
import { isSecretName } from '../domain/credentials.js'
import { MASK, maskSecrets } from '../domain/masking.js'
import type { Mock, ReportOptions } from '../index.js'
import { requireWritable, rethrowWriteError } from '../platform/output-file.js'
import { printable } from '../platform/printable.js'
import { reportTemplate } from '../platform/report-template.js'
import { writeToStderr } from '../platform/stderr.js'
import { coverageMarkdown, coverageShortfall, coverageText } from './coverage.js'
import { EXEC_PREFIX, messageOf, write } from './terminal.js'

/** The report flags of `exec`. An empty file name means that no file is written. */
export interface ReportFlags {
  coverage?: true
  min?: number
  coverageJson: string
  report: string
  reportState: ReportState
  summary: string
  strict?: true
  allow: readonly HintId[]
  failOn: readonly HintId[]
}

/**
 * Prints a message to stderr. A prefix on each line distinguishes it from the output of the command
 * that `exec` runs.
 */
export const print = (message: string) =>
  writeToStderr(message.replaceAll(/^/gm, EXEC_PREFIX).concat('\n'))

/**
 * Throws `StartError` if a file that a flag names can't be written. Reads the template of the
 * report before the command can remove it.
 */
export function checkOutputs({ coverageJson, report, summary }: ReportFlags): void {
  if (coverageJson !== '') requireWritable(coverageJson)
  if (report !== '') {
    requireWritable(report)
    reportTemplate()
  }
  if (summary !== '') requireWritable(summary, 'append')
}

/**
 * Prints or writes each report that the flags ask for. If one of them fails, prints a warning and
 * continues with the others. Returns the reasons why the run counts as failed. The list is empty if
 * there are none.
 */
export async function writeReports(
  mock: Mock,
  flags: ReportFlags,
  facts: RunFacts
): Promise<string[]> {
  const { report: file, reportState: states, summary, strict, allow, failOn } = flags
  const failures = await reportCoverage(mock, flags)
  const written =
    file === ''
      ? undefined
      : await warnOnFailure(() => writeHtmlReport(mock, file, { ...facts, states }))
  if (summary === '' && !strict) return failures
  const report =
    written ?? (await warnOnFailure(async () => reportOf(await mock.runRecord(), facts)))
  if (report && summary !== '') {
    await warnOnFailure(() => write(summary, runMarkdown(report, allow), 'a'))
  }
  return strict ? [...failures, ...strictFailures(report, { allow, failOn })] : failures
}

/** Returns the result of `work`. If it fails, prints a warning and returns undefined. */
async function warnOnFailure<Result>(
  work: () => Result | Promise<Result>
): Promise<Result | undefined> {
  try {
    return await work()
  } catch (error) {
    print(`warning: ${messageOf(error)}`)
    return undefined
  }
}

async function writeHtmlReport(mock: Mock, file: string, options: ReportOptions): Promise<Report> {
  const report = await mock.report(file, options).catch(rethrowWriteError(file))
  print(`the report is in ${file}`)
  return report
}

/**
 * Returns why the run fails `--strict`. Without a report, it fails too, because it is unchecked.
 */
function strictFailures(report: Report | undefined, options: StrictOptions): string[] {
  if (!report) return ["--strict: can't check the requests, see the warning above"]
  const hints = failingHints(collectHints(report), options)
  if (hints.length === 0) return []
  const lines = hints.map(
    ({ id, message, source }) => `\n${printable(`${source}: ${message} (${id})`)}`
  )
  return [`--strict: the requests have likely mistakes${lines.join('')}`]
}

/** Prints or writes the coverage. Returns why the run fails `--min`. */
async function reportCoverage(
  mock: Mock,
  { coverage: isPrinted, min, coverageJson }: ReportFlags
): Promise<string[]> {
  if (!isPrinted && coverageJson === '') return []
  const coverage = await warnOnFailure(() => mock.coverage())
  if (!coverage) {
    return min === undefined ? [] : ["--min: can't check the coverage, see the warning above"]
  }
  if (isPrinted) {
    writeToStderr(coverageText(coverage, 'use --summary or --coverage-json for all of them'))
  }
  if (coverageJson !== '') {
    const json = `${JSON.stringify(coverage, null, 2)}\n`
    await warnOnFailure(() => write(coverageJson, json))
  }
  return [coverageShortfall(coverage, min)].filter((failure) => failure !== undefined)
}

/**
 * Returns all hints, each with the title of its test or the name of its environment. Includes the
 * hints about requests that belong to no test.
 */
function collectHints({ tests, hints }: Report) {
  const testHints = tests.flatMap((test) =>
    test.hints.map((hint) => ({ ...hint, source: test.title }))
  )
  const otherHints = hints.map(({ environment = 'without a valid API key', ...hint }) => ({
    ...hint,
    source: environment
  }))
  return [...testHints, ...otherHints]
}

/**
 * The limits of a summary. GitHub rejects a summary of more than 1 MiB, and escaping can make a
 * character six times as long.
 */
const MAX_LINES = 300
const MAX_LINE_LENGTH = 500

/** Returns a Markdown summary of a run: failures, hints and coverage. */
export function runMarkdown(report: Report, allowed: readonly HintId[]): string {
  const { tests, dropped, coverage } = report
  const failed = tests.filter(({ outcome }) => outcome === 'failed')
  const hints = collectHints(report).filter(({ id }) => !allowed.includes(id))
  const lines = [
    ...coverage.unmocked.targets.map(describeUnmocked),
    ...failed.map((test) => describeFailure(test, report)),
    ...tests.flatMap(describeRetries),
    ...hints.map(({ message, source }) => `hint: ${source}: ${message}`)
  ]
  if (dropped > 0)
    lines.push(`${countOf(dropped, 'test')} not listed, because the records were dropped`)
  const title =
    tests.length > 0
      ? `${failed.length} of ${tests.length + dropped} failed`
      : 'no test has its own environment'
  const omitted = lines.length - MAX_LINES
  const omission = omitted > 0 ? [`and ${omitted} more lines; --report writes all to a file`] : []
  const items = [...lines.slice(0, MAX_LINES), ...omission].map(
    (line) => `- ${escapeMarkdown(printable(line).slice(0, MAX_LINE_LENGTH))}\n`
  )
  const heading = `## Tests against notification-mock: ${title}`
  return `${heading}\n\n${items.join('')}\n${coverageMarkdown(coverage)}`
}

function describeUnmocked({ method, path, requests }: UnmockedTarget): string {
  return `not mocked: ${method} ${path} (${countOf(requests, 'request')})`
}

/** Returns a line for a test that passed after failed attempts. */
function describeRetries({ title, outcome, attempt, earlierAttempts }: Report['tests'][number]) {
  if (outcome !== 'passed' || !earlierAttempts) return []
  const error = earlierAttempts.at(-1)?.error?.trim().split('\n')[0]
  const line = `passed on attempt ${attempt}: ${title}`
  return [error ? `${line}; the attempt before failed: ${error}` : line]
}

function describeFailure(test: Report['tests'][number], report: Report): string {
  const { title, error = '' } = test
  const unauthenticated = unauthenticatedDuring(test, report)
  const reason = unauthenticated.at(-1)?.reason
  const count = unauthenticated.length
  const requests = countOf(count, 'request')
  const rejections = test.requests.filter(isRejected).map(describeRejection)
  const causes = [
    error.trim().split('\n')[0],
    ...new Set(rejections),
    reason && `${requests} had no valid API key: ${reason}`
  ]
  return `failed: ${title}: ${causes.filter(Boolean).join('; ')}`
}

type Exchange = Report['unauthenticated'][number]

/** Returns whether the mock rejected a request. An injected fault is not a rejection. */
const isRejected = ({ status = 0, flags, reason }: Exchange) =>
  status >= 400 && flags.faulted === undefined && reason !== undefined

const describeRejection = ({ method, path, status, reason }: Exchange) =>
  `${method} ${path} ${status}: ${reason}`

type UnmockedTarget = Report['coverage']['unmocked']['targets'][number]

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
    name !== undefined && value !== undefined && isSecretName(name.replace(/^-+/, ''))
  if (isSecretAssignment) return `${name}=${MASK}`
  const [, flag = ''] = /^--?([\w-]+)$/.exec(previous) ?? []
  const isSecret = isSecretName(flag) || secrets.some((secret) => argument.includes(secret))
  return isSecret ? MASK : maskSecrets(argument)
}
