import type { Message } from './query.js'

/** Returns what a list shows of a message in one line. */
export function titleOf({ subject, title, content }: Message): string {
  return subject?.trim() || title?.trim() || plain(textOf(content)) || '(empty)'
}

/** Returns the content as text. Blocks of the email editor come one below the other. */
export function textOf(content: Message['content']): string {
  if (content === undefined || typeof content === 'string') return content ?? ''
  return content.map((block) => block.content).join('\n')
}

/** For a line of a list: without tags, as nobody reads these. It is shown as text, so nothing depends on this. */
function plain(text: string): string {
  return text
    .slice(0, 400)
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, 160)
}

/** Returns the name of who got a message, with the address if the message has one. */
export function recipientOf({ subscriber, email, phone, _subscriberId }: Message): string {
  const name = [subscriber?.firstName, subscriber?.lastName].filter(Boolean).join(' ')
  const address = email ?? phone
  const known = name || subscriber?.subscriberId || _subscriberId
  return address ? `${known} <${address}>` : known
}
