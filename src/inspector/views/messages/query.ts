import type { MessageResponse } from '../../../client/index.js'
import { type Answer, reasonOf, type Session } from '../../shell/session.js'

export type Message = MessageResponse

/** Which messages, by the parameters of the service; `q` is a word that is a subscriber or a transaction. */
export type ListQuery = Record<string, readonly string[]>

/** What each word before a colon in the search line stands for. Another one begins a context key, such as `tenant:acme`. */
const KEYS: Record<string, string> = {
  channel: 'channel',
  subscriber: 'subscriberId',
  transaction: 'transactionId',
  limit: 'limit'
}
const NAMES = [...Object.values(KEYS), 'contextKeys', 'q']

/** Reads a query from the parameters of an address. */
export function readQuery(params: URLSearchParams): ListQuery {
  return Object.fromEntries(NAMES.map((name) => [name, params.getAll(name)]).filter(([, values]) => values?.length))
}

/** Returns a query as one types it; `readLine` reads it. */
export function lineOf(query: ListQuery): string {
  const keyOf = (name: string) => Object.keys(KEYS).find((key) => KEYS[key] === name)
  const words = Object.entries(query).flatMap(([name, values]) =>
    values.map((value) => {
      const key = keyOf(name)
      return key === undefined ? (value === 'none' ? 'context:none' : value) : `${key}:${value}`
    })
  )
  return words.map((word) => (/\s/.test(word) ? `"${word}"` : word)).join(' ')
}

export function readLine(line: string): ListQuery {
  const query: Record<string, string[]> = {}
  for (const token of line.match(/"[^"]*"|\S+/g) ?? []) {
    const word = token.replace(/^"([^"]*)"$/, '$1')
    const [key = '', value] = word.split(/:(.*)/s)
    const known = KEYS[key]
    if (value === undefined) add('q', word)
    else if (known !== undefined) add(known, value)
    else add('contextKeys', key === 'context' ? value : word)
  }
  return query

  function add(name: string, value: string): void {
    query[name] = [...(query[name] ?? []), value]
  }
}

export interface Loaded {
  messages: Message[]
  /** How many there are; undefined where the service does not tell. */
  total: number | undefined
  hasMore: boolean
  /** Why there are none or not those that were asked for. */
  reason: string | undefined
  /** The answer that is not a list. */
  refusal: Answer | undefined
}

/** How many messages the first request asks for, and each one when there are more to show. */
const FIRST = 100
const MORE = 1000

/** Loads the messages of a query: those of the first request, or with `rounds` of more. */
export async function loadMessages(
  call: Session['call'],
  { q = [], ...query }: ListQuery,
  rounds: number,
  options: Parameters<Session['call']>[2]
): Promise<Loaded> {
  const ask = async (words: ListQuery) => {
    const all: Loaded = { messages: [], total: undefined, hasMore: true, reason: undefined, refusal: undefined }
    for (let page = 0; page < Math.max(1, rounds - 1) && all.hasMore; page++) {
      const answer = await call('GET', pathOf({ ...query, ...words }, page, rounds === 1 ? FIRST : MORE), options)
      const list = answer.json as { data?: Message[]; totalCount?: number; hasMore?: boolean } | undefined
      all.reason = reasonOf(answer)
      if (answer.status !== 200 || !Array.isArray(list?.data)) return { ...all, hasMore: false, refusal: answer }
      all.messages.push(...list.data)
      all.total = list.totalCount
      all.hasMore = list.hasMore === true
    }
    return all
  }
  if (q.length === 0) return await ask({})
  const ofSubscriber = q.length === 1 ? await ask({ subscriberId: q }) : undefined
  if (ofSubscriber && (ofSubscriber.refusal || ofSubscriber.messages.length > 0)) return ofSubscriber
  return await ask({ transactionId: [...(query.transactionId ?? []), ...q] })
}

function pathOf({ limit = [], ...query }: ListQuery, page: number, size: number): string {
  const params = new URLSearchParams()
  for (const [name, values] of Object.entries(query)) {
    for (const value of values) params.append(name, name === 'contextKeys' && value === 'none' ? '' : value)
  }
  if (page > 0) params.set('page', String(page))
  params.set('limit', limit[0] ?? String(size))
  return `/v1/messages?${params}`
}

/** Returns the name of who got a message. */
export function recipientOf({ subscriber, _subscriberId }: Message): string {
  const name = [subscriber?.firstName, subscriber?.lastName].filter(Boolean).join(' ')
  return name || subscriber?.subscriberId || _subscriberId || 'nobody'
}

/** Returns the content as text. Blocks of the email editor come one below the other. */
export function textOf(content: Message['content']): string {
  if (content === undefined || typeof content === 'string') return content ?? ''
  return content.map((block) => block.content).join('\n')
}

/** Returns what a list shows of a message: a title, and what comes after it. */
export function summaryOf({ subject, title, content }: Message): { title: string; rest: string } {
  // It is shown as text: without tags, as nobody reads these.
  const text = textOf(content)
    .slice(0, 2000)
    .replace(/<style[\s\S]*?<\/style>|<[^>]*>/g, ' ')
  const rest = text.replace(/\s+/g, ' ').trim().slice(0, 160)
  const known = subject?.trim() || title?.trim()
  return known ? { title: known, rest } : { title: rest || '(empty)', rest: '' }
}
