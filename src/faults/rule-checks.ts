import { createFieldErrors, type FieldErrors, invalidFields } from '../domain/errors.js'
import { isSendableHeader } from '../http/response-headers.js'
import { preparePatterns } from '../journal/patterns.js'
import { isSecretPath } from '../schema/validation.js'
import type { FaultEffect, NewFaultRule } from './schemas.js'

/**
 * Checks new rules and compiles the regular expressions in their patterns. Each rule comes with its
 * path in the request body. Throws `invalid` if the fields of an effect can't be combined, a header
 * can't be sent, or `preparePatterns` rejects a regular expression.
 */
export async function checkRules(
  rules: readonly (readonly [path: string, NewFaultRule])[]
): Promise<void> {
  await preparePatterns(rules.map(([path, { match = {} }]) => [`${path}match.`, match]))
  const errors = createFieldErrors()
  for (const [path, { effect }] of rules) {
    Object.assign(errors, effectErrors(`${path}effect`, effect))
  }
  if (Object.keys(errors).length > 0) throw invalidFields(errors)
}

function effectErrors(path: string, effect: FaultEffect): FieldErrors {
  const errors = createFieldErrors()
  const contradiction = findContradiction(effect)
  if (contradiction) errors[path] = { messages: [`${path} ${contradiction}`] }
  for (const [name, value] of Object.entries(effect.headers ?? {})) {
    if (isSendableHeader(name, value)) continue
    const field = `${path}.headers.${name}`
    errors[field] = {
      messages: [`${field} can't be sent as a header`],
      ...(!isSecretPath([name]) && { value })
    }
  }
  return errors
}

/** Returns why the fields of an effect can't be combined, or undefined if they can. */
export function findContradiction(effect: FaultEffect): string | undefined {
  const { status, headers, body, abort, lostResponse } = effect
  const outcomes = [status, abort, lostResponse].filter((outcome) => outcome !== undefined)
  if (outcomes.length > 1) return 'can have only one of status, abort and lostResponse'
  const needsStatus = headers !== undefined || body !== undefined
  if (needsStatus && status === undefined)
    return 'must have a status, because it has headers or a body'
  return undefined
}
