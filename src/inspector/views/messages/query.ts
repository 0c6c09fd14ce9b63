import type { MessageResponse } from '../../../client/index.js'
import { type Answer, reasonOf } from '../../shell/session.js'

export type Message = MessageResponse

/** Parameters of the service; the words before a colon may leave out the `Id`. */
const PARAMETERS = ['channel', 'subscriberId', 'transactionId', 'contextKeys']

/** Reads a search as one types it. What has another word before a colon is a context key; `q` has what has none. */
function readLine(line: string): [name: string, value: string][] {
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word = quoted ?? '']) => {
    const [key = '', value] = word.split(/:(.*)/s)
    if (value === undefined) return ['q', word]
    const name = PARAMETERS.find((each) => each === key || each === `${key}Id`)
    return name ? [name, value] : ['contextKeys', word === 'context:none' ? '' : word]
  })
}

/** What the service answers with, its pages as one. */
interface Loaded {
  data: Message[]
  /** How many there are; undefined where the service does not tell. */
  totalCount?: number
  hasMore: boolean
  /** Why there are none. */
  reason: string | undefined
}

/** As many as one request may ask for. */
const PAGE = '1000'

/** Loads the first pages of what a search finds: a word is a transaction, or else a subscriber. Throws what is refused. */
export async function loadMessages(ask: (path: string) => Promise<Answer>, line: string, pages: number) {
  const query = readLine(line)
  const load = async (nameOfWords: string): Promise<Loaded> => {
    const data: Message[] = []
    for (let page = 0; ; page += 1) {
      const params = new URLSearchParams({ page: String(page), limit: PAGE })
      for (const [name, value] of query) params.append(name === 'q' ? nameOfWords : name, value)
      const answer = await ask(`/v1/messages?${params}`)
      const list = answer.json as Loaded
      data.push(...list.data)
      if (!list.hasMore || page + 1 >= pages) return { ...list, data, reason: reasonOf(answer) }
    }
  }
  const loaded = await load('transactionId')
  const words = query.filter(([name]) => name === 'q' || name === 'subscriberId')
  return loaded.data.length > 0 || words.length !== 1 ? loaded : load('subscriberId')
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
