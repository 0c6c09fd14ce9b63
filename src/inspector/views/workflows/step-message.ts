import type { WorkflowStep } from '../../../client/index.js'
import { CHANNELS } from '../../../domain/enums.js'
import { parseJsonOrText } from '../../parts/json.js'
import type { PreviewedMessage } from '../messages/preview.js'

/**
 * Returns the message that a step sends, with its template variables left as they are. Returns
 * undefined if the step sends no message or has no content yet.
 */
export function messageOfStep({
  type,
  controlValues = {}
}: WorkflowStep): PreviewedMessage | undefined {
  const channel = CHANNELS.find((candidate) => candidate === type)
  const controls = controlValues as Record<string, unknown>
  const { subject = '', body = '', primaryAction, secondaryAction, redirect } = controls
  if (!channel || (body === '' && subject === '')) return undefined
  const buttons = [
    { type: 'primary' as const, content: Object(primaryAction).label },
    { type: 'secondary' as const, content: Object(secondaryAction).label }
  ].filter(({ content }) => content)
  const cta = { data: { url: Object(redirect).url }, action: { buttons } }
  return { channel, content: contentOf(body), subject: String(subject), cta }
}

/** Returns a step body as text. The body is a string or a document from the block editor. */
function contentOf(body: unknown): string {
  const document = typeof body === 'string' ? parseJsonOrText(body) : body
  return Object(document).type === 'doc' ? textOfBlock(document) : String(body)
}

/**
 * Returns the text of an editor block and its inner blocks, one line per block. Doesn't rely
 * on the types of the fields, because seeds may contain malformed blocks.
 */
function textOfBlock(block: unknown): string {
  const { type, text = '', attrs, content } = Object(block)
  if (type === 'variable') {
    const { id, fallback } = Object(attrs)
    const filter = fallback ? ` | default: '${fallback}'` : ''
    return `{{${id}${filter}}}`
  }
  const innerBlocks = [content ?? []].flat()
  const innerText = text + innerBlocks.map(textOfBlock).join('')
  return type === 'doc' || type === 'text' ? innerText : `${innerText}\n`
}
