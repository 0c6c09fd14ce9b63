import type { ErrorStatus, Operation, OperationError } from '../../http/operation.js'
import type { CoverageRequest } from './schemas.js'

/** How to meet an item: in words, and as requests that do it with the default seed. */
export interface Hint {
  how: string
  requests: CoverageRequest[]
}

type Example = string | number

/** Returns how to get a 200. */
export function callHint(operation: Operation): Hint {
  return hint('', example(operation))
}

/** Returns how to send a query parameter. */
export function queryHint(operation: Operation, name: string, ...values: Example[]): Hint {
  const query = values.map((value) => `${name}=${value}`).join('&')
  return hint('', { ...example(operation), path: `${pathOf(operation)}?${query}` })
}

/** Returns how to send an idempotency key that has an effect. */
export function keyHint(operation: Operation): Hint {
  return hint('', withKey(operation, 'coverage-key'))
}

/** Returns how to get the stored response of an idempotency key. */
export function replayHint(operation: Operation): Hint {
  const request = withKey(operation, 'coverage-replay')
  return hint('send the same idempotency-key twice: ', request, request)
}

/** Returns how to get an error. */
export function errorHint(operation: Operation, { status, code, example: path }: OperationError): Hint {
  if (code === 'key-reused') {
    const first = withKey(operation, 'coverage-reused')
    return hint('send an idempotency-key again with another body: ', first, { ...first, body: '{"another": "body"}' })
  }
  return HINTS[status](operation, { ...example(operation), ...(path && { path }) })
}

const HINTS: Record<ErrorStatus, (operation: Operation, request: CoverageRequest) => Hint> = {
  400: (operation, request) =>
    hint('send a query string that is malformed: ', { ...request, path: `${pathOf(operation)}?x=%` }),
  401: (_, request) => hint('', { ...request, withoutKey: true }),
  403: (_, request) => hint('ask for a record of another environment of the organization: ', request),
  404: (_, request) => hint('ask for something that the environment does not have: ', request),
  409: (operation) => {
    const request = withKey(operation, 'coverage-in-use')
    const delay = fault(operation, { delay: 1000 })
    return hint(
      'use an idempotency-key while its first request is still delayed: ',
      delay,
      { ...request, atOnce: true },
      request
    )
  },
  413: (_, request) => hint('send a body of more than 1 MiB: ', { ...request, bodyLength: 1024 * 1024 + 1 }),
  422: (_, request) => hint('send an invalid value: ', request),
  500: (operation, request) =>
    hint('inject it, as it is an error of the server: ', fault(operation, { status: 500 }), request)
}

function hint(why: string, ...requests: CoverageRequest[]): Hint {
  const texts = requests.map(textOf).map((text, index, all) => (text === all[index - 1] ? 'the same again' : text))
  const text = texts.map((each, index) => `${each}${requests[index]?.atOnce ? ' (do not wait)' : ''}`)
  return { how: why + text.join(', then '), requests }
}

function textOf({ method, path, headers = {}, body, withoutKey }: CoverageRequest): string {
  const sent = Object.entries(headers).map(([name, value]) => ` with ${name}: ${value}`)
  return [
    `${method} ${path}`,
    ...(body === undefined ? [] : [` ${body}`]),
    ...(withoutKey ? [' without an API key'] : []),
    ...sent
  ].join('')
}

/** Returns the request of the operation's examples. */
function example(operation: Operation): CoverageRequest {
  return { method: operation.method, path: pathOf(operation) }
}

function pathOf({ url, examples }: Operation): string {
  return url.replace(/:(\w+)/g, (_, name) => examples.params?.[name] ?? '')
}

function withKey(operation: Operation, key: string): CoverageRequest {
  return { ...example(operation), headers: { 'idempotency-key': key } }
}

function fault({ id }: Operation, effect: object): CoverageRequest {
  return { method: 'POST', path: '/_mock/faults', body: JSON.stringify({ operation: id, effect }) }
}
