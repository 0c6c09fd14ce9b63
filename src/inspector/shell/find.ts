import { useCallback } from 'preact/hooks'
import type { MessageResponse } from '../../client/index.js'
import { targetOf } from '../views/requests/rows.js'
import { type Command, type Finder, useFinder } from './palette.js'
import { addressOf, go } from './router.js'
import { lookOptions, useSession } from './session.js'

/** Records of each kind that are told. */
const MAX_FOUND = 6

/** Has the palette find the records of the environment: by an id, a transaction, a subscriber, a name, a path. */
export function useRecordFinder(): void {
  const { env, call } = useSession()
  const find = useCallback<Finder>(
    async (text) => {
      const messages = async (name: 'transactionId' | 'subscriberId'): Promise<Command[]> => {
        const path = `/v1/messages?${new URLSearchParams({ [name]: text, limit: String(MAX_FOUND) })}`
        const { status, json } = await call('GET', path, lookOptions(false))
        const { data = [], hasMore } = (status === 200 ? json : {}) as { data?: MessageResponse[]; hasMore?: boolean }
        if (data.length === 0) return []
        const count = `${data.length}${hasMore ? '+' : ''} ${data.length === 1 ? 'message' : 'messages'}`
        const whose = name === 'subscriberId' ? `to ${text}` : `of transaction ${text}`
        const show = () => go(addressOf(['messages'], { [name]: text }))
        return [{ name: `${count} ${whose}`, icon: 'mail', hint: data[0]?.subject ?? '', run: show }]
      }
      const requests = async (): Promise<Command[]> => {
        const [, sequence] = /^#(\d+)$/.exec(text) ?? []
        const found = sequence
          ? [await env.requests.get(Number(sequence))]
          : await env.requests.list({ text, order: 'newest', limit: MAX_FOUND })
        return found.map((request) => ({
          name: `${request.method} ${targetOf(request)}`,
          icon: 'requests',
          hint: `#${request.sequence} · ${request.status ?? 'no answer'}`,
          run: () => go(addressOf(['requests', String(request.sequence)]))
        }))
      }
      const integrations = async (): Promise<Command[]> =>
        (await env.integrations.list())
          .filter(({ _id, identifier, name }) => isLike(text, [_id, identifier, name]))
          .map(({ _id, name, identifier }) => ({
            name,
            icon: 'plug',
            hint: identifier,
            run: () => go(addressOf(['integrations', _id]))
          }))
      const workflows = async (): Promise<Command[]> =>
        (await env.workflows.list())
          .filter(({ _id, identifier, name }) => isLike(text, [_id, identifier, name]))
          .map(({ identifier, name }) => ({
            name,
            icon: 'flow',
            hint: identifier,
            run: () => go(addressOf(['workflows', identifier]))
          }))
      // What one of them refuses says nothing of the others.
      const kinds = [messages('transactionId'), messages('subscriberId'), integrations(), workflows(), requests()]
      return (await Promise.all(kinds.map((found) => found.catch(() => [])))).flatMap((found) =>
        found.slice(0, MAX_FOUND)
      )
    },
    [env, call]
  )
  useFinder(find)
}

function isLike(text: string, values: readonly (string | undefined)[]): boolean {
  return values.some((value) => value?.toLowerCase().includes(text.toLowerCase()))
}
