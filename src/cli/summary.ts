import { type Report, unauthenticatedDuring } from '../client/report.js'
import { countOf } from '../domain/count.js'
import { printable } from '../platform/printable.js'
import { coverageMarkdown } from './coverage.js'

/**
 * Returns the hints of all tests, and the hints about requests outside tests. A hint's `source` is
 * the title of its test, the name of its environment, or `without a valid API key`.
 */
export function collectHints({ tests, hints }: Report) {
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
 * The limits of a summary. GitHub rejects a summary of more than 1 MiB, and escaping can turn one
 * character into six.
 */
const MAX_LINES = 300
const MAX_LINE_LENGTH = 500

/** Returns a Markdown summary of a run: failures, hints and coverage. */
export function runMarkdown(report: Report): string {
  const { run, tests, dropped, coverage } = report
  const failed = tests.filter(({ outcome }) => outcome === 'failed')
  const hints = collectHints(report).filter(
    ({ id, isAllowed }) => !isAllowed && !run.allowedHints?.includes(id)
  )
  const lines = [
    ...coverage.unmocked.targets.map(describeUnmocked),
    ...failed.map((test) => describeFailure(test, report)),
    ...tests.flatMap(describeRetries),
    ...hints.map(({ message, source }) => `hint: ${source}: ${message}`)
  ]
  if (dropped > 0)
    lines.push(
      `${countOf(dropped, 'test')} not listed: too many tests or too much data for one report`
    )
  const title =
    tests.length > 0
      ? `${failed.length} of ${tests.length + dropped} failed`
      : 'no test has its own environment'
  const omitted = lines.length - MAX_LINES
  const more = `and ${countOf(omitted, 'more line')}; --report writes everything to a file`
  const omission = omitted > 0 ? [more] : []
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
  return [error ? `${line}; the previous attempt failed: ${error}` : line]
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
