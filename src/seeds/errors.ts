import { printable } from '../platform/printable.js'
import { MAX_ISSUES } from '../schema/validation.js'

/** A problem at one location of a seed. */
export interface SeedIssue {
  /** `seeds/shop.yaml:12:7`, which editors and terminals can open; the file if there is no line. */
  location: string
  file: string
  /**
   * Line and column count from 1. Both are absent if the seed was passed as an object, or if the
   * file can't be read.
   */
  line?: number
  column?: number
  /** `environments[0].integrations[1].channel`; empty if the whole file is the problem. */
  path: string
  message: string
}

/** Limits the path and the message of an issue, because a name in a seed can be very long. */
const MAX_TEXT_LENGTH = 2000

/** Lists the first hundred issues of the seeds. When it is thrown, nothing has been applied. */
export class SeedError extends Error {
  override readonly name = 'SeedError'
  readonly issues: readonly SeedIssue[]
  /** The minimum number of further issues. The search stops after 101 issues per seed. */
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

function formatIssue({ location, path, message }: SeedIssue): string {
  const place = path === '' ? location : `${location} ${path}`
  return printable(`${place}: ${message}`)
}

/**
 * Functions that create issues. Locating an issue is slow, so only the issues of an error are
 * created.
 */
export type IssueList = (() => SeedIssue)[]

/** Returns whether the list has as many issues as a `SeedError` shows. */
export const isFull = ({ length }: IssueList) => length >= MAX_ISSUES

/** Returns an error with the issues of several seeds. Each seed's issues are sorted by line. */
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
