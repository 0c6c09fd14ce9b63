import { filters, Liquid, type Template } from 'liquidjs'
import { parseTime } from '../../domain/clock.js'
import { attempt } from '../../domain/errors.js'
import type { EmailBlock, MessageResponse } from '../../messages/schemas.js'
import { isObject, isTooDeep } from '../../schema/validation.js'
import { createIssue, SeedError } from '../errors.js'

/** What all texts of a message are rendered with. */
export interface Scope {
  /** What they may show: `payload`, `subscriber`, `steps`. */
  globals: object
  /** How many milliseconds rendering may still take in all; the same object for all messages. */
  time: { left: number }
}

/** Renders a text of the message that the scope is of. */
export type Render<Result = string> = (scope: Scope) => Result

/**
 * Reads templates and renders them the same on every machine: without files, in UTC and English; an object as JSON, as the
 * deployed service does.
 */
const liquid = new Liquid({
  templates: {},
  timezoneOffset: 0,
  locale: 'en-US',
  // Characters of a template, and what its filters and ranges make. The time is limited by `compile`.
  parseLimit: 100_000,
  memoryLimit: 1 << 18,
  outputEscape: (value: unknown) => (isObject(value) ? JSON.stringify(value) : value) as string
})

const formatDate = filters.date as (this: unknown, ...args: unknown[]) => unknown
const formatted = new Map<string, unknown>()

liquid.registerFilter('date', function (value: unknown, ...args: unknown[]) {
  // A time without a zone, or of another form, is another one on each machine.
  if (typeof value !== 'string' || parseTime(value) === undefined) return value
  // Formatting a date takes liquidjs a tenth of a millisecond, and most dates come again.
  const key = [value, ...args].join('\n')
  if (formatted.size > 10_000) formatted.clear()
  if (!formatted.has(key)) formatted.set(key, formatDate.call(this, value, ...args))
  return formatted.get(key)
})
// It picks items at random, which would not be the same again.
liquid.registerFilter('sample', (value: unknown) => value)

/** More characters than any message has. */
const MAX_LENGTH = 1 << 18

/**
 * Compiles Liquid. A text that is not well-formed, fails to render or gets too long, stays as it stands. Rendering throws
 * SeedError when the time is used up: that way only whether there are messages depends on the machine, never what is in them.
 */
export function compile(source: string): Render {
  if (!/\{[{%]/.test(source)) return () => source
  let templates: Template[] | undefined
  return ({ globals, time }) => {
    const started = performance.now()
    const text = attempt(() => {
      templates ??= liquid.parse(source)
      return liquid.renderSync(templates, {}, { globals, renderLimit: time.left }) as string
    })
    time.left -= performance.now() - started
    if (time.left < 0) {
      const message = 'takes too long, as the templates do too much: shorten their loops'
      throw new SeedError([createIssue({ file: 'templates', path: 'generate', message })])
    }
    return text !== undefined && text.length <= MAX_LENGTH ? text : source
  }
}

type Content = NonNullable<MessageResponse['content']>

/** Compiles the content of an email: HTML, or the blocks of a document of the block editor. */
export function compileEmail(body: string): Render<Content> {
  const blocks = attempt(() => compileBlocks(body))
  if (blocks) return (scope) => blocks.map((block) => block(scope))
  return compile(/<\w/.test(body) ? body : `<p>${body.replaceAll('\n', '<br>')}</p>`)
}

/** A node of a document of the block editor. */
interface Node {
  type?: string
  text?: string
  attrs?: Record<string, unknown>
  content?: Node[]
}

const styles = { textAlign: 'left' } as const

/** Returns undefined for what is no such document, or too deep to be one. */
function compileBlocks(body: string): Render<EmailBlock>[] | undefined {
  const document: Node | undefined = body.trimStart().startsWith('{') ? JSON.parse(body) : undefined
  return document?.type === 'doc' && !isTooDeep(document)
    ? document.content?.map(compileBlock)
    : undefined
}

function compileBlock(block: Node): Render<EmailBlock> {
  const content = compile(textOf(block))
  if (block.type !== 'button') return (scope) => ({ type: 'text', content: content(scope), styles })
  const url = compile(String(block.attrs?.url ?? 'https://example.com/'))
  return (scope) => ({ type: 'button', content: content(scope), url: url(scope), styles })
}

function textOf({ type, text = '', attrs = {}, content = [] }: Node): string {
  if (type === 'variable') return `{{${attrs.id}}}`
  if (type === 'button') return String(attrs.text ?? 'Open')
  return text + content.map(textOf).join('')
}
