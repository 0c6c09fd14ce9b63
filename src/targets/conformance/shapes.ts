import type { TSchema } from '@sinclair/typebox'
import { findIssues, pathText } from '../../core/validation.js'
import { withContractNames } from '../contract-names.js'
import { check } from '../outcome.js'

const MAX_SHOWN = 5

/** Throws `Failure` when a value lacks a field of the schema, or has one of another type or outside of its list. */
export function checkShape(schema: TSchema, value: unknown, what: string): void {
  checkIssues(schema, value, what, 'value')
}

/** Throws `Failure` when a value has a field that the schema does not name. */
export function checkFields(schema: TSchema, value: unknown, what: string): void {
  checkIssues(schema, value, what, 'name')
}

function checkIssues(schema: TSchema, value: unknown, what: string, part: 'name' | 'value'): void {
  const issues = findIssues(schema, withContractNames(value)).filter((issue) => issue.part === part)
  const shown = issues.slice(0, MAX_SHOWN).map(({ path, message }) => `${pathText(path) || 'it'} ${message}`)
  const more = issues.length > MAX_SHOWN ? `; and ${issues.length - MAX_SHOWN} more` : ''
  check(issues.length === 0, `${what}: ${shown.join('; ')}${more}`)
}
