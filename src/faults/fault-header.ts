import { Type } from '@sinclair/typebox'
import { DomainError } from '../domain/errors.js'
import { findIssues, formatPath } from '../schema/validation.js'
import { findContradiction } from './rule-checks.js'
import { FaultEffect } from './schemas.js'

const HeaderEffect = Type.Omit(FaultEffect, ['headers', 'body'])

const SYNTAX =
  'use status=<400 to 599>, delay=<milliseconds>, abort=reset, abort=truncate or lostResponse, ' +
  'separated by commas'

/**
 * Parses an `x-mock-fault` header, such as `status=503,delay=250` or `lostResponse`. Throws
 * `bad-request` if the header is invalid.
 */
export function parseFaultHeader(header: string): FaultEffect {
  const fields = header.split(',').map(parseField)
  const effect: FaultEffect = Object.fromEntries(fields)
  const isRepeated = Object.keys(effect).length < fields.length
  const problem = isRepeated ? 'it names a field twice' : findProblem(effect)
  if (problem === undefined) return effect
  throw new DomainError('bad-request', `x-mock-fault is invalid: ${problem}`, { reason: SYNTAX })
}

function parseField(field: string): [name: string, value: unknown] {
  const [name = '', value = 'true'] = field.trim().split(/=(.*)/)
  if (value === 'true') return [name, true]
  return [name, /^\d+$/.test(value) ? Number(value) : value]
}

function findProblem(effect: FaultEffect): string | undefined {
  const [issue] = findIssues(HeaderEffect, effect)
  if (issue) return `${formatPath(issue.path)} ${issue.message}${issue.hint}`
  const contradiction = findContradiction(effect)
  return contradiction && `effect ${contradiction}`
}
