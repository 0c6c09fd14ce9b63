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

/** Thrown with every issue of the seeds. Nothing of them has been applied. */
export class SeedError extends Error {
  override readonly name = 'SeedError'
  readonly issues: readonly SeedIssue[]

  constructor(issues: readonly SeedIssue[]) {
    super(issues.map(({ location, path, message }) => `${location}${path && ` ${path}`}: ${message}`).join('\n'))
    this.issues = issues
  }
}

export function createIssue(issue: Omit<SeedIssue, 'location'>): SeedIssue {
  const { file, line, column } = issue
  return { location: line === undefined ? file : `${file}:${line}:${column}`, ...issue }
}

export function byLocation(one: SeedIssue, other: SeedIssue): number {
  return (one.line ?? 0) - (other.line ?? 0) || (one.column ?? 0) - (other.column ?? 0)
}
