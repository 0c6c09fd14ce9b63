import type { MessageResponse } from '../../client/index.js'
import type { IconName } from '../parts/icon.js'
import type { Action } from '../parts/popover.js'
import { targetOf } from '../views/requests/format-request.js'
import { hrefTo, navigate } from './router.js'
import { callOptions, type Session } from './session.js'

/** The maximum number of results per kind of record. */
const MAX_RESULTS = 6
const MIN_LENGTH = 2

/** Finds the environment's records by id, transactionId, subscriberId, name or path. */
export async function findRecords(session: Session, text: string): Promise<readonly Action[]> {
  if (text.length < MIN_LENGTH) return []
  const { env } = session
  // If one search fails, for example because of a malformed id, still show the other results.
  const searches = await Promise.allSettled([
    findMessages(session, 'transactionId', `of transaction ${text}`, text),
    findMessages(session, 'subscriberId', `to ${text}`, text),
    findByName('plug', 'integrations', env.integrations.list(), text),
    findByName('flow', 'workflows', env.workflows.list(), text),
    findRequests(session, text)
  ])
  return searches.flatMap((search) =>
    search.status === 'fulfilled' ? search.value.slice(0, MAX_RESULTS) : []
  )
}

/**
 * Returns one result, which opens the filtered messages. Returns none if no message matches.
 */
async function findMessages(
  { call }: Session,
  filter: 'transactionId' | 'subscriberId',
  description: string,
  text: string
): Promise<Action[]> {
  const query = new URLSearchParams({ [filter]: text, limit: `${MAX_RESULTS}` })
  const options = callOptions({ isUserAction: false })
  const { json } = await call('GET', `/v1/messages?${query}`, options)
  const { data, hasMore } = json as { data: MessageResponse[]; hasMore: boolean }
  if (data.length === 0) return []
  const noun = data.length === 1 ? 'message' : 'messages'
  return [
    {
      icon: 'mail',
      name: `${data.length}${hasMore ? '+' : ''} ${noun} ${description}`,
      hint: data[0]?.subject,
      run: () => navigate(hrefTo(['messages'], { [filter]: text }))
    }
  ]
}

/** Finds requests that contain the text, or a single request by a number such as `#17`. */
async function findRequests({ env }: Session, text: string): Promise<Action[]> {
  const number = /^#(\d+)$/.exec(text)?.[1]
  const requests = number
    ? [await env.requests.get(Number(number))]
    : await env.requests.list({ text, order: 'newest', limit: MAX_RESULTS })
  return requests.map((request) => ({
    icon: 'requests',
    name: `${request.method} ${targetOf(request)}`,
    hint: `#${request.sequence} · ${request.status ?? 'no response'}`,
    run: () => navigate(hrefTo(['requests', `${request.sequence}`]))
  }))
}

interface NamedRecord {
  _id?: string
  identifier: string
  name: string
}

async function findByName(
  icon: IconName,
  view: string,
  records: Promise<readonly NamedRecord[]>,
  text: string
): Promise<Action[]> {
  const matches = ({ _id, identifier, name }: NamedRecord) =>
    `${_id} ${identifier} ${name}`.toLowerCase().includes(text.toLowerCase())
  return (await records).filter(matches).map(({ name, identifier }) => ({
    icon,
    name,
    hint: identifier,
    run: () => navigate(hrefTo([view, identifier]))
  }))
}
