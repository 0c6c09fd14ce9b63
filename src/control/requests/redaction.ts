import { SECRET_FIELD, SECRET_NAME } from '../../core/credentials.js'
import type { EnvironmentService } from '../../environments/service.js'

/** What a secret is replaced with. */
export const HIDDEN = '***'

/** A field with the name of a secret, and its value, in JSON or in a form. */
const SECRET_FIELDS = new RegExp(
  `("${SECRET_FIELD}"\\s*:\\s*)(?:"(?:[^"\\\\]|\\\\.)*"|-?[\\d.]+)|((?:^|&)${SECRET_FIELD}=)[^&]+`,
  'gi'
)
/** What delimits words in headers, URLs and JSON. */
const DELIMITERS = '\\s"\'`&=,:;<>{}()[\\]\\\\/?#|\ufffd'
const DELIMITER = new RegExp(`[${DELIMITERS}]`)
/** What may be a key. */
const WORD = new RegExp(`[^${DELIMITERS}]+`, 'g')
/** How many times over a key is recognised that is percent-encoded. What is encoded more often is hidden unread. */
const MAX_ENCODINGS = 5
/** How many different words of a request are looked at, as each takes a query. Further ones are hidden unread. */
const MAX_WORDS = 5000

export interface Secrets {
  /** The keys of all of them are secret. */
  environments: EnvironmentService
  adminToken: string | undefined
}

/**
 * Returns functions that replace secrets in what a client sent: values with the name of a credential; API keys of all
 * environments and the admin token, anywhere; and what the request itself sent as its key, valid or not.
 */
export function redactionOf({ environments, adminToken }: Secrets, authorization = '') {
  /** What each word is replaced with, as words repeat and a look for a key takes a query. */
  const known = new Map<string, string>()
  const isKey = (word: string) => environments.isApiKey(word)
  const ownKey = authorization.trim().replace(/^\S+\s+/, '')
  // An invalid key may be an ordinary word: it is then replaced only where it stands alone.
  const isAnywhere = isKey(ownKey) || ownKey.replace(WORD, '') !== ''
  const anywhere = [isAnywhere ? ownKey : '', adminToken ?? ''].filter(({ length }) => length > 7)

  function isSecret(word: string, encodings: number): boolean {
    if ((ownKey.length > 3 && word === ownKey) || word === adminToken || isKey(word)) return true
    const plain = decode(word)
    return plain !== word && (encodings === MAX_ENCODINGS || text(plain, encodings + 1) !== plain)
  }

  function text(value: string, encodings = 0): string {
    const rest = anywhere.reduce((text, secret) => text.replaceAll(secret, HIDDEN), value)
    return rest.replace(WORD, (word) => {
      if (!known.has(word)) known.set(word, known.size >= MAX_WORDS || isSecret(word, encodings) ? HIDDEN : word)
      return known.get(word) as string
    })
  }

  function redact(name: string, sent: string): string {
    if (!SECRET_NAME.test(name)) return text(sent)
    // The scheme stays, as it is what clients most often get wrong.
    const scheme = /^(ApiKey|Bearer|Basic|Digest|Token)\s+\S/i.exec(sent)?.[1]
    return scheme ? `${scheme} ${HIDDEN}` : sent && HIDDEN
  }

  return {
    text: (value: string): string => text(value),

    /** Headers or parameters by name; a list where a name was repeated. */
    values(sent: readonly [name: string, value: string][]) {
      // Without a prototype, as a client may name a parameter `constructor`.
      const values: Record<string, string | string[]> = Object.create(null)
      for (const [sentName, sentValue] of sent) {
        const name = text(sentName)
        const earlier = values[name]
        const value = redact(sentName, sentValue)
        if (Array.isArray(earlier)) earlier.push(value)
        else values[name] = earlier === undefined ? value : [earlier, value]
      }
      return values
    },

    /** As text, or in base64 what is not text. Of a cut body the last word is left out, as it may be half a key. */
    body(bytes: Buffer, isCut: boolean): string {
      // In latin1 each byte is one character, so that no byte is lost.
      const whole = bytes.toString('latin1')
      const sent = isCut ? withoutLastWord(whole) : whole
      const hidden = sent.replace(SECRET_FIELDS, (_, json, form) => (json ? `${json}"${HIDDEN}"` : `${form}${HIDDEN}`))
      const redacted = Buffer.from(text(hidden), 'latin1')
      const asText = redacted.toString()
      return Buffer.from(asText).equals(redacted) ? asText : redacted.toString('base64')
    }
  }
}

/** Returns the text up to its last delimiter: what follows may be half a key. */
export function withoutLastWord(text: string): string {
  let end = text.length
  while (end > 0 && !DELIMITER.test(text.charAt(end - 1))) end -= 1
  return text.slice(0, end)
}

export function decode(word: string): string {
  // Most have nothing to decode, and a request has dozens of words.
  if (!word.includes('%')) return word
  try {
    return decodeURIComponent(word)
  } catch {
    // What is no UTF-8 becomes a delimiter, so that a key beside it is seen.
    return word.replace(/(?:%[0-9a-f]{2})+/gi, (bytes) => Buffer.from(bytes.replaceAll('%', ''), 'hex').toString())
  }
}
