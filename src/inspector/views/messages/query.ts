import type { MessageResponse } from '../../../client/index.js'
import { type Answer, reasonOf } from '../../shell/session.js'

export type Message = MessageResponse

/** Parameters of the service; the words before a colon may leave out the `Id`. */
const PARAMETERS = ['channel', 'subscriberId', 'transactionId', 'contextKeys']

/** Reads a search as one types it. What has another word before a colon is a context key; `q` has what has none. */
function readLine(line: string): Record<string, string[]> {
  const query: Record<string, string[]> = {}
  for (const [, quoted, word = quoted ?? ''] of line.matchAll(/"([^"]*)"|(\S+)/g)) {
    const [key = '', value] = word.split(/:(.*)/s)
    const name = PARAMETERS.find((each) => each === key || each === `${key}Id`)
    const [known, own] =
      value === undefined ? ['q', word] : name ? [name, value] : ['contextKeys', word === 'context:none' ? '' : word]
    query[known] = [...(query[known] ?? []), own]
  }
  return query
}

/** What the service answers with, its pages as one. */
export interface Loaded {
  data: Message[]
  /** How many there are; undefined where the service does not tell. */
  totalCount?: number
  hasMore: boolean
  /** Why there are none. */
  reason: string | undefined
}

/** As many as one request may ask for. */
const PAGE = 1000

/** Loads the first pages of what a search finds. Throws what the service refuses. */
export async function loadMessages(ask: (path: string) => Promise<Answer>, line: string, pages: number) {
  const { q = [], ...query } = readLine(line)
  const load = async (wanted: typeof query): Promise<Loaded> => {
    const data: Message[] = []
    for (let page = 0; ; page += 1) {
      const params = new URLSearchParams({ page: String(page), limit: String(PAGE) })
      for (const [name, values] of Object.entries({ ...query, ...wanted })) {
        for (const value of values) params.append(name, value)
      }
      const answer = await ask(`/v1/messages?${params}`)
      const list = answer.json as Loaded
      data.push(...list.data)
      if (!list.hasMore || page + 1 >= pages) return { ...list, data, reason: reasonOf(answer) }
    }
  }
  const ofSubscriber = q.length === 1 ? await load({ subscriberId: q }) : undefined
  if (ofSubscriber && ofSubscriber.data.length > 0) return ofSubscriber
  return await load({ transactionId: [...(query.transactionId ?? []), ...q] })
}

/** Returns the name of who got a message. */
export function recipientOf({ subscriber, _subscriberId }: Message): string {
  const name = [subscriber?.firstName, subscriber?.lastName].filter(Boolean).join(' ')
  return name || subscriber?.subscriberId || _subscriberId || 'nobody'
}

/** Returns the content as text. Blocks of the email editor come one below the other. */
export function textOf(content: Message['content'] = ''): string {
  return typeof content === 'string' ? content : content.map((block) => block.content).join('\n')
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
