import { curlCommand } from '../../domain/shell.js'
import type { SentRequest } from '../response-checks.js'

/** Parameters whose values identify people and their actions. */
const PRIVATE_PARAMETER = /\b(subscriberId|transactionId|contextKeys)((?:\[\d*\])?)=([^&\s]+)/g
/** Parameter values that the cases make up. They don't identify anybody. */
const MADE_UP = /^(?:tenant%3A)?(?:conformance|%zz|ffffffff[\da-f]{16}$)/

/**
 * Returns a curl command that repeats the request and reads the key from an environment variable.
 * Parameter values from the target's data are replaced, for example by `<subscriberId>`, so that
 * reports don't identify anybody.
 */
export function curlOf(url: string, { path, options }: SentRequest): string {
  const { method = 'GET', headers = {}, body, authorization, scheme = 'ApiKey' } = options
  const shownPath = path.replace(PRIVATE_PARAMETER, (parameter, name, suffix, value) =>
    MADE_UP.test(value) ? parameter : `${name}${suffix}=<${name}>`
  )
  const customAuthorization: [string, string][] =
    typeof authorization === 'string' ? [['Authorization', authorization]] : []
  const keyHeader = `Authorization: ${scheme} $NOTIFICATION_MOCK_API_KEY`
  return curlCommand({
    method,
    url: url + shownPath,
    headers: [...customAuthorization, ...Object.entries(headers)],
    body,
    expandedHeader: authorization === undefined ? keyHeader : undefined
  })
}
