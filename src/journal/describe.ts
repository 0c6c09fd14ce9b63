import type { FastifyRequest } from 'fastify'
import { isoTime } from '../domain/clock.js'
import { SECRET_NAME } from '../domain/credentials.js'
import { attempt } from '../domain/errors.js'
import { MalformedQuery } from '../domain/query-string.js'
import { suggest } from '../domain/suggestions.js'
import type { EnvironmentService } from '../environments/service.js'
import { pathOf, queryOf, withoutSecretParameters } from '../http/target.js'
import { type Operation, unknownParameters } from '../schema/operation.js'
import type { Describe, JournalEntry } from './entry.js'
import { bytesOfAnswer } from './responses.js'

/** What a secret is replaced with. */
export const HIDDEN = '***'
/** What hiding the secrets in JSON looks at: strings, of which the last may be cut, with the colon of a name; and numbers. */
const JSON_TOKEN = /"((?:[^"\\]|\\.)*)(?:"(\s*:)?|$)|[{}[\]]|-?\d[\d.eE+-]*/g
/** What delimits words in headers, URLs and JSON. */
const DELIMITERS = '\\s"\'`&=,:;<>{}()[\\]\\\\/?#|\ufffd'
const DELIMITER = new RegExp(`[${DELIMITERS}]`)
/** What may be a key. */
const WORD = new RegExp(`[^${DELIMITERS}]+`, 'g')
/** A key as they are made: it may be that of another server, or of an environment that was removed. */
const KEY_FORM = /(?<![0-9a-z])[0-9a-f]{32}(?![0-9a-z])/gi
/** How many times over a key is recognised that is percent-encoded. */
const MAX_ENCODINGS = 3
/** How much of a text is logged. */
const MAX_LOGGED = 8192
/** At the beginning of a page. */
const HAS_MORE = /^\{("totalCount":\d+,)?"hasMore":true/

/** Returns the function that describes the requests of a journal: parsed, and without secrets. */
export function createDescribe(redactionOf: RedactionOf, faultHeader: boolean): Describe {
  const isRead = (name: string) =>
    KNOWN_HEADERS.test(name) || (faultHeader && name === 'x-mock-fault')
  return (entry, withAnswer = false) => {
    const {
      operation,
      body,
      bodyLength,
      status,
      size,
      reason,
      changed,
      replayed,
      faulted,
      delayed
    } = entry
    const sent = linesOf(entry.rawHeaders, /^(.+)\n(.*)$/gm)
    const redaction = redactionOf(sent.find(([name]) => name === 'authorization')?.[1])
    const headers = redaction.values(sent)
    const query = redaction.values(parametersOf(entry))
    const isCut = body !== undefined && body.length < bodyLength
    const answer = entry.answer && bytesOfAnswer(entry.answer)
    const isTruncated = answer !== undefined && answer.length < size
    return {
      sequence: entry.sequence,
      time: isoTime(entry.time),
      arrived: isoTime(entry.startedAt),
      ...(operation && { operation: operation.id }),
      method: entry.method,
      path: redaction.text(pathOf(entry.url)),
      query,
      headers,
      ...(body && { body: redaction.body(body, isCut) }),
      ...(isCut && { bodyLength }),
      ...(status > 0 && { status, size }),
      ...(entry.endSequence > 0 && { duration: Math.round(entry.duration * 1000) / 1000 }),
      ...(reason !== undefined && { reason: redaction.text(reason) }),
      ...(status === 200 &&
        HAS_MORE.test(answer?.toString('latin1', 0, 64) ?? '') && { hasMore: true }),
      ...(changed && changed.length > 0 && { changed: [...changed] }),
      flags: {
        ...(replayed && { replayed }),
        ...(faulted && { faulted }),
        ...(delayed !== undefined && { delayed }),
        ...(!operation && { unmocked: true })
      },
      unknown: {
        query: unknownParameters(Object.keys(query), operation),
        headers: Object.keys(headers).filter((name) => !isRead(name)),
        ...suggestionsFor(Object.keys(query), operation)
      },
      ...(withAnswer &&
        status > 0 && {
          response: {
            status,
            headers: redaction.values(linesOf(entry.head ?? '', /^(.+?): (.*)$/gm)),
            ...(answer && { body: redaction.body(answer, isTruncated) }),
            ...(isTruncated && { truncated: true }),
            ...(entry.answer && !answer && { dropped: true })
          }
        })
    }
  }
}

/** How many unknown parameters get a suggestion: each takes a comparison with all known names. */
const MAX_SUGGESTIONS = 3

/** Returns the closest known name for each unknown parameter, if any is close. */
function suggestionsFor(
  names: readonly string[],
  operation: Operation | undefined
): { suggestions?: Record<string, string> } {
  const known = Object.keys(operation?.querystring?.properties ?? {})
  const unknown = unknownParameters(names, operation).slice(0, MAX_SUGGESTIONS)
  const pairs = unknown.flatMap((name): [string, string][] => {
    const suggestion = suggest(name, known)
    return suggestion === undefined ? [] : [[name, suggestion]]
  })
  return pairs.length > 0 ? { suggestions: Object.fromEntries(pairs) } : {}
}

export type RedactionOf = ReturnType<typeof createRedaction>

/**
 * Returns a function that takes the `Authorization` of a request, and returns functions that replace secrets in what a
 * client sent: values with the name of a credential, and, also percent-encoded, API keys of all environments, the admin
 * token and what the request itself sent as its key.
 */
export function createRedaction(environments: EnvironmentService, adminToken: string | undefined) {
  /** Which words are keys, as far as it was judged in this turn: words repeat themselves, and each takes a query. */
  const judged = new Map<string, boolean>()

  function isKey(word: string): boolean {
    // Keys come and go.
    if (judged.size === 0) queueMicrotask(() => judged.clear())
    const isJudgedKey = judged.get(word) ?? (word === adminToken || environments.isApiKey(word))
    judged.set(word, isJudgedKey)
    return isJudgedKey
  }

  return (authorization = '') => {
    const ownKey = authorization.trim().replace(/^\S+\s+/, '')
    const isSecret = (word: string) => (ownKey.length > 3 && word === ownKey) || isKey(word)
    // An invalid key may be an ordinary word: it is then replaced only where it stands alone.
    const isAnywhere = isKey(ownKey) || ownKey.replace(WORD, '') !== ''
    const anywhere = [isAnywhere ? ownKey : '', adminToken ?? ''].filter(({ length }) => length > 7)

    function text(value: string, encodings = MAX_ENCODINGS): string {
      const rest = anywhere.reduce((left, secret) => left.replaceAll(secret, HIDDEN), value)
      return rest.replace(WORD, (word) => {
        const plain = encodings > 0 && word.includes('%') ? decode(word) : word
        const hidesSecret =
          plain !== word && (isSecret(plain) || text(plain, encodings - 1) !== plain)
        return hidesSecret || isSecret(word) ? HIDDEN : word
      })
    }

    function redact(name: string, sent: string): string {
      if (!SECRET_NAME.test(name)) return text(sent)
      // The scheme stays, as it is what clients most often get wrong.
      const scheme = /^(ApiKey|Bearer|Basic|Digest|Token)\s+\S/i.exec(sent)?.[1]
      return scheme ? `${scheme} ${HIDDEN}` : sent && HIDDEN
    }

    return {
      isKey,
      text,

      /** Headers or parameters by name; a list where a name was repeated. */
      values(sent: readonly [name: string, value: string][]) {
        // Without a prototype, as a client may name a parameter `constructor`.
        const values: Record<string, string | string[]> = Object.create(null)
        for (const [sentName, sentValue] of sent) {
          const name = text(sentName)
          const value = redact(sentName, sentValue)
          values[name] = values[name] === undefined ? value : [values[name], value].flat()
        }
        return values
      },

      /** As text, or in base64 what is not text. Of a cut body the last word is left out, as it may be half a key. */
      body(bytes: Buffer, isCut: boolean): string {
        // In latin1 each byte is one character, so that no byte is lost.
        const whole = bytes.toString('latin1')
        const sent = isCut ? withoutLastWord(whole) : whole
        const hidden = /^\s*[[{]/.test(sent)
          ? withoutSecretFields(sent)
          : withoutSecretParameters(sent)
        const redacted = Buffer.from(text(hidden), 'latin1')
        const asText = redacted.toString()
        return Buffer.from(asText).equals(redacted) ? asText : redacted.toString('base64')
      }
    }
  }
}

/** Returns a text about a request without the secrets that it was sent with, and without what has the form of a key. */
export function redactedForLog(
  redactionOf: RedactionOf,
  { url, headers }: FastifyRequest,
  text: string
): string {
  const { isKey, ...redaction } = redactionOf(headers.authorization)
  let logged = text.length > MAX_LOGGED ? `${withoutLastWord(text.slice(0, MAX_LOGGED))}...` : text
  // A key may contain characters that delimit words: of one that was sent encoded, the text may have them decoded.
  for (const part of url.slice(0, MAX_LOGGED).split(/[/?&=]/)) {
    const plain = decode(part)
    if (plain !== part && isKey(plain)) logged = logged.replaceAll(plain, HIDDEN)
  }
  return redaction.text(logged).replace(KEY_FORM, HIDDEN)
}

/** Returns JSON, of which the end may be missing, without the values of secret names, and without what is in such objects. */
function withoutSecretFields(json: string): string {
  let isNamed = false
  /** How deep it is in an object with such a name. */
  let depth = 0
  return json.replace(
    JSON_TOKEN,
    (token: string, string: string | undefined, colon: string | undefined) => {
      if (colon !== undefined) {
        isNamed = SECRET_NAME.test(string ?? '')
        return token
      }
      if (token === '{' && (isNamed || depth > 0)) depth += 1
      if (token === '}' && depth > 0) depth -= 1
      const isValue = string !== undefined || /^[-\d]/.test(token)
      const isSecret = isValue && (isNamed || (depth > 0 && string !== undefined))
      isNamed = false
      return isSecret ? `"${HIDDEN}"` : token
    }
  )
}

/** Returns the text up to its last delimiter: what follows may be half a key. */
function withoutLastWord(text: string): string {
  return text.slice(0, text.length - (text.split(DELIMITER).at(-1) ?? '').length)
}

/** What is no UTF-8 becomes a delimiter, so that a key beside it is seen. */
function decode(word: string): string {
  const decodeBytes = (bytes: string) => Buffer.from(bytes.replaceAll('%', ''), 'hex').toString()
  return attempt(() => decodeURIComponent(word)) ?? word.replace(/(?:%[0-9a-f]{2})+/gi, decodeBytes)
}

/** As the operations read them; of a malformed query as a browser would. */
function parametersOf({ url, query }: JournalEntry): [string, string][] {
  if (query instanceof MalformedQuery) return [...new URLSearchParams(queryOf(url))]
  return Object.entries(query).flatMap(([name, values]) =>
    [values]
      .flat()
      .map((value): [string, string] => [
        name,
        typeof value === 'string' ? value : JSON.stringify(value)
      ])
  )
}

/** Returns names, in lower case, and values of headers. */
function linesOf(text: string, line: RegExp): [string, string][] {
  return Array.from(text.matchAll(line), ([, name = '', value = '']) => [name.toLowerCase(), value])
}

/** Headers that the server reads, and those that every client sends and that do not influence an answer. */
const NAMES = [
  'authorization|idempotency-key|content-(type|encoding|length|language)|host|origin|x-request-id|connection|te|expect',
  'accept(-encoding|-language|-charset)?|transfer-encoding|upgrade(-insecure-requests)?|proxy-connection|user-agent',
  'cookie|referer|dnt|priority|pragma|cache-control|keep-alive|via|forwarded|max-forwards|traceparent|tracestate',
  'x-forwarded-(for|host|proto|port)|x-real-ip|sec-.*|access-control-request-(headers|method)'
]
const KNOWN_HEADERS = new RegExp(`^(${NAMES.join('|')})$`)
