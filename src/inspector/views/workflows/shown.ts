import type { WorkflowStep } from '../../../client/index.js'
import { CHANNELS } from '../../parts/channels.js'
import type { Shown } from '../messages/preview.js'

interface Node {
  type?: string
  text?: string
  attrs?: { id?: string; fallback?: string; level?: number }
  content?: Node[]
}

/** Returns a step as a message of it, with the variables as the template has them; undefined if it sends none. */
export function shownOf({ type, controlValues = {} }: WorkflowStep): Shown | undefined {
  const channel = CHANNELS.find((each) => each === type)
  const { subject, body, primaryAction, secondaryAction, redirect } = controlValues as Record<string, never>
  if (!channel || (body === undefined && subject === undefined)) return undefined
  const buttons = [primaryAction, secondaryAction].flatMap((action: { label?: string } | undefined, index) =>
    action?.label ? [{ type: index === 0 ? ('primary' as const) : ('secondary' as const), content: action.label }] : []
  )
  const { url } = (redirect ?? {}) as { url?: string }
  return {
    channel,
    content: textOf(body, channel === 'email'),
    ...(subject !== undefined && { subject: String(subject) }),
    cta: { data: url ? { url } : {}, action: { buttons } } as Shown['cta'] & object
  }
}

/** The body of a block editor is JSON; that of an email becomes HTML, which stands in a frame without scripts. */
function textOf(body: unknown, isHtml: boolean): string {
  const text = typeof body === 'string' ? body : JSON.stringify(body ?? '')
  if (!text.startsWith('{"')) return text
  try {
    const document = JSON.parse(text) as Node
    return document.type === 'doc' ? blocksOf(document, isHtml).trim() : text
  } catch {
    return text
  }
}

function blocksOf({ type = '', text, attrs = {}, content }: Node, isHtml: boolean): string {
  const escaped = (value: unknown) =>
    isHtml ? String(value).replace(/&/g, '&amp;').replace(/</g, '&lt;') : String(value)
  if (type === 'text') return escaped(text)
  if (type === 'variable') return escaped(`{{${attrs.id}${attrs.fallback ? ` | default: '${attrs.fallback}'` : ''}}}`)
  const inner = (Array.isArray(content) ? content : []).map((each) => blocksOf(each, isHtml)).join('')
  if (type === 'doc') return inner
  const tag = type === 'heading' ? 'h2' : 'p'
  return isHtml ? `<${tag}>${inner}</${tag}>` : `${inner}\n`
}
