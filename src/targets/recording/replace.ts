import { createHmac } from 'node:crypto'
import { parseIsoTime } from '../../core/clock.js'
import { SECRET_NAME } from '../../core/credentials.js'
import { textWithoutSecrets } from './secrets.js'
import { FIRST_NAMES, LAST_NAMES, WORDS } from './words.js'

/**
 * Replaces texts by others of the same form. The same text has the same replacement in each recording with the same API
 * key, which is needed to find out what a replacement stands for.
 */
export type Replacer = ReturnType<typeof createReplacer>

/** Texts that are replaced as a whole wherever they stand, such as the name of the person that a message is to. */
export interface Known {
  /** By the text in lower case. */
  names: ReadonlyMap<string, string>
  /** In place of the pattern of all texts. */
  pattern?: RegExp
}

const NONE_KNOWN: Known = { names: new Map() }

/** Returns the texts as `Known`; the key of each is the text, its value what stands for it. */
export function knownTexts(texts: Iterable<readonly [string, string]>): Known {
  const names = new Map([...texts].filter(([text]) => text !== '').map(([text, value]) => [text.toLowerCase(), value]))
  if (names.size === 0) return NONE_KNOWN
  const longestFirst = [...names.keys()].sort((one, two) => two.length - one.length).map(escapeRegExp)
  const pattern = new RegExp(`(?<![\\p{L}\\p{M}\\d])(?:${longestFirst.join('|')})(?![\\p{L}\\p{M}\\d])`, 'u')
  return { names, pattern: patternOf(MARKUP, ENTITY, URL_TEXT, pattern, EMAIL, PHONE, DATE, WORD, DIGITS) }
}

const MAX_REMEMBERED = 20_000

const EMAIL = /[\p{L}\d._%+'-]+@[\p{L}\d-]+(?:\.[\p{L}\d-]+)+/u
const URL_TEXT = /\b[a-z][a-z\d+.-]{1,20}:\/\/[^\s"'<>{}]+|\bwww\.[^\s"'<>{}]+/i
const PHONE = /\+\d[\d ()/.-]{5,}\d/
const DATE = /\b\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?/
const WORD = /[\p{L}\p{M}][\p{L}\p{M}'’]*/u
const DIGITS = /\p{N}+/u
const ENTITY = /&(?:#\d+|#x[\da-f]+|[a-z]+\d*);/i
/** Elements whose content nobody reads, comments, and tags. */
const MARKUP = /<(?:style|script)\b[\s\S]*?<\/(?:style|script)\s*>|<!--[\s\S]*?-->|<[/!]?[a-z][^<>]*>/i
const LIQUID = /\{\{[\s\S]*?\}\}|\{%[\s\S]*?%\}/

/** Texts that are kept as HTML; between `<` and `>` there may be others. */
const ELEMENTS =
  /^<\/?(?:a|abbr|address|article|aside|b|big|blockquote|body|br|button|caption|center|code|col|colgroup|dd|div|dl|dt|em|figcaption|figure|font|footer|form|h[1-6]|head|header|hr|html|i|img|input|label|li|link|main|mark|meta|nav|ol|p|pre|q|s|section|small|span|strike|strong|sub|sup|table|tbody|td|tfoot|th|thead|title|tr|u|ul|!doctype)(?=[\s/>])/i
const LAYOUT = /^(?:width|height|align|valign|border|cellpadding|cellspacing|colspan|rowspan|dir|lang|bgcolor)$/i
const ADDRESS = /^(?:href|src|action|background)$/i
const PROSE = /^(?:alt|title|class|id|name|value|content|placeholder|target|rel|type|role|aria-label)$/i

const patternOf = (...patterns: RegExp[]) => new RegExp(patterns.map(({ source }) => `(${source})`).join('|'), 'giu')

const NEVER = /(?!)/
const IN_TEXT = patternOf(MARKUP, ENTITY, URL_TEXT, NEVER, EMAIL, PHONE, DATE, WORD, DIGITS)
const IN_TEMPLATE = patternOf(LIQUID, MARKUP, ENTITY, URL_TEXT, NEVER, EMAIL, PHONE, DATE, WORD, DIGITS)

const WORDS_OF_LENGTH = Array.from({ length: 13 }, (_, length) => {
  const near = WORDS.filter((word) => Math.abs(word.length - length) <= (length > 6 ? 2 : 0))
  return near.length > 0 ? near : WORDS
})

export function createReplacer(apiKey: string) {
  const remembered = new Map<string, Buffer>()
  const email = (text: string) => exactEmail(text.toLowerCase())
  const exactEmail = (text: string) => {
    const digest = digestOf('email', text)
    const [first, last] = [pick(FIRST_NAMES, digest, 0), pick(LAST_NAMES, digest, 4)]
    return `${first}.${last}.${digest.toString('hex', 8, 16)}@example.com`.toLowerCase()
  }
  /** The digits alone count, so that spellings of a number have the same replacement, but for its country. */
  const phone = (text: string) => {
    const digits = text.replaceAll(/\D/g, '')
    return `+1555${String(digestOf('phone', digits).readUIntBE(0, 6) % 100_000_000_000).padStart(11, '0')}`
  }
  const url = (text: string) => `https://example.com/${digestOf('url', text).toString('hex', 0, 6)}`

  return {
    email,
    phone,
    url,
    opaque,
    name,
    number,
    value,
    text,
    template,
    subscriberId,
    contextKey,
    transactionId,
    secret,
    isSecret,
    /** The text as it is, but for its secrets and the API key. */
    withoutSecrets: (source: string) => textWithoutSecrets(source, secret).replaceAll(apiKey, () => secret(apiKey))
  }

  function digestOf(kind: string, text: string): Buffer {
    const key = `${kind} ${text}`
    const known = remembered.get(key)
    if (known) return known
    if (remembered.size >= MAX_REMEMBERED) remembered.clear()
    const digest = createHmac('sha256', `notification-mock record ${apiKey}`).update(key).digest()
    remembered.set(key, digest)
    return digest
  }

  /** Returns what stands for a token, a key or another text that nobody reads. */
  function opaque(kind: string, text: string): string {
    return `${kind}-${digestOf(kind, text).toString('hex', 0, 8)}`
  }

  function name(text: string, kind: 'first' | 'last'): string {
    if (text.trim() === '') return text
    const digest = digestOf(`${kind} name`, text.trim().toLowerCase())
    return other(kind === 'first' ? FIRST_NAMES : LAST_NAMES, digest, text)
  }

  /** Your own id of a subscriber is often an address: then it has the replacement that the address has. */
  function subscriberId(text: string): string {
    // Two that differ in case alone are two.
    if (fullMatch(EMAIL, text)) return exactEmail(text)
    if (fullMatch(PHONE, text)) return phone(text)
    return opaque('subscriber', text)
  }

  function transactionId(text: string): string {
    return opaque('txn', text)
  }

  /** The type stays. */
  function contextKey(text: string): string {
    const at = text.indexOf(':')
    const type = text.slice(0, at)
    return isPlainName(type) ? `${type}:${opaque(type, text.slice(at + 1))}` : `context:${opaque('context', text)}`
  }

  /** Returns a number of as many digits, and with as many after the point. */
  function number(source: number): number {
    const [whole = '', fraction] = String(Math.abs(source)).split('.')
    if (!/^\d+$/.test(whole) || (fraction !== undefined && !/^\d+$/.test(fraction))) return source === 0 ? 0 : 1
    const text = `${digits(whole)}${fraction === undefined ? '' : `.${digits(fraction)}`}`
    return Math.sign(source) * Number(text)
  }

  function digits(text: string): string {
    const digest = (at: number) => digestOf(`digits ${at}`, text)
    if (text.length === 1) return String(digest(0).readUInt8(0) % 10)
    let all = ''
    for (let at = 0; all.length < text.length; at++) {
      all += digest(at).readUIntBE(0, 6).toString().padStart(15, '0').slice(-12)
    }
    // A number does not begin with a zero, unless that of the source does.
    return (all.startsWith('0') && !text.startsWith('0') ? '7' : all.charAt(0)) + all.slice(1, text.length)
  }

  /** Returns a moment of this century in the same form. */
  function date(text: string): string {
    const moment = new Date(Date.UTC(2001, 0, 1) + (digestOf('date', text).readUIntBE(0, 5) % 9000) * 86_400_000)
    const iso = new Date(moment.getTime() + (digestOf('time', text).readUIntBE(0, 5) % 86_400_000)).toISOString()
    const zone = /(?:Z|[+-]\d\d:?\d\d)?$/.exec(text.slice(10))?.[0] ?? ''
    const length = text.length - zone.length
    return iso.replace('Z', '').padEnd(length, '0').slice(0, length) + zone
  }

  function word(text: string): string {
    const near = WORDS_OF_LENGTH[Math.min(text.length, 12)] ?? WORDS
    const replacement = other(near, digestOf('word', text.toLowerCase()), text)
    if (text.length > 1 && text === text.toUpperCase() && text !== text.toLowerCase()) return replacement.toUpperCase()
    return /^\p{Lu}/u.test(text) ? `${replacement.charAt(0).toUpperCase()}${replacement.slice(1)}` : replacement
  }

  /** Replaces the words, numbers and addresses of a text; spaces, punctuation and HTML stay. */
  function text(source: string, known: Known = NONE_KNOWN): string {
    return source.replaceAll(known.pattern ?? IN_TEXT, (match, ...groups) => replacementOf(match, groups, known))
  }

  /** The same, and variables of Liquid stay. */
  function template(source: string): string {
    return source.replaceAll(IN_TEMPLATE, (match, liquid, ...groups) => {
      if (liquid === undefined) return replacementOf(match, groups, NONE_KNOWN)
      return match.replaceAll(/'[^']*'|"[^"]*"/g, (quoted: string) => {
        const quote = quoted.charAt(0)
        return `${quote}${text(quoted.slice(1, -1))}${quote}`
      })
    })
  }

  function replacementOf(match: string, groups: readonly unknown[], known: Known): string {
    const [markup, entity, address, name, mail, call, day, letters] = groups
    if (markup !== undefined) return tag(match, known)
    if (entity !== undefined) return match
    if (address !== undefined) return url(match)
    if (name !== undefined) return known.names.get(match.toLowerCase()) ?? word(match)
    if (mail !== undefined) return email(match)
    if (call !== undefined) return phone(match)
    if (day !== undefined) return date(match)
    return letters === undefined ? digits(match) : word(match)
  }

  /** A tag with those of its attributes that are known. */
  function tag(source: string, known: Known): string {
    if (source.startsWith('<!--')) return '<!-- -->'
    const [, hidden] = /^<(style|script)\b/i.exec(source) ?? []
    if (hidden) return `<${hidden}></${hidden}>`
    const [start] = ELEMENTS.exec(source) ?? []
    if (!start) return `<${text(source.slice(1, -1), known)}>`
    const attributes = source.slice(start.length).matchAll(/([a-z-]+)\s*=\s*("[^"]*"|'[^']*'|[^\s"'<>]+)/gi)
    const kept = [...attributes].flatMap(([, attribute = '', quoted = '']) => {
      const value = attributeValue(attribute, quoted.replace(/^(["'])([\s\S]*)\1$/, '$2'), known)
      return value === undefined ? [] : [` ${attribute}="${value}"`]
    })
    return `${start}${kept.join('')}${source.endsWith('/>') ? ' />' : '>'}`
  }

  function attributeValue(attribute: string, source: string, known: Known): string | undefined {
    if (LAYOUT.test(attribute))
      return /^[\d.%#a-f]{0,9}$|^(?:left|right|center|top|middle|ltr|rtl)$/.test(source) ? source : ''
    if (/^style$/i.test(attribute)) return /^[\w\s:;.,%#!-]*$/.test(source) ? style(source) : ''
    if (ADDRESS.test(attribute))
      return source.startsWith('mailto:') ? `mailto:${text(source.slice(7), known)}` : url(source)
    return PROSE.test(attribute) ? text(source, known) : undefined
  }

  /** Replaces what is in a value whose fields nobody knows; names of fields stay where they are plain words. */
  function value(source: unknown, known: Known, field = ''): unknown {
    if (typeof source === 'string') return SECRET_NAME.test(field) ? secret(source) : text(source, known)
    if (typeof source === 'number') return number(source)
    if (typeof source !== 'object' || source === null) return source
    if (Array.isArray(source)) return source.map((each) => value(each, known, field))
    return Object.fromEntries(
      Object.entries(source).map(([key, each]) => [
        isPlainName(key) ? key : opaque('field', key),
        value(each, known, SECRET_NAME.test(field) ? field : key)
      ])
    )
  }

  /** Whether a field of this name holds a secret. */
  function isSecret(field: string): boolean {
    return SECRET_NAME.test(field)
  }

  function secret(source: string): string {
    return source === '' ? '' : opaque('secret', source)
  }
}

/** Returns one of the list that is not the text. */
function other(list: readonly string[], digest: Buffer, text: string): string {
  const chosen = pick(list, digest, 0)
  return chosen.toLowerCase() === text.trim().toLowerCase() ? pick(list, digest, 0, 1) : chosen
}

function pick(list: readonly string[], digest: Buffer, at: number, more = 0): string {
  return list[(digest.readUInt32BE(at) + more) % list.length] ?? ''
}

/** The declarations of layout: a property and words, numbers and colours, of which none is long. */
function style(source: string): string {
  return source
    .split(';')
    .filter((each) =>
      /^\s*[a-z-]{3,25}\s*:(?:\s*(?:[\d.%-]+[a-z%]{0,3}|#[\da-f]{3,8}|[a-z-]{1,12}),?)+\s*$/i.test(each)
    )
    .join(';')
}

function escapeRegExp(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
}

function fullMatch(pattern: RegExp, text: string): boolean {
  return new RegExp(`^(?:${pattern.source})$`, 'u').test(text)
}

/** Whether it is a name such as programs have: no address, nothing with spaces, and no number as long as of a phone. */
export function isPlainName(text: string): boolean {
  return /^(?!.*\d{7})[A-Za-z_$][\w$.-]{0,63}$/.test(text)
}

/** Whether it is a time, as records have them. */
export function isTime(text: string): boolean {
  return parseIsoTime(text) !== undefined
}
