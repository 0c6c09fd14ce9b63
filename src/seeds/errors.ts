import { printable } from '../platform/printable.js'
import { MAX_ISSUES } from '../schema/validation.js'

/** What is wrong at one location of a seed. */
export interface SeedIssue {
  /** `seeds/shop.yaml:12:7`, which editors and terminals open; the file alone when there is no line. */
  location: string
  file: string
  /** Line and column count from 1. Absent for a seed that was not given as text, and for a file that can't be read. */
  line?: number
  column?: number
  /** `environments[0].integrations[1].channel`; empty for the file as a whole. */
  path: string
  message: string
}

/** Characters of the path and of the message of an issue: a name in them may have a million. */
const MAX_LENGTH = 2000

/** Thrown with the first hundred issues of the seeds. Nothing of them has been applied. */
export class SeedError extends Error {
  override readonly name = 'SeedError'
  readonly issues: readonly SeedIssue[]
  /** How many more issues there are at least: in each seed, a hundred and one are looked for. */
  readonly more: number

  constructor(issues: readonly SeedIssue[], more = 0) {
    const first = issues.slice(0, MAX_ISSUES)
    const others = more + issues.length - first.length
    const lines = first.map(({ location, path, message }) =>
      printable(`${location}${path && ` ${path}`}: ${message}`)
    )
    super([...lines, ...(others > 0 ? [`and at least ${others} more`] : [])].join('\n'))
    this.issues = first
    this.more = others
  }
}

/** What makes the issues of a seed. To locate one and put it into words may take long: that is done for the first hundred. */
export type IssueList = (() => SeedIssue)[]

export const isFull = ({ length }: IssueList) => length >= MAX_ISSUES

/** Returns the error with the issues of several seeds, each in the order of its lines. */
export function errorOf(lists: readonly IssueList[]): SeedError {
  const located = lists.map((list) => list.slice(0, MAX_ISSUES).map((create) => create()))
  const issues = located.flatMap((list) =>
    list.sort((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0))
  )
  return new SeedError(issues, lists.flat().length - issues.length)
}

export function createIssue(issue: Omit<SeedIssue, 'location'>): SeedIssue {
  const { file, line, column } = issue
  const location = line === undefined ? file : `${file}:${line}:${column}`
  return {
    location,
    ...issue,
    path: issue.path.slice(0, MAX_LENGTH),
    message: issue.message.slice(0, MAX_LENGTH)
  }
}
