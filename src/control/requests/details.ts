import { MalformedQuery, parseQuery } from '../../http/query-string.js'
import { pathOf } from '../../http/target.js'
import type { Describe } from './entry.js'
import { redactionOf, type Secrets } from './redaction.js'

/** Returns the function that describes recorded requests: parsed, and without secrets. */
export function createDescribe(secrets: Secrets, { faultHeader }: { faultHeader: boolean }): Describe {
  return (raw, { body, bodyLength, reason }) => {
    const sentHeaders = pairsOf(raw.rawHeaders)
    const authorization = sentHeaders.find(([name]) => name === 'authorization')?.[1]
    const redaction = redactionOf(secrets, authorization)
    const query = redaction.values(parametersOf(raw.url))
    const headers = redaction.values(sentHeaders)
    const isCut = body !== undefined && body.length < bodyLength
    return {
      method: raw.method,
      path: redaction.text(pathOf(raw.url)),
      query,
      headers,
      ...(body && { body: redaction.body(body, isCut) }),
      ...(isCut && { bodyLength }),
      ...(reason !== undefined && { reason: redaction.text(reason) }),
      unread: {
        query: Object.keys(query).filter((name) => !Object.hasOwn(raw.operation?.querystring?.properties ?? {}, name)),
        headers: Object.keys(headers).filter(
          (name) => !KNOWN_HEADERS.has(name) && !(faultHeader && name === 'x-mock-fault')
        )
      }
    }
  }
}

/** As the operations read them; as they were sent when they cannot be decoded. */
function parametersOf(url: string): [string, string][] {
  const text = /\?([^#]*)/.exec(url)?.[1] ?? ''
  const query = parseQuery(text)
  if (query instanceof MalformedQuery) {
    return text.split('&').map((part) => {
      const [name = '', ...value] = part.split('=')
      return [name, value.join('=')]
    })
  }
  return Object.entries(query).flatMap(([name, values]) =>
    [values].flat().map((value): [string, string] => [name, typeof value === 'string' ? value : JSON.stringify(value)])
  )
}

function pairsOf(rawHeaders: readonly string[]): [string, string][] {
  return rawHeaders.flatMap((name, index): [string, string][] =>
    index % 2 === 0 ? [[name.toLowerCase(), rawHeaders[index + 1] ?? '']] : []
  )
}

/** Headers that the server reads, and those that every client sends and that do not influence an answer. */
const KNOWN_HEADERS: ReadonlySet<string> = new Set([
  ...['authorization', 'idempotency-key', 'content-type', 'content-encoding', 'content-length', 'host', 'origin'],
  ...['x-request-id', 'connection', 'transfer-encoding', 'expect', 'upgrade', 'upgrade-insecure-requests'],
  ...['access-control-request-headers', 'access-control-request-method', 'proxy-connection', 'max-forwards'],
  ...['accept', 'accept-encoding', 'accept-language', 'user-agent', 'cookie', 'referer', 'dnt', 'priority', 'te'],
  ...['sec-fetch-mode', 'sec-fetch-site', 'sec-fetch-dest', 'sec-fetch-user', 'sec-gpc', 'cache-control', 'pragma'],
  ...['sec-ch-ua', 'sec-ch-ua-mobile', 'sec-ch-ua-platform', 'keep-alive', 'traceparent', 'tracestate', 'forwarded'],
  ...['via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip']
])
