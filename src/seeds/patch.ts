import { Kind, type TObject } from '@sinclair/typebox'
import { runToEnd } from '../core/slices.js'
import { findIssues, type Path, pathText } from '../core/validation.js'
import { createIssue, SeedError } from './errors.js'
import { UNNAMED } from './format.js'
import { checkingRecord, REQUEST_LIMITS } from './limits.js'
import type { SeedFile } from './read.js'

/** The fields of a record to change. Null removes a field that may be left out. */
export type Patch<RecordSeed> = { [Field in keyof Omit<RecordSeed, '_id'>]?: RecordSeed[Field] | null }

/**
 * Returns the record with the fields of the patch in place of its own. A null that the contract knows is a value. Throws
 * SeedError when the result does not match the schema; `name` is what the issues call the record.
 */
export function merged<RecordSeed extends object>(
  schema: TObject,
  record: RecordSeed,
  patch: Patch<RecordSeed>,
  name: string
): RecordSeed {
  const isRemoved = (field: string, value: unknown) => value === null && schema.properties[field]?.[Kind] !== 'Nullable'
  const fields = Object.entries({ ...record, ...patch }).filter(([field, value]) => !isRemoved(field, value))
  const result = Object.fromEntries(fields) as RecordSeed
  const issues = findIssues(schema, result).map(({ path, message, hint }) => issueAt(name, path, message + hint))
  if (issues.length > 0) throw new SeedError(issues)
  return result
}

/** Returns a seed of one record, whose issues are located in the record. Throws SeedError when that is too large. */
export function recordFile(kind: 'messages' | 'integrations', record: object): SeedFile {
  const name = kind.slice(0, -1)
  const problem = runToEnd(checkingRecord(record))
  if (problem) throw new SeedError([issueAt(name, [], problem)])
  return {
    seed: { environments: [{ name: UNNAMED, [kind]: [record] }] },
    limits: REQUEST_LIMITS,
    // Without `environments[0].messages[0]`.
    issueAt: (path, message) => issueAt(name, path.slice(4), message)
  }
}

function issueAt(name: string, path: Path, message: string) {
  return createIssue({ file: name, path: pathText(path), message })
}
