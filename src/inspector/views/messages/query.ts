import type { MessageResponse } from '../../../client/index.js'
import { type Answer, reasonOf } from '../../shell/session.js'
import { SEARCHED } from '../records.js'

export type Message = MessageResponse

/** Reads a search: `channel:`, `subscriber:` and `transaction:`, another word before a colon is of a context key, else `q`. */
function readLine(line: string): [name: string, value: string][] {
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word = quoted ?? '']) => {
    const [key = '', value] = word.split(/:(.*)/s)
    if (value === undefined) return ['q', word]
    const name = SEARCHED.find((each) => each === key || each === `${key}Id`)
    return name ? [name, value] : ['contextKeys', word === 'context:none' ? '' : word]
  })
}

/** Loads the first pages of what a search finds: a word is a transaction, or else a subscriber. Throws what is refused. */
export async function loadMessages(
  ask: (path: string) => Promise<Answer>,
  line: string,
  pages: number
) {
  const query = readLine(line)
  const load = async (nameOfWords: string) => {
    const data: Message[] = []
    for (let page = 0; ; page += 1) {
      // As many as one request may ask for.
      const params = new URLSearchParams({ page: String(page), limit: '1000' })
      for (const [name, value] of query) params.append(name === 'q' ? nameOfWords : name, value)
      const answer = await ask(`/v1/messages?${params}`)
      // A profile may leave out how many there are.
      const list = answer.json as { data: Message[]; totalCount?: number; hasMore: boolean }
      data.push(...list.data)
      if (!list.hasMore || page + 1 >= pages) return { ...list, data, reason: reasonOf(answer) }
    }
  }
  const found = await load('transactionId')
  const words = query.filter(([name]) => name === 'q' || name === 'subscriberId')
  return found.data.length > 0 || words.length !== 1 ? found : load('subscriberId')
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
