import type { Message } from './search-messages.js'

/**
 * Content is cut to this length before its tags are removed. The remaining text is normally enough
 * for a row.
 */
const MAX_CONTENT_LENGTH = 2000
const MAX_SUMMARY_LENGTH = 160

/** Returns the recipient's name, or the recipient's id if there is no name. */
export function recipientOf({ subscriber, _subscriberId }: Message): string {
  const name = [subscriber?.firstName, subscriber?.lastName].filter(Boolean).join(' ')
  return name || subscriber?.subscriberId || _subscriberId || 'unknown recipient'
}

/** Returns the content as text. Each block from the email editor becomes a line. */
export function textOf(content: Message['content'] = ''): string {
  return typeof content === 'string' ? content : content.map((block) => block.content).join('\n')
}

/** Returns a message's title and the start of its content without tags, to show in a row. */
export function summaryOf({ subject, title, content }: Message): { title: string; rest: string } {
  const text = textOf(content)
    .slice(0, MAX_CONTENT_LENGTH)
    .replace(/<style[\s\S]*?<\/style>|<[^>]*>/g, ' ')
  const rest = text.replace(/\s+/g, ' ').trim().slice(0, MAX_SUMMARY_LENGTH)
  const heading = subject?.trim() || title?.trim()
  return heading ? { title: heading, rest } : { title: rest || '(empty)', rest: '' }
}
