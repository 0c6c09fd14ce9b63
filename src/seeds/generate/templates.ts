import { Context, filters, type Template } from 'liquidjs'
import { parseTime } from '../../core/clock.js'
import { attempt } from '../../core/errors.js'
import { findExcess } from '../../core/excess.js'
import type { EmailBlock, MessageResponse } from '../../messages/schemas.js'
import { liquid } from '../resolve/payload-variables.js'

/** Renders a text with what it may show: `payload`, `subscriber`, `steps`. The texts of one message share a budget. */
export type Render = (scope: object, budget?: Budget) => string

/** What is left of the work and the characters that the texts of a message may take. */
export interface Budget {
  work: number
  characters: number
}

const formatDate = filters.date as (this: unknown, ...args: unknown[]) => unknown
const formattedDates = new Map<string, unknown>()

/** Leaves a date as it is written unless it is the same on every machine. */
liquid.registerFilter('date', function (value: unknown, ...args: unknown[]) {
  if (typeof value !== 'string' || parseTime(value) === undefined) return value
  // Formatting a date takes liquidjs a tenth of a millisecond, and most dates come again.
  const key = [value, ...args].join('\n')
  if (formattedDates.size > 10_000) formattedDates.clear()
  if (!formattedDates.has(key)) formattedDates.set(key, formatDate.call(this, value, ...args))
  return formattedDates.get(key)
})
// It picks items at random, which would not be the same again.
liquid.registerFilter('sample', (value: unknown) => value)

/** Returns what a message may take: ten for each tag, output or text between these, and one for each `|` in the template. */
export function createBudget(): Budget {
  return { work: 200_000, characters: 1 << 20 }
}

/** Compiles Liquid. A text that is not well-formed, fails to render or takes more than is left, stays as it stands. */
export function compile(source: string): Render {
  const templates = attempt(() => liquid.parse(source))
  const cost = 10 + (source.match(/\|/g)?.length ?? 0)
  const render: Render = (scope, budget = createBudget()) => {
    const text = templates && budget.work > 0 ? attempt(() => renderWithin(templates, scope, cost, budget)) : undefined
    return text ?? source
  }
  const parts = source.split(/\{\{\s*([a-z](?:[\w.-]*\w)?)\s*\}\}/i)
  if (parts.some((part, index) => index % 2 === 0 && /\{([{%]|$)/.test(part))) return render
  // Most texts hold nothing but paths of strings and numbers: without liquidjs, messages take a fifth less time.
  const pieces = parts.map((part, index) => (index % 2 === 0 ? part : part.split('.')))
  return (scope, budget = createBudget()) => {
    const values = pieces.map((piece) => (typeof piece === 'string' ? piece : piece.reduce<unknown>(memberOf, scope)))
    const isPlain = values.every((value) => typeof value === 'string' || typeof value === 'number')
    if (!isPlain) return render(scope, budget)
    const length = values.reduce<number>((sum, value) => sum + String(value).length, 0)
    return take(budget, length) ? values.join('') : source
  }
}

function take(budget: Budget, characters: number): boolean {
  if (characters > budget.characters) return false
  budget.characters -= characters
  return true
}

/** Throws when it takes too much. By what there is to do, not by time, so that each machine makes the same of it. */
function renderWithin(templates: Template[], scope: object, cost: number, budget: Budget): string {
  const context = new Context(scope, liquid.options, { sync: true })
  context.renderLimit.check = () => {
    budget.work -= cost
    if (budget.work < 0) throw new RangeError('takes too much work')
  }
  const text: string = liquid.renderSync(templates, context)
  if (!take(budget, text.length)) throw new RangeError('is too long')
  return text
}

function memberOf(value: unknown, name: string): unknown {
  return Object.hasOwn(Object(value), name) ? (value as Record<string, unknown>)[name] : undefined
}

type Content = NonNullable<MessageResponse['content']>

/** Compiles the content of an email: HTML in the sender's frame, or the blocks of a document of the block editor. */
export function compileEmail(
  body: string,
  subject: string,
  sender: string
): (scope: object, budget?: Budget) => Content {
  const blocks = parseBlocks(body)?.map(compileBlock)
  if (blocks) return (scope, budget = createBudget()) => blocks.map((block) => block(scope, budget))
  if (/<html/i.test(body)) return compile(body)
  const content = /<\w/.test(body) ? body : `<p>${body.replaceAll('\n', '<br>')}</p>`
  const head = `<head><meta charset="utf-8"><title>${subject}</title></head>`
  const footer = sender.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  return compile(
    `<!DOCTYPE html><html lang="en">${head}<body><main>${content}</main><footer>${footer}</footer></body></html>`
  )
}

/** A node of a document of the block editor. */
interface Node {
  type?: string
  text?: string
  attrs?: Record<string, unknown>
  content?: Node[]
}

/** Values of a document: more than any has, and few enough to compile in some milliseconds. */
const MAX_VALUES = 10_000

/** Returns undefined for what is no such document, or too large or deep to be one. */
function parseBlocks(body: string): Node[] | undefined {
  if (!body.trimStart().startsWith('{') || findExcess(body, MAX_VALUES)) return undefined
  const document: unknown = attempt(() => JSON.parse(body))
  return isNode(document) && document.type === 'doc' ? document.content : undefined
}

function isNode(value: unknown): value is Node {
  if (typeof value !== 'object' || value === null) return false
  const { text, attrs, content } = value as Record<string, unknown>
  return (
    (text === undefined || typeof text === 'string') &&
    (attrs === undefined || (typeof attrs === 'object' && attrs !== null)) &&
    (content === undefined || (Array.isArray(content) && content.every(isNode)))
  )
}

const styles = { textAlign: 'left' } as const

function compileBlock(block: Node): (scope: object, budget: Budget) => EmailBlock {
  const content = compile(textOf(block))
  if (block.type !== 'button') return (...given) => ({ type: 'text', content: content(...given), styles })
  const url = compile(String(block.attrs?.url ?? 'https://example.com/'))
  return (...given) => ({ type: 'button', content: content(...given), url: url(...given), styles })
}

function textOf({ type, text = '', attrs = {}, content = [] }: Node): string {
  if (type === 'variable') return `{{${attrs.id}}}`
  if (type === 'button') return String(attrs.text ?? 'Open')
  return text + content.map(textOf).join('')
}
