import type { RecordedRequest, RequestPattern } from '../../../client/index.js'
import { curlOf } from '../../parts/curl.js'
import type { Source } from '../../source.js'
import { parametersOf } from './rows.js'

/** What curl sends by itself, or what says how the request was sent rather than what it asked. */
const LEFT_OUT =
  /^(host|connection|content-length|transfer-encoding|accept-encoding|user-agent|accept-language|origin|referer|cookie|te|priority|expect|dnt|sec-.*|x-forwarded-.*)$/

/** A request as it is sent again, with the key of the environment where the journal hides it. */
interface SentAgain {
  method: string
  /** The path with its query. */
  path: string
  headers: Record<string, string | string[]>
  body: string | undefined
}

/** Returns what to send so that the server gets the same request; of a body that was cut only its beginning. */
export function sentAgain({ method, path, query, headers, body }: RecordedRequest): SentAgain {
  const parameters = parametersOf(query).map(
    ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`
  )
  const others = Object.entries(headers)
    .filter(([name]) => name !== 'authorization' && !LEFT_OUT.test(name))
    .map(([name, values]) => [
      name,
      typeof values === 'string' ? values : values.filter((each) => !each.includes('***'))
    ])
    .filter(([, value]) => !value?.includes('***'))
  const target = `${path}${parameters.length > 0 ? `?${parameters.join('&')}` : ''}`
  return { method, path: target, headers: Object.fromEntries(others), body: body || undefined }
}

/** Returns a command that sends the request again. */
export function curlAgain(
  { url, authorization }: Pick<Source, 'url' | 'authorization'>,
  request: RecordedRequest
): string {
  const { method, path, headers, body } = sentAgain(request)
  return curlOf({ method, url: `${url}${path}`, headers: { authorization, ...headers }, body }, ' \\\n  ')
}

/** Returns a line of JavaScript that sends the request again. */
export function fetchAgain({ url, authorization }: Source, request: RecordedRequest): string {
  const { method, path, headers, body } = sentAgain(request)
  const options = {
    ...(method !== 'GET' && { method }),
    headers: { authorization, ...joined(headers) },
    ...(body !== undefined && { body })
  }
  return `await fetch(${literal(`${url}${path}`)}, ${source(options)})`
}

/** Each header as one value, as `fetch` takes them. */
export function joined(headers: SentAgain['headers']): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, values]) => [name, [values].flat().join(', ')]))
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
