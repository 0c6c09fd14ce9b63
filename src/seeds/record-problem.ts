import type { Path } from '../schema/validation.js'

const MAX_RECORD = 1024 * 1024

/** A problem that no schema can describe. `path` leads from the record to the problem. */
export interface RecordProblem {
  path: Path
  message: string
}

/** Returns a problem if the record (with its steps) is too large or contains a lone surrogate. */
export function findRecordProblem(record: unknown): RecordProblem | undefined {
  const json = JSON.stringify(record)
  if (json.length > MAX_RECORD) return { path: [], message: TOO_LARGE }
  return findHalfCharacter(record, json)
}

const TOO_LARGE =
  'is larger than 1 MiB of JSON, which is the limit for one record; shorten the record'

/** `JSON.stringify` escapes a surrogate only if it has no partner. */
const LONE_SURROGATE = /\\ud[89a-f]/

/**
 * Returns a problem for the first string or field name that contains a lone surrogate, such as
 * `\ud83d`. UTF-8 can't encode lone surrogates, so the database can't store them. `json` is `value`
 * as JSON.
 */
export function findHalfCharacter(
  value: unknown,
  json = JSON.stringify(value)
): RecordProblem | undefined {
  if (!LONE_SURROGATE.test(json)) return undefined
  const [path] = malformedStrings(value, [])
  return path && { path, message: HALF_CHARACTER }
}

const HALF_CHARACTER =
  'contains a lone surrogate, which is half of a character such as an emoji: ' +
  'write the whole character, or remove the half'

function* malformedStrings(value: unknown, path: Path): Generator<Path, void> {
  if (typeof value === 'string' && !value.isWellFormed()) yield path
  if (typeof value !== 'object' || value === null) return
  for (const [name, child] of Object.entries(value)) {
    const childPath = [...path, Array.isArray(value) ? Number(name) : name]
    if (!name.isWellFormed()) yield childPath
    yield* malformedStrings(child, childPath)
  }
}
