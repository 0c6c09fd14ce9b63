import type { Sent } from '../response-checks.js'

/** Parameters whose values name people and what they did. */
const PRIVATE_PARAMETER = /\b(subscriberId|transactionId|contextKeys)((?:\[\d*\])?)=([^&\s]+)/g
/** What cases ask for that no record has. */
const MADE_UP = /^(?:tenant%3A)?(?:conformance|%zz|ffffffff[\da-f]{16}$)/

/**
 * Returns a command that sends a request again, with the key in a variable. What a parameter has of the target's data
 * is left out, so that a report names nobody: `subscriberId=<subscriberId>`.
 */
export function curlOf(url: string, { path, ask }: Sent): string {
  const { method = 'GET', headers = {}, body, authorization, scheme = 'ApiKey' } = ask
  const shownPath = path.replace(PRIVATE_PARAMETER, (whole, name, suffix, value) =>
    MADE_UP.test(value) ? whole : `${name}${suffix}=<${name}>`
  )
  const key =
    authorization === undefined
      ? `"Authorization: ${scheme} $NOTIFICATION_MOCK_API_KEY"`
      : quoted(`Authorization: ${authorization}`)
  return [
    'curl -g',
    ...(method === 'GET' ? [] : [method === 'HEAD' ? '--head' : `-X ${method}`]),
    quoted(url + shownPath),
    ...(authorization === null ? [] : [`-H ${key}`]),
    ...Object.entries(headers).map(
      ([name, value]) => `-H ${quoted(value === '' ? `${name};` : `${name}: ${value}`)}`
    ),
    ...(body === undefined ? [] : [`--data-raw ${quoted(body)}`])
  ].join(' ')
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
