import type { Coverage, CoverageItem, CoverageRequest } from '../../src/control/coverage/schemas.js'

/** Sends the requests that lead to an item, in their order, and resolves when all are answered. */
export async function follow(url: string, key: string, { requests }: Pick<CoverageItem, 'requests'>): Promise<void> {
  const waiting: Promise<unknown>[] = []
  for (const request of requests) {
    const answered = send(url, key, request)
    waiting.push(answered)
    if (!request.atOnce) await answered
  }
  await Promise.all(waiting)
}

async function send(url: string, key: string, request: CoverageRequest): Promise<void> {
  const { method, path, headers, body, bodyLength, withoutKey } = request
  const sent = bodyLength === undefined ? body : 'x'.repeat(bodyLength)
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { ...(!withoutKey && { authorization: `ApiKey ${key}` }), ...headers },
    ...(sent !== undefined && { body: sent })
  })
  await response.arrayBuffer()
}

export function itemsOf({ operations }: Coverage): CoverageItem[] {
  return operations.flatMap(({ items }) => items)
}

/** The ids of what has not been met. */
export function uncoveredIn(coverage: Coverage): string[] {
  return itemsOf(coverage).flatMap(({ id, covered }) => (covered ? [] : [id]))
}
