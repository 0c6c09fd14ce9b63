import type { Profile } from '../../domain/assumptions.js'
import { isObject } from '../../schema/validation.js'
import type { TargetResponse } from '../response-checks.js'
import { matchProfile, unexpectedResponse } from './assumption-probe.js'

/** Throws `Failure` unless the body contains all `facts` both at the top level and in `ctx`. */
export function checkFactsTwice(response: TargetResponse, facts: Record<string, string>): void {
  const { ctx, ...topLevel } = isObject(response.body) ? response.body : {}
  for (const [name, value] of Object.entries(facts)) {
    const isTwice = topLevel[name] === value && isObject(ctx) && ctx[name] === value
    if (!isTwice)
      throw unexpectedResponse(
        `${name} is missing or wrong at the top level of the body or in ctx`,
        response
      )
  }
}

/**
 * Throws `Failure` unless the response is a validation error that lists exactly the invalid fields.
 * `fields` contains their names and values in alphabetical order, such as `limit=none page=-1`. In
 * the profile `live`, the error must list only `general` instead.
 */
export function checkFieldErrors(response: TargetResponse, profile: Profile, fields: string): void {
  matchProfile(response, { document: [422, /^Validation Error$/] }, { mayBe200: true })
  const { errors = {} } = response.body as {
    errors?: Record<string, { messages?: unknown; value?: unknown }>
  }
  if (!Object.values(errors).every(hasMessages))
    throw unexpectedResponse('a field in `errors` has no list of messages', response)
  const namedFields = Object.entries(errors).map(([name, { value }]) =>
    profile === 'live' ? name : `${name}=${value}`
  )
  const expected = profile === 'live' ? 'general' : fields
  if (namedFields.sort().join(' ') !== expected)
    throw unexpectedResponse(`\`errors\` must list exactly these fields: ${expected}`, response)
}

const hasMessages = ({ messages }: { messages?: unknown }) =>
  Array.isArray(messages) && messages.every((message) => typeof message === 'string')
