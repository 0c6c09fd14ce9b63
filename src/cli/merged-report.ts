import { resolve } from 'node:path'
import type { Hint } from '../client/hints.js'
import type { Report, ReportedTest } from '../client/report.js'
import { mergeCoverage } from '../coverage/merge.js'
import { StartError } from '../domain/errors.js'
import { VERSION } from '../platform/package.js'
import type { ReportFile } from './report-file.js'

/**
 * Merges the reports of several runs into one. Keeps the requests, hints and starting states of all
 * tests. Throws `StartError` if the reports can't be merged. `files` must not be empty.
 */
export function mergeReports(files: readonly ReportFile[]): Report {
  requireMergeable(files)
  const baselines = new Map<string, number>()
  let lastSequence = 0
  const parts = files.map((source) => {
    const part = moveInto({ ...source, after: lastSequence, baselines })
    lastSequence = lastSequenceOf(part, lastSequence)
    return part
  })
  return {
    run: mergeRuns(files),
    coverage: mergeCoverage(parts.map(({ coverage }) => coverage)),
    tests: parts
      .flatMap(({ tests }) => tests)
      .sort((one, other) => hasFailed(other) - hasFailed(one)),
    unauthenticated: parts.flatMap(({ unauthenticated }) => unauthenticated),
    others: parts.flatMap(({ others }) => others),
    hints: parts.flatMap(({ hints }) => hints),
    baselines: [...baselines.keys()].map((json) => JSON.parse(json)),
    dropped: sum(parts.map(({ dropped }) => dropped)),
    lost: sum(parts.map(({ lost }) => lost))
  }
}

function requireMergeable(files: readonly ReportFile[]): void {
  const known = new Set<string>()
  const [first] = files
  for (const { file, report } of files) {
    const { version, mergedFrom } = report.run
    if (known.has(resolve(file))) throw new StartError(`${file} is listed twice: list it once`)
    known.add(resolve(file))
    if (version !== VERSION) {
      throw new StartError(
        `${file} was written by version ${version}, but this is version ${VERSION}: if version ` +
          `${version} wrote all reports, use npx notification-mock@${version}`
      )
    }
    if (mergedFrom) {
      throw new StartError(`${file} is a merged report: list only reports that exec wrote`)
    }
    if (first && settingsOf(first) !== settingsOf({ file, report })) {
      throw new StartError(
        `the servers of ${first.file} and ${file} had different profiles or assumptions: only ` +
          `merge runs with the same settings`
      )
    }
  }
}

function settingsOf({ report }: ReportFile): string {
  const { profile, assumptions } = report.run
  return JSON.stringify([profile, Object.entries(assumptions).sort()])
}

/**
 * Merges the facts about the runs. Assumes that the runs were parts of one suite and ran at the
 * same time. The merged duration is therefore the duration of the longest run.
 */
function mergeRuns(files: readonly ReportFile[]): Report['run'] {
  const runs = files.map(({ report }) => report.run)
  const [first] = runs
  if (!first) throw new Error('there is no report to merge')
  const codes = runs.map(({ exitCode }) => exitCode)
  const commands = runs.map(({ command }) => command).filter((command) => command !== undefined)
  const exitCode = codes.every((code) => code === 0) ? 0 : codes.find(Boolean)
  return {
    ...first,
    started: runs.map(({ started }) => started).sort()[0] ?? first.started,
    duration: Math.max(...runs.map(({ duration }) => duration)),
    node: [...new Set(runs.map(({ node }) => node))].join(', '),
    command: [...new Set(commands)].join('; ') || undefined,
    exitCode,
    // The runs may have allowed different hints, so `isAllowed` marks these hints instead.
    allowedHints: undefined,
    mergedFrom: files.map(({ file }) => file)
  }
}

interface Destination extends ReportFile {
  /** The highest sequence number that earlier reports use for requests outside of tests. */
  after: number
  /** Maps the JSON of each baseline to its index in the merged report. */
  baselines: Map<string, number>
}

/**
 * Adapts a report to the merged report. Adds `after` to the sequence numbers of requests outside of
 * tests, so that these numbers are unique. A test's own requests keep their numbers.
 */
function moveInto({ file, report, after, baselines }: Destination): Report {
  const indexes = report.baselines.map((baseline) => {
    const json = JSON.stringify(baseline)
    const index = baselines.get(json) ?? baselines.size
    baselines.set(json, index)
    return index
  })
  const markAllowed = <AnyHint extends Hint>(hint: AnyHint): AnyHint =>
    report.run.allowedHints?.includes(hint.id) ? { ...hint, isAllowed: true } : hint
  const moveTest = (test: ReportedTest): ReportedTest => ({
    ...test,
    hints: test.hints.map(markAllowed),
    mergedFrom: file,
    unauthenticatedAfter: test.unauthenticatedAfter + after,
    unauthenticatedUpTo: test.unauthenticatedUpTo + after,
    ...(test.start && {
      start: { ...test.start, baseline: indexes[test.start.baseline] ?? test.start.baseline }
    }),
    ...(test.earlierAttempts && { earlierAttempts: test.earlierAttempts.map(moveTest) })
  })
  return {
    ...report,
    tests: report.tests.map(moveTest),
    unauthenticated: report.unauthenticated.map((request) => renumber(request, after)),
    others: report.others.map((request) => renumber(request, after)),
    hints: report.hints.map(markAllowed).map((hint) => ({
      ...hint,
      requests: hint.requests.map((sequence) => sequence + after)
    }))
  }
}

function renumber<Request extends { sequence: number }>(request: Request, after: number): Request {
  return { ...request, sequence: request.sequence + after }
}

function lastSequenceOf({ tests, unauthenticated, others }: Report, last: number): number {
  const sequences = [
    ...tests.map(({ unauthenticatedUpTo }) => unauthenticatedUpTo),
    ...[...unauthenticated, ...others].map(({ sequence }) => sequence)
  ]
  return sequences.reduce((one, other) => Math.max(one, other), last)
}

const hasFailed = ({ outcome }: ReportedTest) => Number(outcome === 'failed')

const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0)
