/** What a text may speak of: `payload`, `subscriber`, `steps`, and the variables of the loops around. */
export type Scope = Readonly<Record<string, unknown>>

/** Fixed parts, and parts that depend on the scope. */
export type Text = readonly Part[]
type Part = string | ((scope: Scope) => string)

/** A piece of JSON, in which the scope's parts are escaped already. */
export type JsonText = Text

/**
 * Compiles Liquid as far as notifications commonly use it: outputs with the filters below, `if`, `unless`, `for` and
 * `comment`. Other tags come to nothing, other filters change nothing, and what is not well-formed stays as it stands.
 */
export function compiledText(source: string): Text {
  const tokens = tokensOf(source)
  let place = 0
  const parts: Part[] = []
  while (place < tokens.length) parts.push(...block([]).parts)
  return parts

  /** Up to one of these tags, which is passed over, or to the end. */
  function block(ends: readonly string[]): { parts: Part[]; end: string; rest: string } {
    const parts: Part[] = []
    while (place < tokens.length) {
      const token = tokens[place++] as Token
      if (token.kind === 'text') parts.push(token.text)
      else if (token.kind === 'output') parts.push(output(token.text))
      else {
        const [, word = '', rest = ''] = /^(\w*)\s*(.*)$/s.exec(token.text) ?? []
        if (ends.includes(word)) return { parts, end: word, rest }
        parts.push(...tag(word, rest))
      }
    }
    return { parts, end: '', rest: '' }
  }

  function tag(word: string, rest: string): Part[] {
    if (word === 'if' || word === 'unless') return [choice(word, rest)]
    if (word === 'for') return [loop(rest)]
    if (word === 'comment') block(['endcomment'])
    return []
  }

  function choice(word: string, condition: string): Part {
    const branches: { holds: (scope: Scope) => boolean; parts: Part[] }[] = []
    const first = holding(condition)
    let holds = word === 'if' ? first : (scope: Scope) => !first(scope)
    for (;;) {
      const { parts, end, rest } = block(['elsif', 'else', `end${word}`])
      branches.push({ holds, parts })
      if (end !== 'elsif' && end !== 'else') break
      holds = end === 'elsif' ? holding(rest) : () => true
    }
    return (scope) => rendered(branches.find((branch) => branch.holds(scope))?.parts ?? [], scope)
  }

  function loop(header: string): Part {
    const { parts } = block(['endfor'])
    const [, name = '', list = ''] = /^([\w-]+)\s+in\s+(\S+)/.exec(header) ?? []
    const items = evaluating(list)
    return (scope) => {
      const found = items(scope)
      if (!Array.isArray(found)) return ''
      return found.map((item) => rendered(parts, { ...scope, [name]: item })).join('')
    }
  }
}

export function rendered(text: Text, scope: Scope): string {
  let result = ''
  for (const part of text) result += typeof part === 'string' ? part : part(scope)
  return result
}

/** The text as a JSON string. */
export function quotedText(text: Text): JsonText {
  return merged(['"', ...insideQuotes(text), '"'])
}

/** What a JSON string of this text has between its quotes. */
export function escaped(text: string): string {
  return NEEDS_ESCAPING.test(text) ? JSON.stringify(text).slice(1, -1) : text
}

const NEEDS_ESCAPING = /["\\\p{Cc}\p{Cs}]/u

export function escapedHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

/** The content of an email: HTML in the sender's frame, or, of a document of the block editor, a list of blocks. */
export function emailContent(body: string, subject: string, sender: string): JsonText {
  const document = blockDocument(body)
  if (document) return merged(['[', ...document.flatMap((block, place) => blockJson(block, place)), ']'])
  return quotedText(compiledText(/<html/i.test(body) ? body : framed(body, subject, sender)))
}

function framed(body: string, subject: string, sender: string): string {
  const name = escapedHtml(sender)
  const content = /<\w/.test(body) ? body : `<p>${body.replaceAll('\n', '<br>')}</p>`
  return [
    '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">',
    `<meta name="viewport" content="width=device-width, initial-scale=1"><title>${subject}</title></head>`,
    '<body style="margin:0;background:#f4f4f2;color:#222;font-family:Helvetica,Arial,sans-serif">',
    '<table role="presentation" width="100%" cellpadding="0" cellspacing="0"><tr><td align="center">',
    '<table role="presentation" width="600" style="background:#fff">',
    `<tr><td style="padding:24px 32px;font-size:18px;border-bottom:1px solid #e5e5e0">${name}</td></tr>`,
    `<tr><td style="padding:32px;line-height:1.5">${content}</td></tr>`,
    `<tr><td style="padding:16px 32px;font-size:12px;color:#777">${name} &middot; `,
    '<a href="https://example.com/preferences">Preferences</a> &middot; ',
    '<a href="https://example.com/unsubscribe">Unsubscribe</a></td></tr></table></td></tr></table></body></html>'
  ].join('')
}

interface Node {
  type?: string
  text?: string
  attrs?: Record<string, unknown>
  marks?: { type?: string; attrs?: Record<string, unknown> }[]
  content?: Node[]
}

function blockDocument(body: string): Node[] | undefined {
  if (!body.trimStart().startsWith('{')) return undefined
  try {
    const document = JSON.parse(body) as Node
    return document.type === 'doc' && Array.isArray(document.content) ? document.content : undefined
  } catch {
    return undefined
  }
}

function blockJson(block: Node, place: number): Part[] {
  const comma = place > 0 ? ',' : ''
  const align = block.attrs?.textAlign
  const aligned = align === 'center' || align === 'right' ? align : 'left'
  const styles = `,"styles":{"textAlign":"${aligned}"}}`
  if (block.type !== 'button') {
    return [`${comma}{"type":"text","content":`, ...quotedText(compiledText(htmlOf(block))), styles]
  }
  const { text = 'Open', url = 'https://example.com/' } = block.attrs ?? {}
  const label = quotedText(compiledText(String(text)))
  return [`${comma}{"type":"button","content":`, ...label, ',"url":', ...quotedText(compiledText(String(url))), styles]
}

function htmlOf(node: Node): string {
  const { type = '', attrs = {}, marks = [] } = node
  const inner = (node.content ?? []).map(htmlOf).join('')
  if (type === 'text') return marks.reduce(marked, escapedHtml(node.text ?? ''))
  if (type === 'variable') {
    const fallback = typeof attrs.fallback === 'string' ? ` | default: ${JSON.stringify(attrs.fallback)}` : ''
    return marks.reduce(marked, `{{${attrs.id}${fallback}}}`)
  }
  if (type === 'heading') return `<h${attrs.level ?? 1}>${inner}</h${attrs.level ?? 1}>`
  if (type === 'button') return `<a href="${attrs.url}">${attrs.text}</a>`
  const element = ELEMENTS[type]
  if (element === undefined) return inner
  return VOID.includes(element) ? `<${element}>` : `<${element}>${inner}</${element}>`
}

function marked(inner: string, mark: { type?: string; attrs?: Record<string, unknown> }): string {
  if (mark.type === 'link') return `<a href="${mark.attrs?.href}">${inner}</a>`
  const element = MARKS[mark.type ?? '']
  return element ? `<${element}>${inner}</${element}>` : inner
}

const MARKS: Record<string, string> = { bold: 'strong', italic: 'em', underline: 'u', strike: 's', code: 'code' }
const VOID = ['br', 'hr']
const ELEMENTS: Record<string, string> = {
  paragraph: 'p',
  bulletList: 'ul',
  orderedList: 'ol',
  listItem: 'li',
  blockquote: 'blockquote',
  hardBreak: 'br',
  horizontalRule: 'hr'
}

function insideQuotes(text: Text): Part[] {
  return text.map((part) => (typeof part === 'string' ? escaped(part) : (scope) => escaped(part(scope))))
}

function merged(parts: readonly Part[]): Part[] {
  const result: Part[] = []
  for (const part of parts) {
    const last = result.at(-1)
    if (typeof part === 'string' && typeof last === 'string') result[result.length - 1] = last + part
    else result.push(part)
  }
  return result
}

interface Token {
  kind: 'text' | 'output' | 'tag'
  text: string
}

function tokensOf(source: string): Token[] {
  const tokens: Token[] = []
  let end = 0
  let trims = false
  const addText = (text: string) => text !== '' && tokens.push({ kind: 'text', text })
  for (const match of source.matchAll(TAG)) {
    const [whole, beforeOutput, output, afterOutput, beforeTag, tag = '', afterTag] = match
    const text = source.slice(end, match.index)
    const started = trims ? text.trimStart() : text
    addText(beforeOutput || beforeTag ? started.trimEnd() : started)
    tokens.push(output === undefined ? { kind: 'tag', text: tag.trim() } : { kind: 'output', text: output.trim() })
    trims = Boolean(afterOutput || afterTag)
    end = match.index + whole.length
  }
  addText(trims ? source.slice(end).trimStart() : source.slice(end))
  return tokens
}

/** With what is trimmed around it: `{{- name -}}`. */
const TAG = /\{\{(-?)([^{}]*?)(-?)\}\}|\{%(-?)(.*?)(-?)%\}/gs

/** A path with filters after it. */
function output(source: string): Part {
  const [path = '', ...filters] = splitOutside(source, '|')
  const value = evaluating(path)
  const applied = filters.map((filter) => {
    const [, name = '', list = ''] = /^([\w]+)\s*:?\s*(.*)$/s.exec(filter) ?? []
    return { filter: FILTERS[name], given: splitOutside(list, ',').map(evaluating) }
  })
  if (applied.length === 0) return (scope) => textOf(value(scope))
  return (scope) => {
    let result = value(scope)
    for (const { filter, given } of applied) {
      if (filter) result = filter(result, ...given.map((each) => each(scope)))
    }
    return textOf(result)
  }
}

type Filter = (value: unknown, ...given: unknown[]) => unknown

const FILTERS: Record<string, Filter> = {
  default: (value, other) => (value === undefined || value === null || value === '' || value === false ? other : value),
  upcase: (value) => textOf(value).toUpperCase(),
  downcase: (value) => textOf(value).toLowerCase(),
  capitalize: (value) => textOf(value).charAt(0).toUpperCase() + textOf(value).slice(1).toLowerCase(),
  strip: (value) => textOf(value).trim(),
  append: (value, more) => textOf(value) + textOf(more),
  prepend: (value, more) => textOf(more) + textOf(value),
  escape: (value) => escapedHtml(textOf(value)),
  size: (value) => (Array.isArray(value) ? value.length : textOf(value).length),
  first: (value) => (Array.isArray(value) ? value[0] : undefined),
  last: (value) => (Array.isArray(value) ? value.at(-1) : undefined),
  join: (value, by) => (Array.isArray(value) ? value.map(textOf).join(by === undefined ? ' ' : textOf(by)) : value),
  truncate: (value, most) => {
    const text = textOf(value)
    const length = typeof most === 'number' ? most : 50
    return text.length > length ? `${text.slice(0, Math.max(0, length - 3))}...` : text
  },
  date: (value, form) => {
    const text = textOf(value)
    const milliseconds = MOMENT.test(text) ? Date.parse(text) : Number.NaN
    return Number.isNaN(milliseconds) || form === undefined ? value : dateText(new Date(milliseconds), textOf(form))
  }
}

/** What is the same moment in every time zone. */
const MOMENT = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/

/** A date, UTC and English, in a form such as `%d %B %Y`. */
function dateText(date: Date, form: string): string {
  return form.replaceAll(/%(-?)([a-zA-Z])/g, (whole, unpadded, letter) => {
    const number = NUMBERS[letter]?.(date)
    if (number !== undefined) return unpadded ? String(number) : String(number).padStart(2, '0')
    if (letter === 'B' || letter === 'b') return shortened(MONTHS[date.getUTCMonth()] ?? '', letter === 'b')
    if (letter === 'A' || letter === 'a') return shortened(WEEK[date.getUTCDay()] ?? '', letter === 'a')
    return letter === 'e' ? String(date.getUTCDate()) : whole
  })
}

const shortened = (name: string, short: boolean) => (short ? name.slice(0, 3) : name)

const NUMBERS: Record<string, (date: Date) => number> = {
  d: (date) => date.getUTCDate(),
  m: (date) => date.getUTCMonth() + 1,
  y: (date) => date.getUTCFullYear() % 100,
  Y: (date) => date.getUTCFullYear(),
  H: (date) => date.getUTCHours(),
  M: (date) => date.getUTCMinutes(),
  S: (date) => date.getUTCSeconds()
}

const MONTHS = 'January February March April May June July August September October November December'.split(' ')
const WEEK = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ')

function holding(condition: string): (scope: Scope) => boolean {
  const alternatives = condition.split(/\s+or\s+/).map((each) => each.split(/\s+and\s+/).map(comparing))
  return (scope) => alternatives.some((all) => all.every((holds) => holds(scope)))
}

function comparing(source: string): (scope: Scope) => boolean {
  const [, left = source, sign, right = ''] = /^(.+?)\s*(==|!=|>=|<=|>|<|\bcontains\b)\s*(.+)$/s.exec(source) ?? []
  const one = evaluating(left)
  if (sign === undefined) return (scope) => isTrue(one(scope))
  const other = evaluating(right)
  const compare = COMPARISONS[sign] as (one: unknown, other: unknown) => boolean
  return (scope) => compare(one(scope), other(scope))
}

const isTrue = (value: unknown) => value !== undefined && value !== null && value !== false

const COMPARISONS: Record<string, (one: unknown, other: unknown) => boolean> = {
  '==': (one, other) => (one ?? null) === (other ?? null),
  '!=': (one, other) => (one ?? null) !== (other ?? null),
  '>': (one, other) => Number(one) > Number(other),
  '<': (one, other) => Number(one) < Number(other),
  '>=': (one, other) => Number(one) >= Number(other),
  '<=': (one, other) => Number(one) <= Number(other),
  contains: (one, other) => (Array.isArray(one) ? one.includes(other) : textOf(one).includes(textOf(other)))
}

const LITERALS: Record<string, unknown> = { true: true, false: false, nil: null, null: null, blank: '', empty: '' }

function evaluating(source: string): (scope: Scope) => unknown {
  const text = source.trim()
  const quoted = /^(?:"([^"]*)"|'([^']*)')$/.exec(text)
  if (quoted) return () => quoted[1] ?? quoted[2]
  if (/^-?\d+(\.\d+)?$/.test(text)) return () => Number(text)
  if (Object.hasOwn(LITERALS, text)) return () => LITERALS[text]
  const path = [...text.matchAll(STEP)].map(([, quotedName, name]) => quotedName ?? name ?? '')
  const [first = '', second] = path
  if (path.length === 2 && second !== undefined) return (scope) => memberOf(scope[first], second)
  return (scope) => path.reduce<unknown>(memberOf, scope)
}

const STEP = /\[(?:"|')([^"']*)(?:"|')\]|([\p{L}\p{N}_-]+)/gu

function memberOf(value: unknown, name: string): unknown {
  if (typeof value === 'string' || Array.isArray(value)) {
    if (name === 'size') return value.length
    if (name === 'first') return value[0]
    if (name === 'last') return value.at(-1)
  }
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (value === undefined || value === null) return ''
  if (Array.isArray(value)) return value.map(textOf).join('')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** Splits where the separator is not within quotes; no parts of an empty text. */
function splitOutside(source: string, separator: string): string[] {
  const parts: string[] = []
  let part = ''
  let quote = ''
  for (const letter of source) {
    if (quote === '' && letter === separator) {
      parts.push(part.trim())
      part = ''
      continue
    }
    if (quote !== '') quote = letter === quote ? '' : quote
    else if (letter === '"' || letter === "'") quote = letter
    part += letter
  }
  if (part.trim() !== '' || parts.length > 0) parts.push(part.trim())
  return parts
}
