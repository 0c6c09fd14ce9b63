import type { Coverage, CoverageItem } from '../../src/coverage/schemas.js'
import { EXAMPLE_QUERY } from '../../src/messages/filters.js'
import { OPERATIONS } from '../../src/operations.js'
import { addFault } from './control.js'
import type { TestMock } from './mock.js'

interface Sent {
  path?: string
  headers?: Record<string, string>
  body?: string
  key?: string | null | undefined
}

/** Maps operation ids to example paths. The record ids in the paths exist in the default seed. */
const PATHS = Object.fromEntries(
  OPERATIONS.map(({ id, url, examples: { params = {} } }) => [
    id,
    url.replace(/:(\w+)/g, (_, name) => params[name] ?? '')
  ])
)

/** Returns the requests that cover an item. `path` is the example path in the item's `how`. */
function requestsFor(id: string, path: string | undefined): Sent[] {
  const [, kind = '', name = '', value] = /^\w+\.(\w+)\.([\w-]+)[.=]?(.*)$/.exec(id) ?? []
  const keyed = { headers: { 'idempotency-key': id } }
  const at = (query: string) => [{ path: `?${query}` }]
  const [example] = [EXAMPLE_QUERY[name as keyof typeof EXAMPLE_QUERY]].flat()
  const sent = `${name}=${example}`
  if (kind === 'query') return at(sent)
  if (kind === 'value') return at(`${name}=${value}`)
  if (kind === 'list') return at(`${sent}&${sent}-2`)
  if (name === 'idempotency-key') return [keyed]
  if (name === 'idempotency-replay') return [keyed, keyed]
  if (value === 'key-reused') return [keyed, { ...keyed, body: 'another' }]
  if (name === '401') return [{ key: null }]
  if (name === '413') return [{ body: 'x'.repeat(1024 * 1024 + 1) }]
  if (path === undefined && name === '400') return at('x=%')
  return [path === undefined ? {} : { path }]
}

/** Sends requests that cover an item, and waits for the responses. */
export async function cover(
  mock: Pick<TestMock, 'get' | 'post' | 'call'>,
  { id, how }: CoverageItem,
  key?: string
): Promise<void> {
  const [operation = ''] = id.split('.')
  const method = OPERATIONS.find(({ id: name }) => name === operation)?.method ?? 'GET'
  const call = ({ path = '', key: apiKey = key, ...sent }: Sent) =>
    mock.call(path.startsWith('/') ? path : `${PATHS[operation]}${path}`, {
      method,
      ...sent,
      ...(apiKey !== undefined && { key: apiKey })
    })
  if (id.endsWith('.500')) await addFault(mock, { operation, effect: { status: 500 } }, key)
  if (id.endsWith('.409')) {
    await addFault(mock, { operation, effect: { delay: 200 } }, key)
    await Promise.all([1, 2].map(() => call({ headers: { 'idempotency-key': id } })))
    return
  }
  for (const request of requestsFor(id, /such as \w+ (\/\S+)$/.exec(how)?.[1])) await call(request)
}

export function itemsOf({ operations }: Coverage): CoverageItem[] {
  return operations.flatMap(({ items }) => items)
}

/** Returns the ids of the items that are not covered. */
export function uncoveredIds(coverage: Coverage): string[] {
  return itemsOf(coverage).flatMap(({ id, covered }) => (covered ? [] : [id]))
}
