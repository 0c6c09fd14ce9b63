import type { AttachedEnvironment, NewFaultRule, RecordedRequest, RequestPattern } from '../../../client/index.js'
import { curlOf } from '../../parts/curl.js'

/** What curl sends by itself, or what says how the request was sent rather than what it asked. */
const LEFT_OUT =
  /^(host|connection|content-length|transfer-encoding|accept-encoding|user-agent|accept-language|origin|referer|cookie|te|priority|expect|dnt|sec-.*|x-forwarded-.*)$/

/** Returns a command that sends the request again, with the key of the environment where the journal hides it. */
export function curlAgain({ url, headers: { authorization } }: AttachedEnvironment, request: RecordedRequest): string {
  const { method, path, query, headers, body } = request
  const parameters = Object.entries(query).flatMap(([name, values]) =>
    [values].flat().map((value) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
  )
  const target = `${url}${path}${parameters.length > 0 ? `?${parameters.join('&')}` : ''}`
  const others = Object.entries(headers)
    .filter(([name]) => name !== 'authorization' && !LEFT_OUT.test(name))
    .map(([name, values]) => [name, [values].flat().filter((value) => !value.includes('***'))])
  return curlOf(
    { method, url: target, headers: { authorization, ...Object.fromEntries(others) }, body: body || undefined },
    ' \\\n  '
  )
}

/** Parameters that a pattern can have. */
const MAX_PARAMETERS = 50

/** Returns what a verification expects so that the request fulfils it. */
export function patternOf(request: RecordedRequest): RequestPattern {
  const { operation, method, path, body, bodyLength, status } = request
  const query = queryOf(request)
  return {
    ...(operation && { operation }),
    method,
    path,
    ...(query && { query }),
    ...(body && bodyLength === undefined && { body }),
    ...(status !== undefined && { status })
  }
}

/** Returns a rule that answers the next request like it with 503; undefined for one that no operation serves. */
export function faultOf(request: RecordedRequest): NewFaultRule | undefined {
  const { operation, path } = request
  const query = queryOf(request)
  return operation && { operation, match: { path, ...(query && { query }) }, effect: { status: 503 } }
}

function queryOf({ query }: RecordedRequest): Record<string, string | string[]> | undefined {
  const parameters = Object.entries(query).filter(([, value]) => value.length <= 100 || !Array.isArray(value))
  return parameters.length === 0 ? undefined : Object.fromEntries(parameters.slice(0, MAX_PARAMETERS))
}

/** Returns the verification as a line of a test that uses the library. */
export function verificationSource(pattern: RequestPattern): string {
  return `await env.requests.verify(${source(pattern)})`
}

function source(value: unknown, indent = ''): string {
  if (Array.isArray(value)) return `[${value.map((each) => source(each, indent)).join(', ')}]`
  if (typeof value !== 'object' || value === null) return literal(value)
  const inner = `${indent}  `
  const fields = Object.entries(value).map(
    ([name, each]) => `${inner}${/^[a-z_$][\w$]*$/i.test(name) ? name : literal(name)}: ${source(each, inner)}`
  )
  return `{\n${fields.join(',\n')}\n${indent}}`
}

function literal(value: unknown): string {
  const text = JSON.stringify(value)
  return typeof value === 'string' && !/['\\]/.test(text.slice(1, -1)) ? `'${value}'` : text
}
