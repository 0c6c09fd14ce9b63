import type { Message } from './search-messages.js'

/** Enough text for a row: longer contents are cut before their tags are removed. */
const MAX_CONTENT_LENGTH = 2000
const MAX_SUMMARY_LENGTH = 160

/** Returns the name or the id of the recipient. */
export function recipientOf({ subscriber, _subscriberId }: Message): string {
  const name = [subscriber?.firstName, subscriber?.lastName].filter(Boolean).join(' ')
  return name || subscriber?.subscriberId || _subscriberId || 'unknown recipient'
}

/** Returns the content as text. The blocks of the email editor become lines. */
export function textOf(content: Message['content'] = ''): string {
  return typeof content === 'string' ? content : content.map((block) => block.content).join('\n')
}

/** Returns the title of a message for a list, and the beginning of its content without tags. */
export function summaryOf({ subject, title, content }: Message): { title: string; rest: string } {
  const text = textOf(content)
    .slice(0, MAX_CONTENT_LENGTH)
    .replace(/<style[\s\S]*?<\/style>|<[^>]*>/g, ' ')
  const rest = text.replace(/\s+/g, ' ').trim().slice(0, MAX_SUMMARY_LENGTH)
  const heading = subject?.trim() || title?.trim()
  return heading ? { title: heading, rest } : { title: rest || '(empty)', rest: '' }
}
