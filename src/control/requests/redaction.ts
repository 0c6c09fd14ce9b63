import type { EnvironmentService } from '../../environments/service.js'

const HIDDEN = '***'

/** In names of headers, parameters and fields that carry a secret: a whole name, and a part of one. */
const SECRET_WORD = '(?:proxy-)?auth(?:orization)?|(?:set-)?cookie|(?:x-)?key'
const SECRET_PART = 'api[-_]?key|secret|token|passw(?:or)?d|credential'
const SECRET_NAME = new RegExp(`^(?:${SECRET_WORD})$|${SECRET_PART}`, 'i')
/** Such a field and its value, in JSON or in a form. */
const FIELD = `(?:${SECRET_WORD}|[\\w-]*(?:${SECRET_PART})[\\w-]*)`
const SECRET_FIELDS = new RegExp(
  `("${FIELD}"\\s*:\\s*)(?:"(?:[^"\\\\]|\\\\.)*"|-?[\\d.]+)|((?:^|&)${FIELD}=)[^&]+`,
  'gi'
)
/** A word, delimited as in headers, URLs and JSON: what may be a key. */
const WORD = /[^\s"'`&=,:;<>{}()[\]\\/?#|]+/g
const LAST_WORD = new RegExp(`(?:${WORD.source})?$`)

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

  function isSecret(word: string): boolean {
    const plain = decode(word)
    const isOwn = ownKey.length > 3 && word === ownKey
    return isOwn || word === adminToken || isKey(word) || (plain !== word && text(plain) !== plain)
  }

  function text(value: string): string {
    const rest = anywhere.reduce((text, secret) => text.replaceAll(secret, HIDDEN), value)
    return rest.replace(WORD, (word) => {
      if (!known.has(word)) known.set(word, isSecret(word) ? HIDDEN : word)
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
    text,

    /** Headers or parameters by name; a list where a name was repeated. */
    values(sent: readonly [name: string, value: string][]) {
      // Without a prototype, as a client may name a parameter `constructor`.
      const values: Record<string, string | string[]> = Object.create(null)
      for (const [sentName, sentValue] of sent) {
        const name = text(sentName)
        const earlier = values[name]
        const value = redact(sentName, sentValue)
        values[name] = earlier === undefined ? value : [earlier, value].flat()
      }
      return values
    },

    /** As text, or in base64 what is not text. Of a cut body the last word is left out, as it may be half a key. */
    body(bytes: Buffer, isCut: boolean): string {
      // In latin1 each byte is one character, so that no byte is lost.
      const sent = bytes.toString('latin1').replace(isCut ? LAST_WORD : '', '')
      const hidden = sent.replace(SECRET_FIELDS, (_, json, form) => (json ? `${json}"${HIDDEN}"` : `${form}${HIDDEN}`))
      const redacted = Buffer.from(text(hidden), 'latin1')
      const asText = redacted.toString()
      return Buffer.from(asText).equals(redacted) ? asText : redacted.toString('base64')
    }
  }
}

function decode(word: string): string {
  try {
    return decodeURIComponent(word)
  } catch {
    return word
  }
}
