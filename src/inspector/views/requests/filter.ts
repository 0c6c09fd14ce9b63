import type { RecordedRequest } from '../../../client/index.js'

/** Which requests to show, as the address says it. Empty texts show all. */
export interface Filter {
  operation: string
  /** A status such as `404`, a class such as `4xx`, or `none` for requests without an answer. */
  status: string
  text: string
}

export function filterOf(params: URLSearchParams): Filter {
  return {
    operation: params.get('operation') ?? '',
    status: params.get('status') ?? '',
    text: params.get('text') ?? ''
  }
}

export function isFiltered({ operation, status, text }: Filter): boolean {
  return operation !== '' || status !== '' || text.trim() !== ''
}

/** Returns those requests that a filter shows; every word of its text must be in the request line, the reason or a key. */
export function filterRequests(requests: readonly RecordedRequest[], filter: Filter): readonly RecordedRequest[] {
  if (!isFiltered(filter)) return requests
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean)
  return requests.filter(
    (request) =>
      (filter.operation === '' || (request.operation ?? 'none') === filter.operation) &&
      isStatus(request, filter.status) &&
      words.every((word) => textOf(request).includes(word))
  )
}

function isStatus({ status }: RecordedRequest, wanted: string): boolean {
  if (wanted === '') return true
  if (status === undefined) return wanted === 'none'
  return wanted.endsWith('xx') ? wanted.startsWith(String(Math.floor(status / 100))) : wanted === String(status)
}

/** The request line with its query decoded, such as `/v1/messages?limit=5`. */
export function targetOf({ path, query }: RecordedRequest): string {
  const parameters = Object.entries(query).flatMap(([name, values]) => [values].flat().map((each) => `${name}=${each}`))
  return parameters.length === 0 ? path : `${path}?${parameters.join('&')}`
}

const texts = new WeakMap<RecordedRequest, string>()

function textOf(request: RecordedRequest): string {
  const known = texts.get(request)
  if (known !== undefined) return known
  const { method, status = '', reason = '', operation = '', headers } = request
  const key = headers['idempotency-key'] ?? ''
  const text = `${method} ${targetOf(request)} ${status} ${reason} ${operation} ${key}`.toLowerCase()
  texts.set(request, text)
  return text
}
