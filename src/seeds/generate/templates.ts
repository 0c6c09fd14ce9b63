import { filters, Output, type Template, TypeGuards } from 'liquidjs'
import type { EmailBlock, MessageResponse } from '../../messages/schemas.js'
import { liquid } from '../resolve/payload-variables.js'

/** Renders a text with what it may speak of: `payload`, `subscriber`, `steps`. */
export type Render = (scope: object) => string

// Filters whose result would depend on the moment, the machine's time zone or chance leave their value as it is.
const MOMENT = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/
const formattedDates = new Map<string, unknown>()
for (const name of ['date', 'date_to_xmlschema', 'date_to_rfc822', 'date_to_string', 'date_to_long_string'] as const) {
  liquid.registerFilter(name, function (value: unknown, ...args: string[]) {
    if (!MOMENT.test(String(value))) return value
    // Formatting a date takes liquidjs a tenth of a millisecond, and most dates come again.
    const key = [name, value, ...args].join('\n')
    if (formattedDates.size > 10_000) formattedDates.clear()
    if (!formattedDates.has(key))
      formattedDates.set(key, (filters[name] as (...args: unknown[]) => unknown).call(this, value, ...args))
    return formattedDates.get(key)
  })
}
liquid.registerFilter('sample', (value: unknown) => value)

/** Compiles Liquid. A text that is not well-formed, or fails to render, stays as it stands. */
export function compile(source: string): Render {
  if (!/\{[{%]/.test(source)) return () => source
  try {
    const templates = liquid.parse(source)
    const isFlat = templates.every(({ token }) => TypeGuards.isHTMLToken(token) || TypeGuards.isOutputToken(token))
    const parts = isFlat ? templates.map(compilePart) : [(scope: object) => liquid.renderSync(templates, scope)]
    return (scope) => {
      try {
        return parts.map((part) => part(scope)).join('')
      } catch {
        return source
      }
    }
  } catch {
    return () => source
  }
}

/** An output takes liquidjs microseconds; most are just the text or number at a path. */
function compilePart(template: Template): Render {
  if (TypeGuards.isHTMLToken(template.token)) {
    const text: string = liquid.renderSync([template])
    return () => text
  }
  const path = plainPath(template)
  return (scope) => {
    const value = path?.reduce(memberOf, scope)
    return typeof value === 'string' || typeof value === 'number' ? String(value) : liquid.renderSync([template], scope)
  }
}

/** The names in an output such as `{{payload.user.name}}`; undefined of one with filters or indexes. */
function plainPath(template: Template): string[] | undefined {
  if (!(template instanceof Output)) return undefined
  const { initial, filters: applied } = template.value
  const [token, ...others] = initial.postfix
  // The one filter is the engine's own `outputEscape`.
  if (others.length > 0 || applied.length > 1 || !TypeGuards.isPropertyAccessToken(token)) return undefined
  const names = token.props.map((prop) => ('content' in prop ? prop.content : undefined))
  return token.variable === undefined && names.every((name) => typeof name === 'string') ? names : undefined
}

function memberOf(value: unknown, name: string): unknown {
  const isOwn = typeof value === 'object' && value !== null && !Array.isArray(value) && Object.hasOwn(value, name)
  return isOwn ? (value as Record<string, unknown>)[name] : undefined
}

type Content = NonNullable<MessageResponse['content']>

/** Compiles the content of an email: HTML in the sender's frame, or the blocks of a document of the block editor. */
export function compileEmail(body: string, subject: string, sender: string): (scope: object) => Content {
  const blocks = parseBlocks(body)?.map(compileBlock)
  if (blocks) return (scope) => blocks.map((block) => block(scope))
  if (/<html/i.test(body)) return compile(body)
  const content = compile(/<\w/.test(body) ? body : `<p>${body.replaceAll('\n', '<br>')}</p>`)
  const title = compile(subject)
  const name = escapeHtml(sender)
  return (scope) => emailPage(title(scope), name, content(scope))
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

function emailPage(title: string, sender: string, content: string): string {
  return `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">\
<meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title></head>\
<body style="margin:0;background:#f4f4f2;color:#222;font-family:Helvetica,Arial,sans-serif">\
<table role="presentation" width="100%" cellpadding="0" cellspacing="0"><tr><td align="center">\
<table role="presentation" width="600" style="background:#fff">\
<tr><td style="padding:24px 32px;font-size:18px;border-bottom:1px solid #e5e5e0">${sender}</td></tr>\
<tr><td style="padding:32px;line-height:1.5">${content}</td></tr>\
<tr><td style="padding:16px 32px;font-size:12px;color:#777">${sender} &middot; \
<a href="https://example.com/preferences">Preferences</a> &middot; \
<a href="https://example.com/unsubscribe">Unsubscribe</a></td></tr></table></td></tr></table></body></html>`
}

/** A node of a document of the block editor. */
interface Node {
  type?: string
  text?: string
  attrs?: Record<string, unknown>
  marks?: { type?: string; attrs?: Record<string, unknown> }[]
  content?: Node[]
}

function parseBlocks(body: string): Node[] | undefined {
  try {
    const document = body.trimStart().startsWith('{') ? (JSON.parse(body) as Node) : undefined
    return document?.type === 'doc' && Array.isArray(document.content) ? document.content : undefined
  } catch {
    return undefined
  }
}

function compileBlock(block: Node): (scope: object) => EmailBlock {
  const { textAlign, text = 'Open', url = 'https://example.com/' } = block.attrs ?? {}
  const styles = { textAlign: textAlign === 'center' || textAlign === 'right' ? textAlign : 'left' } as const
  if (block.type !== 'button') {
    const content = compile(toHtml(block))
    return (scope) => ({ type: 'text', content: content(scope), styles })
  }
  const [label, address] = [compile(String(text)), compile(String(url))]
  return (scope) => ({ type: 'button', content: label(scope), url: address(scope), styles })
}

const ELEMENTS: Record<string, string> = {
  paragraph: 'p',
  bulletList: 'ul',
  orderedList: 'ol',
  listItem: 'li',
  blockquote: 'blockquote',
  bold: 'strong',
  italic: 'em',
  underline: 'u',
  strike: 's',
  code: 'code'
}

function toHtml({ type = '', text = '', attrs = {}, marks = [], content = [] }: Node): string {
  const marked = (inner: string) =>
    marks.reduce((html, mark) => {
      return mark.type === 'link'
        ? `<a href="${mark.attrs?.href}">${html}</a>`
        : enclose(ELEMENTS[mark.type ?? ''], html)
    }, inner)
  const fallback = typeof attrs.fallback === 'string' ? ` | default: ${JSON.stringify(attrs.fallback)}` : ''
  if (type === 'text') return marked(escapeHtml(text))
  if (type === 'variable') return marked(`{{${attrs.id}${fallback}}}`)
  if (type === 'button') return `<a href="${attrs.url}">${attrs.text}</a>`
  if (type === 'hardBreak') return '<br>'
  if (type === 'horizontalRule') return '<hr>'
  return enclose(type === 'heading' ? `h${attrs.level ?? 1}` : ELEMENTS[type], content.map(toHtml).join(''))
}

const enclose = (element: string | undefined, html: string) => (element ? `<${element}>${html}</${element}>` : html)
