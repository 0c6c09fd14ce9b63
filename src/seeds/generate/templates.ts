import { filters } from 'liquidjs'
import type { EmailBlock, MessageResponse } from '../../messages/schemas.js'
import { liquid } from '../resolve/payload-variables.js'

/** Renders a text with what it may show: `payload`, `subscriber`, `steps`. */
export type Render = (scope: object) => string

/** A time that is the same on every machine; other dates are left as they are written. */
const MOMENT = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/
const formatDate = filters.date as (this: unknown, ...args: unknown[]) => unknown
const formattedDates = new Map<string, unknown>()

liquid.registerFilter('date', function (value: unknown, ...args: string[]) {
  if (!MOMENT.test(String(value))) return value
  // Formatting a date takes liquidjs a tenth of a millisecond, and most dates come again.
  const key = [value, ...args].join('\n')
  if (formattedDates.size > 10_000) formattedDates.clear()
  if (!formattedDates.has(key)) formattedDates.set(key, formatDate.call(this, value, ...args))
  return formattedDates.get(key)
})
// It picks items at random, which would not be the same again.
liquid.registerFilter('sample', (value: unknown) => value)

/** Compiles Liquid. A text that is not well-formed, or fails to render, stays as it stands. */
export function compile(source: string): Render {
  try {
    const templates = liquid.parse(source)
    return plainRender(source, (scope) => {
      try {
        return liquid.renderSync(templates, scope)
      } catch {
        return source
      }
    })
  } catch {
    return () => source
  }
}

/**
 * An output takes liquidjs several microseconds, and most are just the text or number at a path. A text with nothing
 * else is put together here; one with anything else, or with other values, is rendered by `otherwise`.
 */
function plainRender(source: string, otherwise: Render): Render {
  const parts = source.split(/\{\{\s*([A-Za-z][\w.]*)\s*\}\}/)
  const paths = parts.map((part, index) => (index % 2 === 1 ? part.split('.') : undefined))
  if (parts.some((part, index) => index % 2 === 0 && /\{[{%]/.test(part))) return otherwise
  return (scope) => {
    let text = ''
    for (const [index, part] of parts.entries()) {
      const value = paths[index] ? paths[index].reduce(memberOf, scope) : part
      if (typeof value !== 'string' && typeof value !== 'number') return otherwise(scope)
      text += value
    }
    return text
  }
}

function memberOf(value: unknown, name: string): unknown {
  const isOwn = typeof value === 'object' && value !== null && Object.hasOwn(value, name)
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
  const head = `<head><meta charset="utf-8"><title>${title}</title></head>`
  const footer = `${sender} &middot; <a href="https://example.com/unsubscribe">Unsubscribe</a>`
  const body = `<header>${sender}</header><main>${content}</main><footer>${footer}</footer>`
  return `<!DOCTYPE html><html lang="en">${head}<body style="font-family:Helvetica,sans-serif">${body}</body></html>`
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

const BLOCKS: Record<string, string> = {
  paragraph: 'p',
  bulletList: 'ul',
  orderedList: 'ol',
  listItem: 'li',
  blockquote: 'blockquote'
}
const MARKS: Record<string, string> = { bold: 'strong', italic: 'em', underline: 'u', strike: 's', code: 'code' }

function toHtml({ type = '', text = '', attrs = {}, marks = [], content = [] }: Node): string {
  const marked = (inner: string) =>
    marks.reduce((html, mark) => {
      return mark.type === 'link' ? `<a href="${mark.attrs?.href}">${html}</a>` : enclose(MARKS[mark.type ?? ''], html)
    }, inner)
  const fallback = typeof attrs.fallback === 'string' ? ` | default: ${JSON.stringify(attrs.fallback)}` : ''
  if (type === 'text') return marked(escapeHtml(text))
  if (type === 'variable') return marked(`{{${attrs.id}${fallback}}}`)
  if (type === 'button') return `<a href="${attrs.url}">${attrs.text}</a>`
  if (type === 'hardBreak' || type === 'horizontalRule') return type === 'hardBreak' ? '<br>' : '<hr>'
  return enclose(type === 'heading' ? `h${attrs.level ?? 1}` : (BLOCKS[type] ?? ''), content.map(toHtml).join(''))
}

const enclose = (element: string | undefined, html: string) => (element ? `<${element}>${html}</${element}>` : html)
