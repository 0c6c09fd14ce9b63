import type { IconName } from '../parts/icon.js'
import type { Action } from '../parts/popover.js'
import { recipientOf, summaryOf } from '../views/messages/message-text.js'
import { targetOf } from '../views/requests/format-request.js'
import { hrefTo, navigate } from './router.js'
import type { Session } from './session.js'

/** The maximum number of results per kind of record. */
const MAX_RESULTS = 6
const MIN_LENGTH = 2

/** Finds the environment's records by id, name, path or text. */
export async function findRecords(session: Session, text: string): Promise<readonly Action[]> {
  if (text.length < MIN_LENGTH) return []
  const { env } = session
  // If one search fails, for example because no request has the number, still show the other
  // results.
  const searches = await Promise.allSettled([
    findMessages(session, text),
    findByName('plug', 'integrations', env.integrations.list(), text),
    findByName('flow', 'workflows', env.workflows.list(), text),
    findRequests(session, text)
  ])
  return searches.flatMap((search) =>
    search.status === 'fulfilled' ? search.value.slice(0, MAX_RESULTS) : []
  )
}

/** Finds messages that contain the text. Several messages are followed by a link to all of them. */
async function findMessages({ env }: Session, text: string): Promise<Action[]> {
  const { messages, hasMore } = await env.messages.search({ text, limit: MAX_RESULTS - 1 })
  const results = messages.map((message): Action => {
    const { _id = '', channel } = message
    return {
      icon: 'mail',
      name: summaryOf(message).title,
      hint: `${channel} · ${recipientOf(message)}`,
      isReadOnly: true,
      run: () => navigate(hrefTo(['messages', _id], { q: text }))
    }
  })
  if (results.length < 2) return results
  const count = `${messages.length}${hasMore ? '+' : ''}`
  return [
    ...results,
    {
      icon: 'mail',
      name: `All messages with “${text}”`,
      hint: count,
      isReadOnly: true,
      run: () => navigate(hrefTo(['messages'], { q: text }))
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
    isReadOnly: true,
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
    isReadOnly: true,
    run: () => navigate(hrefTo([view, identifier]))
  }))
}
