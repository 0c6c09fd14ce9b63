/** Values by name; a list where a name was repeated. */
export type Values = { [name: string]: string | string[] }

/** Stands in place of a secret. */
const HIDDEN = '***'

/** Names of headers, parameters and fields that carry a secret. */
const SECRET_NAME =
  /^(proxy-)?auth(orization)?$|^(set-)?cookie$|^(x-)?key$|api[-_]?key|secret|token|passw(or)?d|credential/i
/** The same as fields of a body in JSON, or of a form. */
const SECRET_FIELDS =
  /("(?:auth(?:orization)?|(?:x-)?key|[\w-]*(?:api[-_]?key|secret|token|passw(?:or)?d|credential)[\w-]*)"\s*:\s*)(?:"(?:[^"\\]|\\.)*"|-?[\d.]+)|((?:^|&)(?:auth(?:orization)?|(?:x-)?key|[\w-]*(?:api[-_]?key|secret|token|passw(?:or)?d|credential)[\w-]*)=)[^&]+/gi
/** A word, delimited as in headers, URLs and JSON: what may be a key. */
const WORD = /[^\s"'`&=,:;<>{}()[\]\\/?#|]+/g

export interface Secrets {
  /** Whether a word is an API key of an environment. */
  isKey(word: string): boolean
  adminToken: string | undefined
}

/**
 * Returns functions that replace secrets in what a client sent: values with the name of a credential; API keys of all
 * environments and the admin token, anywhere; and what the request itself sent as its key, valid or not.
 */
export function redactionOf({ isKey, adminToken }: Secrets, authorization: string | undefined) {
  const known = new Map<string, boolean>()
  const ownKey = (authorization ?? '').trim().replace(/^\S+\s+/, '')
  // An invalid key may be an ordinary word: it is then replaced only where it stands alone.
  const isAnywhere = isKey(ownKey) || !new RegExp(`^${WORD.source}$`).test(ownKey)
  const anywhere = [isAnywhere ? ownKey : '', adminToken ?? ''].filter(({ length }) => length > 7)

  function isSecret(word: string): boolean {
    const isOwn = ownKey.length > 3 && word === ownKey
    const found = known.get(word) ?? (isOwn || word === adminToken || isKey(word) || hasEncodedSecret(word))
    known.set(word, found)
    return found
  }

  function hasEncodedSecret(word: string): boolean {
    const plain = decode(word)
    return plain !== word && text(plain) !== plain
  }

  function text(value: string): string {
    const rest = anywhere.reduce((text, secret) => text.replaceAll(secret, HIDDEN), value)
    return rest.replace(WORD, (word) => (isSecret(word) ? HIDDEN : word))
  }

  function redact(name: string, sent: string): string {
    if (!SECRET_NAME.test(name)) return text(sent)
    // The scheme stays, as it is what clients most often get wrong.
    const scheme = /^(ApiKey|Bearer|Basic|Digest|Token)\s+\S/i.exec(sent)?.[1]
    return scheme ? `${scheme} ${HIDDEN}` : sent === '' ? '' : HIDDEN
  }

  return {
    text,

    /** Of headers or parameters. */
    values(sent: Iterable<readonly [name: string, value: string]>): Values {
      // Without a prototype, as a client may name a parameter `constructor`.
      const values: Values = Object.create(null)
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
      const all = bytes.toString('latin1')
      const whole = isCut ? all.replace(/[^\s"'`&=,:;<>{}()[\]\\/?#|]*$/, '') : all
      const redacted = Buffer.from(text(whole.replace(SECRET_FIELDS, hideField)), 'latin1')
      const asText = redacted.toString()
      return Buffer.from(asText).equals(redacted) ? asText : redacted.toString('base64')
    }
  }
}

function hideField(_field: string, inJson: string | undefined, inForm: string | undefined): string {
  return inJson === undefined ? `${inForm}${HIDDEN}` : `${inJson}"${HIDDEN}"`
}

function decode(word: string): string {
  if (!word.includes('%')) return word
  try {
    return decodeURIComponent(word)
  } catch {
    return word
  }
}
