import type { MessageResponse } from '../../../messages/schemas.js'
import { isObject } from '../../../schema/validation.js'
import { listPath } from '../../paths.js'
import { check, skipUnless, type TargetResponse } from '../../response-checks.js'
import type { ServiceUnderTest } from '../../service-under-test.js'
import { checkFilter, LIMIT } from './filter-check.js'

/**
 * Throws `Failure` unless the service decodes `+` and `%20` to a space, and `%2B` to a plus sign.
 * Throws `Skipped` if no error contains the rejected value and no known id contains a space or plus
 * sign.
 */
export async function checkSpaces(service: ServiceUnderTest): Promise<void> {
  const isEchoed = await checkEchoedSpaces(service)
  const { messages } = await service.sample()
  const idsOf = ({ transactionId, subscriber }: MessageResponse) =>
    Object.entries({ transactionId, subscriberId: subscriber?.subscriberId ?? '' })
  const ids = messages.flatMap(idsOf).filter(([, id]) => /[ +]/.test(id))
  skipUnless(
    isEchoed || ids.length > 0,
    "the target's errors do not contain the rejected value, and no known transaction or " +
      'subscriber id has a space or plus sign'
  )
  for (const [name, id] of ids.slice(0, 3)) {
    for (const space of ['%20', '+']) {
      const path = listPath({ limit: LIMIT, [name]: id }).replaceAll('%20', space)
      await checkFilter(service, path, (message) =>
        idsOf(message).some(([, messageId]) => messageId === id)
      )
    }
  }
}

/**
 * Checks how the service decodes a value that it rejects. Returns false if no error contains the
 * rejected value.
 */
async function checkEchoedSpaces({ send }: ServiceUnderTest): Promise<boolean> {
  const values = { 'a%20b': 'a b', 'a+b': 'a b', 'a%2Bb': 'a+b' }
  for (const name of ['channel', 'limit', 'contextKeys']) {
    const isEchoed = echoIn(await send(listPath({ [name]: 'ab' })), name) === 'ab'
    if (!isEchoed) continue
    for (const [encoded, decoded] of Object.entries(values)) {
      const response = await send(listPath({ [name]: 'ab' }).replace('ab', encoded))
      const problem = `${encoded} in a query string is not decoded to ${JSON.stringify(decoded)}`
      check(echoIn(response, name) === decoded, problem, response)
    }
    return true
  }
  return false
}

/** Returns the rejected value of a parameter, or undefined if the error doesn't contain it. */
function echoIn({ body }: TargetResponse, name: string): unknown {
  const errors = isObject(body) && isObject(body.errors) ? body.errors : {}
  const error = errors[name]
  return isObject(error) ? error.value : undefined
}
