import { AssertionError, filters, Liquid, LiquidError, type Template } from 'liquidjs'
import { parseTime } from '../../domain/clock.js'
import { parseJsonObjectOrArray } from '../../domain/json.js'
import type { EmailBlock, MessageResponse } from '../../messages/schemas.js'
import { isObject, isTooDeep } from '../../schema/validation.js'
import { createIssue, SeedError } from '../errors.js'

/** The input for rendering the templates of a message. */
export interface Scope {
  /** The variables that templates can use: `payload`, `subscriber` and `steps`. */
  globals: object
  /**
   * The milliseconds left for rendering. All messages share this object, so the limit applies to
   * all of them together.
   */
  time: { left: number }
}

/** Renders one template of a message. */
export type Render<Result = string> = (scope: Scope) => Result

const MAX_TEMPLATE_LENGTH = 100_000
const MAX_RENDERED_LENGTH = 1 << 18
const MAX_CACHED_DATES = 10_000

/**
 * Renders the same text on every machine, because it reads no files and uses UTC and English. Like
 * Novu, it renders objects as JSON. `memoryLimit` limits the output of filters and ranges.
 */
const liquid = new Liquid({
  templates: {},
  timezoneOffset: 0,
  locale: 'en-US',
  parseLimit: MAX_TEMPLATE_LENGTH,
  memoryLimit: MAX_RENDERED_LENGTH,
  outputEscape: (value: unknown) => (isObject(value) ? JSON.stringify(value) : value) as string
})

const formatDate = filters.date as (this: unknown, ...args: unknown[]) => unknown

/** Caches formatted dates, because Liquid takes 0.1 ms to format a date and most dates repeat. */
const formattedDates = new Map<string, unknown>()

liquid.registerFilter('date', function (value: unknown, ...args: unknown[]) {
  // Don't format a time without a zone, because the result would depend on the machine's zone.
  if (typeof value !== 'string' || parseTime(value) === undefined) return value
  const key = [value, ...args].join('\n')
  if (formattedDates.size > MAX_CACHED_DATES) formattedDates.clear()
  if (!formattedDates.has(key)) formattedDates.set(key, formatDate.call(this, value, ...args))
  return formattedDates.get(key)
})
// Liquid's own filter picks random items. Replace it, so that every run has the same result.
liquid.registerFilter('sample', (value: unknown) => value)

/**
 * Compiles a Liquid template. Rendering returns the source unchanged if the template is invalid,
 * can't be rendered, or produces a text that is too long. Rendering throws `SeedError` if it
 * exceeds the time limit, because a message must not depend on the machine's speed.
 */
export function compile(source: string): Render {
  if (!/\{[{%]/.test(source)) return () => source
  let templates: Template[] | undefined
  const render = ({ globals, time }: Scope) => {
    try {
      templates ??= liquid.parse(source)
      return liquid.renderSync(templates, {}, { globals, renderLimit: time.left }) as string
    } catch (error) {
      if (isTemplateError(error)) return source
      throw error
    }
  }
  return (scope) => {
    const startedAt = performance.now()
    const text = render(scope)
    scope.time.left -= performance.now() - startedAt
    if (scope.time.left < 0) throw tooSlow()
    return text.length <= MAX_RENDERED_LENGTH ? text : source
  }
}

/**
 * Returns whether the template caused the error. Very deeply nested templates cause `RangeError`.
 */
function isTemplateError(error: unknown): boolean {
  return (
    error instanceof LiquidError || error instanceof AssertionError || error instanceof RangeError
  )
}

function tooSlow(): SeedError {
  const message = 'takes too long to render the message templates: shorten the loops in them'
  return new SeedError([createIssue({ file: 'templates', path: 'generate', message })])
}

type Content = NonNullable<MessageResponse['content']>

/** Compiles the content of an email: HTML, plain text, or a document of Novu's block editor. */
export function compileEmail(body: string): Render<Content> {
  const blocks = parseBlocks(body)?.map(compileBlock)
  if (blocks) return (scope) => blocks.map((render) => render(scope))
  return compile(/<\w/.test(body) ? body : `<p>${body.replaceAll('\n', '<br>')}</p>`)
}

/** A node of a block editor document. */
interface EditorNode {
  type?: string
  text?: string
  attrs?: Record<string, unknown>
  content?: EditorNode[]
}

const styles = { textAlign: 'left' } as const

/** Returns the blocks of a block editor document, or undefined for any other text. */
function parseBlocks(body: string): EditorNode[] | undefined {
  const document = parseJsonObjectOrArray(body)
  if (isTooDeep(document) || !isEditorNode(document)) return undefined
  return document.type === 'doc' ? document.content : undefined
}

function isEditorNode(value: unknown): value is EditorNode {
  if (!isObject(value)) return false
  const { attrs = {}, content = [] } = value
  return isObject(attrs) && Array.isArray(content) && content.every(isEditorNode)
}

function compileBlock(block: EditorNode): Render<EmailBlock> {
  const content = compile(textOf(block))
  if (block.type !== 'button') return (scope) => ({ type: 'text', content: content(scope), styles })
  const url = compile(String(block.attrs?.url ?? 'https://example.com/'))
  return (scope) => ({ type: 'button', content: content(scope), url: url(scope), styles })
}

function textOf({ type, text = '', attrs = {}, content = [] }: EditorNode): string {
  if (type === 'variable') return `{{${attrs.id}}}`
  if (type === 'button') return String(attrs.text ?? 'Open')
  return text + content.map(textOf).join('')
}
