import type { MessageResponse } from '../../client/index.js'
import type { IconName } from '../parts/icon.js'
import type { Action } from '../parts/popover.js'
import { targetOf } from '../views/requests/rows.js'
import { addressOf, go } from './router.js'
import { lookOptions, type Session } from './session.js'

/** Records of each kind that are told. */
const MAX_FOUND = 6

/** Finds the records of an environment: by an id, a transaction, a subscriber, a name, a path. */
export async function findRecords(
  { env, call }: Session,
  text: string
): Promise<readonly Action[]> {
  if (text.length < 2) return []
  const messages = async (name: string, words: string) => {
    const path = `/v1/messages?${new URLSearchParams({ [name]: text, limit: `${MAX_FOUND}` })}`
    const { json } = await call('GET', path, lookOptions(false))
    const { data, hasMore } = json as { data: MessageResponse[]; hasMore: boolean }
    const count = `${data.length}${hasMore ? '+' : ''} ${data.length === 1 ? 'message' : 'messages'}`
    const all = found('mail', `${count} ${words} ${text}`, data[0]?.subject, ['messages'], {
      [name]: text
    })
    return data.length > 0 ? [all] : []
  }
  const requests = async () => {
    const number = /^#(\d+)$/.exec(text)?.[1]
    const all = number
      ? [await env.requests.get(Number(number))]
      : await env.requests.list({ text, order: 'newest', limit: MAX_FOUND })
    return all.map((request) => {
      const hint = `#${request.sequence} · ${request.status ?? 'no answer'}`
      return found('requests', `${request.method} ${targetOf(request)}`, hint, [
        'requests',
        `${request.sequence}`
      ])
    })
  }
  const named = async (icon: IconName, view: string, list: () => Promise<Named[]>) => {
    const isLike = ({ _id, identifier, name }: Named) =>
      `${_id} ${identifier} ${name}`.toLowerCase().includes(text.toLowerCase())
    return (await list())
      .filter(isLike)
      .map((one) => found(icon, one.name, one.identifier, [view, one.identifier]))
  }
  // What one of them refuses says nothing of the others.
  const all = await Promise.allSettled([
    messages('transactionId', 'of transaction'),
    messages('subscriberId', 'to'),
    named('plug', 'integrations', env.integrations.list),
    named('flow', 'workflows', env.workflows.list),
    requests()
  ])
  return all.flatMap((each) => (each.status === 'fulfilled' ? each.value.slice(0, MAX_FOUND) : []))
}

type Named = { _id?: string; identifier: string; name: string }

function found(
  icon: IconName,
  name: string,
  hint: string | undefined,
  ...place: Parameters<typeof addressOf>
): Action {
  return { icon, name, hint, run: () => go(addressOf(...place)) }
}
