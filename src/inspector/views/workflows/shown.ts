import type { WorkflowStep } from '../../../client/index.js'
import { CHANNELS } from '../../parts/channels.js'
import { parsed } from '../../parts/json-tree.js'
import type { Shown } from '../messages/preview.js'

/** Returns a step as a message of it, with the variables as the template has them; undefined if it sends none. */
export function shownOf({ type, controlValues = {} }: WorkflowStep): Shown | undefined {
  const channel = CHANNELS.find((each) => each === type)
  const { subject = '', body = '', primaryAction, secondaryAction, redirect } = controlValues as Record<string, unknown>
  if (!channel || (body === '' && subject === '')) return undefined
  const actions = Object.entries({ primary: primaryAction, secondary: secondaryAction })
  const buttons = actions.map(([type, action]) => ({ type: type as 'primary', content: Object(action).label }))
  const document = typeof body === 'string' ? parsed(body) : body
  // The body of a block editor is JSON.
  const content = Object(document).type === 'doc' ? textIn(document as Node) : String(body)
  const action = { buttons: buttons.filter(({ content }) => content) }
  return { channel, content, subject: String(subject), cta: { data: { url: Object(redirect).url }, action } }
}

/** What a block editor has written. */
type Node = { type?: string; text?: string; attrs?: { id?: string; fallback?: string }; content?: Node[] }

/** Returns its text, a line a block. */
function textIn({ type, text = '', attrs: { id, fallback } = {}, content = [] }: Node): string {
  if (type === 'variable') return `{{${id}${fallback ? ` | default: '${fallback}'` : ''}}}`
  const inner = text + [content].flat().map(textIn).join('')
  return type === 'doc' || type === 'text' ? inner : `${inner}\n`
}

/** Returns what a JSON Schema describes in its own shape, with types for values, such as `{ email: 'string' }`. */
export function sketchOf(schema: unknown): unknown {
  const { type = 'any', properties, items, enum: values = type, format } = Object(schema)
  const fields = Object.entries(Object(properties))
  if (fields.length > 0) return Object.fromEntries(fields.map(([name, own]) => [name, sketchOf(own)]))
  if (items) return [sketchOf(items)]
  return [[values].flat().join(' | '), format].filter(Boolean).join(', ')
}
