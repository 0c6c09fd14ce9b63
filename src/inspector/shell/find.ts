import { useCallback } from 'preact/hooks'
import type { MessageResponse } from '../../client/index.js'
import type { IconName } from '../parts/icon.js'
import type { Action } from '../parts/popover.js'
import { targetOf } from '../views/requests/rows.js'
import { addressOf, go } from './router.js'
import { lookOptions, useSession } from './session.js'

/** Records of each kind that are told. */
const MAX_FOUND = 6

/** Returns what finds the records of the environment: by an id, a transaction, a subscriber, a name, a path. */
export function useFind(): (text: string) => Promise<readonly Action[]> {
  const { env, call } = useSession()
  return useCallback(
    async (text) => {
      if (text.length < 2) return []
      const messages = async (name: string, words: string) => {
        const path = `/v1/messages?${new URLSearchParams({ [name]: text, limit: `${MAX_FOUND}` })}`
        const { data = [], hasMore } = (await call('GET', path, lookOptions(false))).json as {
          data?: MessageResponse[]
          hasMore?: boolean
        }
        if (data.length === 0) return []
        const count = `${data.length}${hasMore ? '+' : ''} ${data.length === 1 ? 'message' : 'messages'}`
        return [found('mail', `${count} ${words} ${text}`, data[0]?.subject, ['messages'], { [name]: text })]
      }
      const requests = async () => {
        const number = /^#(\d+)$/.exec(text)?.[1]
        const all = number
          ? [await env.requests.get(Number(number))]
          : await env.requests.list({ text, order: 'newest', limit: MAX_FOUND })
        return all.map((request) => {
          const hint = `#${request.sequence} · ${request.status ?? 'no answer'}`
          return found('requests', `${request.method} ${targetOf(request)}`, hint, ['requests', `${request.sequence}`])
        })
      }
      const named = async (icon: IconName, view: string, list: () => Promise<Named[]>) => {
        const isLike = ({ _id, identifier, name }: Named) =>
          `${_id} ${identifier} ${name}`.toLowerCase().includes(text.toLowerCase())
        return (await list()).filter(isLike).map((one) => found(icon, one.name, one.identifier, [view, one.identifier]))
      }
      const kinds = [
        messages('transactionId', 'of transaction'),
        messages('subscriberId', 'to'),
        named('plug', 'integrations', env.integrations.list),
        named('flow', 'workflows', env.workflows.list),
        requests()
      ]
      // What one of them refuses says nothing of the others.
      const all = await Promise.allSettled(kinds)
      return all.flatMap((each) => (each.status === 'fulfilled' ? each.value.slice(0, MAX_FOUND) : []))
    },
    [env, call]
  )
}

interface Named {
  _id?: string
  identifier: string
  name: string
}

function found(icon: IconName, name: string, hint: string | undefined, ...place: Parameters<typeof addressOf>): Action {
  return { icon, name, hint, run: () => go(addressOf(...place)) }
}
