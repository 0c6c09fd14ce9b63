import { findIssues, isObject, MAX_ISSUES, type Path } from '../schema/validation.js'
import type { IssueList } from './errors.js'
import { Seed } from './format.js'
import { findHalfCharacter, findRecordProblem, type RecordProblem } from './record-problem.js'
import { removeNulls } from './remove-nulls.js'
import type { IssueAt } from './yaml.js'

type Fields = Record<string | number, unknown>

/** The fields of an environment that are lists of records. */
const LISTS = ['integrations', 'subscribers', 'workflows', 'messages']

/** Environments and records from which an invalid part was removed. */
const incomplete = new WeakSet<object>()

/** Returns whether an invalid part of this environment or record was removed. */
export const isIncomplete = (record: object): boolean => incomplete.has(record)

function markIncomplete(record: Fields): Fields {
  incomplete.add(record)
  return record
}

/**
 * Removes the parts of `value` that don't match the seed format. Returns the remaining seed, and an
 * issue for each invalid part.
 */
export function checkFormat(value: unknown, issueAt: IssueAt): { seed: Seed; issues: IssueList } {
  const seed = isObject(value) ? value : {}
  const issues: IssueList = []
  if (Array.isArray(seed.environments)) seed.environments.forEach(removeNulls)
  // Find one issue more than `SeedError` lists, so that it can report that there are more.
  for (const { path, message, hint, part } of findIssues(Seed, value, MAX_ISSUES + 1)) {
    issues.push(() => issueAt(path, message + hint, part))
    removeInvalid(seed, path)
  }
  const environments = (seed.environments ?? []) as Fields[]
  for (const [index, environment] of environments.entries()) {
    environment.name ??= `environments[${index}]`
    issues.push(...checkTexts(environment, ['environments', index], issueAt))
  }
  return { seed: { environments } as Seed, issues }
}

/**
 * Removes the field that contains the invalid value at the path, and marks the field's environment
 * or record as incomplete.
 */
function removeInvalid(seed: Fields, path: Path): void {
  const isInRecord = LISTS.includes(String(path[2]))
  // The invalid field's path, such as environments[0].messages[1].channel or environments[0].clock.
  const steps = path.slice(0, isInRecord ? 5 : 3)
  const name = steps.at(-1) ?? ''
  const parent = steps.slice(0, -1).reduce((node, step) => node[step] as Fields, seed)
  if (typeof name === 'number') {
    const record = parent[name]
    parent[name] = markIncomplete(isObject(record) ? record : {})
    return
  }
  markIncomplete(parent)
  const isInEnvironment = steps.length === 3
  if (isInEnvironment && LISTS.includes(name)) {
    // The list is invalid, so its records are unknown. Keep one incomplete record, so that
    // references to unknown records are not reported.
    parent[name] = [markIncomplete({})]
  } else if (isInEnvironment && name === 'apiKeys') {
    // Keep the field, because an environment without it would get a default key.
    parent[name] = []
  } else {
    delete parent[name]
  }
  // The `subscriberId` of a message with an embedded subscriber isn't a reference. Remove it too,
  // because without the subscriber it would be checked as a reference.
  if (name === 'subscriber') delete parent.subscriberId
}

/**
 * Empties each record that is too large or has invalid text. Returns an issue for each of these
 * records, and for invalid text in the settings of the environment.
 */
function checkTexts(environment: Fields, path: Path, issueAt: IssueAt): IssueList {
  const issues: IssueList = []
  const report = (place: Path, problem: RecordProblem) =>
    issues.push(() => issueAt([...place, ...problem.path], problem.message))
  const settings = Object.entries(environment).filter(([name]) => !LISTS.includes(name))
  const settingsProblem = findHalfCharacter(Object.fromEntries(settings))
  if (settingsProblem) report(path, settingsProblem)
  for (const list of LISTS) {
    const records = (environment[list] ?? []) as unknown[]
    for (const [index, record] of records.entries()) {
      const problem = findRecordProblem(record)
      if (!problem) continue
      report([...path, list, index], problem)
      records[index] = markIncomplete({})
    }
  }
  return issues
}
