import type { MessageResponse } from '../../../client/index.js'

export type Message = MessageResponse

/** What the list of messages is asked for. Undefined is left out of the request. */
export interface ListQuery {
  channel: string | undefined
  subscriberId: string | undefined
  transactionId: string[]
  contextKeys: string[]
  /** Only messages in no context: `contextKeys=`. */
  hasNoContext: boolean
  page: number
  limit: string | undefined
}

export interface MessagesPage {
  totalCount?: number
  hasMore: boolean
  data: Message[]
  pageSize: number
  page: number
}

/** Reads the query from the parameters of an address. What the service would refuse is for the service to refuse. */
export function readQuery(params: URLSearchParams): ListQuery {
  return {
    channel: params.get('channel') ?? undefined,
    subscriberId: params.get('subscriberId') ?? undefined,
    transactionId: params.getAll('transactionId'),
    contextKeys: params.getAll('contextKeys'),
    hasNoContext: params.has('noContext'),
    page: Math.max(0, Math.trunc(Number(params.get('page')) || 0)),
    limit: params.get('limit') ?? undefined
  }
}

/** Whether a query leaves messages out, other than by its page. */
export function isFiltered({ channel, subscriberId, transactionId, contextKeys, hasNoContext }: ListQuery): boolean {
  return Boolean(channel || subscriberId || hasNoContext || transactionId.length + contextKeys.length > 0)
}

/** Returns the parameters of an address that stand for a query. */
export function addressParams({
  hasNoContext,
  page,
  ...query
}: ListQuery): Record<string, string | readonly string[] | undefined> {
  return { ...query, noContext: hasNoContext ? '1' : undefined, page: page === 0 ? undefined : String(page) }
}

/** Returns the path of the request that lists what a query asks for. */
export function requestPath({
  channel,
  subscriberId,
  transactionId,
  contextKeys,
  hasNoContext,
  page,
  limit
}: ListQuery) {
  const query = new URLSearchParams()
  if (channel) query.set('channel', channel)
  if (subscriberId) query.set('subscriberId', subscriberId)
  for (const id of transactionId) query.append('transactionId', id)
  if (hasNoContext) query.set('contextKeys', '')
  else for (const key of contextKeys) query.append('contextKeys', key)
  if (page > 0) query.set('page', String(page))
  if (limit) query.set('limit', limit)
  const text = query.toString()
  return `/v1/messages${text && `?${text}`}`
}

/** Returns the page that an answer holds, if it holds one. */
export function pageOf(json: unknown): MessagesPage | undefined {
  const page = json as Partial<MessagesPage> | null | undefined
  return Array.isArray(page?.data) ? (page as MessagesPage) : undefined
}
