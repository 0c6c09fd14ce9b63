import { curlCommand } from '../../domain/shell.js'
import type { SentRequest } from '../response-checks.js'

/** Parameters whose values identify people and their actions. */
const PRIVATE_PARAMETER = /\b(subscriberId|transactionId|contextKeys)((?:\[\d*\])?)=([^&\s]+)/g
/** Values that cases make up and that no record has. */
const MADE_UP = /^(?:tenant%3A)?(?:conformance|%zz|ffffffff[\da-f]{16}$)/

/**
 * Returns a command that repeats the request and reads the key from a variable. Parameter values
 * from the target's data are replaced (`subscriberId=<subscriberId>`), so a report names nobody.
 */
export function curlOf(url: string, { path, options }: SentRequest): string {
  const { method = 'GET', headers = {}, body, authorization, scheme = 'ApiKey' } = options
  const shownPath = path.replace(PRIVATE_PARAMETER, (parameter, name, suffix, value) =>
    MADE_UP.test(value) ? parameter : `${name}${suffix}=<${name}>`
  )
  const ownAuthorization: [string, string][] =
    typeof authorization === 'string' ? [['Authorization', authorization]] : []
  const keyHeader = `Authorization: ${scheme} $NOTIFICATION_MOCK_API_KEY`
  return curlCommand({
    method,
    url: url + shownPath,
    headers: [...ownAuthorization, ...Object.entries(headers)],
    body,
    expandedHeader: authorization === undefined ? keyHeader : undefined
  })
}
