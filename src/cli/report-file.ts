import { inflateRawSync } from 'node:zlib'
import type { Report, ReportedTest } from '../client/report.js'
import { StartError } from '../domain/errors.js'
import { targetOf } from '../domain/query-string.js'
import { readRegularFile } from '../platform/read-file.js'

/** A test that can be reopened. */
export type ReopenableTest = ReportedTest & { start: NonNullable<ReportedTest['start']> }

const DATA = /<script id="report" type="text\/plain" data-encoding="deflate-raw">([^<]*)<\/script>/
/**
 * The maximum size of a report's data in bytes. The server writes at most 64 MiB, but masking can
 * enlarge a report, and merging combines several.
 */
const MAX_DATA = 256 * 1024 * 1024

/** Returns the data of an HTML report. Throws `StartError` if the file isn't a readable report. */
export const readReport = (file: string): Report => parseReport(file, readJson(file))

/** The data of an HTML report, and the file that contains it. */
export interface ReportFile {
  file: string
  report: Report
}

/**
 * Reads several HTML reports. Throws `StartError` if a file isn't a readable report, or if the
 * total size of the reports exceeds `MAX_DATA`.
 */
export function readReports(files: readonly string[]): ReportFile[] {
  let size = 0
  return files.map((file) => {
    const json = readJson(file)
    size += json.length
    if (size > MAX_DATA) {
      throw new StartError('the reports have more than 256 MiB of data in total: merge fewer')
    }
    return { file, report: parseReport(file, json) }
  })
}

function readJson(file: string): string {
  const [, data] = DATA.exec(readHtml(file)) ?? []
  if (data === undefined) {
    throw new StartError(
      `${file} is not a report: use the HTML file that exec --report or mock.report() wrote`
    )
  }
  try {
    const json = inflateRawSync(Buffer.from(data, 'base64'), { maxOutputLength: MAX_DATA })
    return json.toString()
  } catch (cause) {
    throw damaged(file, cause)
  }
}

function parseReport(file: string, json: string): Report {
  try {
    const report: Report = JSON.parse(json)
    if (!Array.isArray(report.tests)) throw new Error('it has no list of tests')
    if (report.run?.version === undefined) throw new Error('it has no version')
    return report
  } catch (cause) {
    throw damaged(file, cause)
  }
}

const damaged = (file: string, cause: unknown) =>
  new StartError(`${file} is damaged: download or write the report again`, { cause })

function readHtml(file: string): string {
  try {
    return readRegularFile(file).toString()
  } catch (cause) {
    const { message } = cause as Error
    throw new StartError(`can't read ${file}: ${message}`, { cause })
  }
}

/**
 * Chooses the test with the given title. If there is none, chooses a test whose title contains
 * `title`, preferably a failed test. If `title` is undefined, chooses the first failed test.
 *
 * Returns one record for each environment that the test used. Throws `StartError` if no test
 * matches, or if the report has no starting state for the test.
 */
export function chooseTests(report: Report, title: string | undefined): ReopenableTest[] {
  const chosen = title === undefined ? failedTests(report)[0] : findTest(report, title)
  if (!chosen) throw new StartError(title === undefined ? NO_FAILED_TEST : noTest(report, title))
  const tests = report.tests.filter(
    ({ title: other, attempt, mergedFrom, start }) =>
      other === chosen.title &&
      attempt === chosen.attempt &&
      // In a merged report, leave out other runs: their environments can have the same ids.
      mergedFrom === chosen.mergedFrom &&
      start !== undefined
  )
  if (tests.length > 0) return tests as ReopenableTest[]
  throw new StartError(`"${chosen.title}" can't be reopened: ${missingReason(chosen, report)}`)
}

export const failedTests = ({ tests }: Report): ReportedTest[] =>
  tests.filter(({ outcome }) => outcome === 'failed')

function findTest({ tests }: Report, title: string): ReportedTest | undefined {
  const part = title.toLowerCase()
  const byPart = tests.filter((test) => test.title.toLowerCase().includes(part))
  return (
    tests.find((test) => test.title === title) ??
    byPart.find(({ outcome }) => outcome === 'failed') ??
    byPart[0]
  )
}

const NO_FAILED_TEST =
  'the report has no failed test: to open a passed test, write the report with ' +
  '--report-state all, and choose the test with --test'

/** How many titles an error lists. */
const MAX_TITLES = 20

function noTest(report: Report, title: string): string {
  const failed = failedTests(report).slice(0, MAX_TITLES)
  const titles = failed.map((test) => `\n  ${test.title}`).join('')
  const list = failed.length > 0 ? `; the failed tests are:${titles}` : ''
  return `no test has "${title}" in its title${list}`
}

function missingReason({ outcome, startMissing }: ReportedTest, { baselines }: Report): string {
  if (startMissing !== undefined) return startMissing
  // Versions that couldn't reopen tests wrote reports without `baselines`.
  if (baselines === undefined) {
    return 'the version of notification-mock that wrote the report is too old; write it again'
  }
  return outcome === 'failed'
    ? 'the report was written with --report-state off; write it with --report-state failed'
    : 'the test did not fail; write the report with --report-state all'
}

/**
 * Returns the sequence number of the request to stop at, or undefined if no request matches.
 *
 * Looks for the first request whose path and query appear in the test's error, then for the first
 * request that failed or whose path appears in the error, then for the first request with a hint.
 */
export function failingRequest({ requests, hints, error = '' }: ReportedTest): number | undefined {
  const hinted = new Set(hints.flatMap((hint) => hint.requests))
  const failing =
    // Several requests can have the same path, so look for a matching query first.
    requests.find(
      ({ path, query }) => Object.keys(query).length > 0 && error.includes(targetOf(path, query))
    ) ??
    requests.find(
      ({ status = 0, path }) => status === 0 || status >= 400 || error.includes(path)
    ) ??
    requests.find(({ sequence }) => hinted.has(sequence))
  return failing?.sequence
}
