import { printable } from '../platform/printable.js'
import { MAX_ISSUES } from '../schema/validation.js'

/** A problem at one location of a seed. */
export interface SeedIssue {
  /**
   * File, line and column, such as `seeds/shop.yaml:12:7`. Contains only the file if `line` is
   * absent.
   */
  location: string
  file: string
  /**
   * The line, counted from 1. The line and the column are absent if the seed was passed as an
   * object, or if the file can't be read.
   */
  line?: number
  column?: number
  /**
   * The path of the value, such as `environments[0].integrations[1].channel`. Empty if the issue is
   * about the whole file.
   */
  path: string
  message: string
}

/** The maximum length of an issue's path, and of its message. A path can contain long names. */
const MAX_TEXT_LENGTH = 2000

/** Lists the first 100 issues of the seeds. No environment has changed when this is thrown. */
export class SeedError extends Error {
  override readonly name = 'SeedError'
  readonly issues: readonly SeedIssue[]
  /**
   * The number of issues that were found but aren't listed. The seeds can have even more issues,
   * because the search stops after 101 issues per seed.
   */
  readonly more: number

  constructor(issues: readonly SeedIssue[], more = 0) {
    const listed = issues.slice(0, MAX_ISSUES)
    const unlisted = more + issues.length - listed.length
    const lines = listed.map(formatIssue)
    if (unlisted > 0) lines.push(`and at least ${unlisted} more`)
    super(lines.join('\n'))
    this.issues = listed
    this.more = unlisted
  }
}

/** Returns the issue as one line that starts with its location. */
export function formatIssue({ location, path, message }: SeedIssue): string {
  const place = path === '' ? location : `${location} ${path}`
  return printable(`${place}: ${message}`)
}

/**
 * Each function creates one issue. Locating an issue is slow, so only the issues that an error
 * lists are created.
 */
export type IssueList = (() => SeedIssue)[]

/** Returns whether the list has as many issues as a `SeedError` can list. */
export const isFull = ({ length }: IssueList) => length >= MAX_ISSUES

/** Creates an error with the issues of several seeds. Each seed's issues are sorted by line. */
export function createSeedError(lists: readonly IssueList[]): SeedError {
  const issues = lists.flatMap((list) =>
    list
      .slice(0, MAX_ISSUES)
      .map((create) => create())
      .sort(byLine)
  )
  return new SeedError(issues, lists.flat().length - issues.length)
}

function byLine(a: SeedIssue, b: SeedIssue): number {
  return (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0)
}

export function createIssue(issue: Omit<SeedIssue, 'location'>): SeedIssue {
  const { file, line, column } = issue
  return {
    location: line === undefined ? file : `${file}:${line}:${column}`,
    ...issue,
    path: issue.path.slice(0, MAX_TEXT_LENGTH),
    message: issue.message.slice(0, MAX_TEXT_LENGTH)
  }
}
