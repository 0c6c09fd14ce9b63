/** Values by name; a list where a name came repeatedly. */
export type Named = { [name: string]: string | string[] }

/** In place of what is secret. */
const HIDDEN = '***'

/** Names of headers, parameters and fields that carry a secret. */
const SECRET_NAME =
  /^(proxy-)?auth(orization)?$|^(set-)?cookie$|^(x-)?key$|api[-_]?key|secret|token|passw(or)?d|credential/i
/** The same as fields of a body in JSON, or of a form. */
const SECRET_FIELDS =
  /("(?:auth(?:orization)?|(?:x-)?key|[\w-]*(?:api[-_]?key|secret|token|passw(?:or)?d|credential)[\w-]*)"\s*:\s*)(?:"(?:[^"\\]|\\.)*"|-?[\d.]+)|((?:^|&)(?:auth(?:orization)?|(?:x-)?key|[\w-]*(?:api[-_]?key|secret|token|passw(?:or)?d|credential)[\w-]*)=)[^&]+/gi
/** What may be a key, standing by itself. */
const WORD = /[^\s"'`&=,:;<>{}()[\]\\/?#|]+/g

export interface Secrets {
  /** Whether a word is an API key that opens an environment. */
  isKey(word: string): boolean
  adminToken: string | undefined
}

/**
 * Takes what is secret out of what a request brought: values that are named as a secret, every API key that opens an
 * environment, and the admin token, wherever they stand, and what the request itself sent as its key, be it a valid one
 * or not.
 */
export function redactionOf({ isKey, adminToken }: Secrets, authorization: string | undefined) {
  const known = new Map<string, boolean>()
  const own = (authorization ?? '').trim().replace(/^\S+\s+/, '')
  // Of what is no key only as a word by itself, as it may be an ordinary one.
  const isAnywhere = isKey(own) || !new RegExp(`^${WORD.source}$`).test(own)
  const anywhere = [isAnywhere ? own : '', adminToken ?? ''].filter(({ length }) => length > 7)

  function isSecret(word: string): boolean {
    const isOwn = own.length > 3 && word === own
    const found = known.get(word) ?? (isOwn || word === adminToken || isKey(word) || hasSecretInside(word))
    known.set(word, found)
    return found
  }

  function hasSecretInside(word: string): boolean {
    const plain = decoded(word)
    return plain !== word && text(plain) !== plain
  }

  function text(value: string): string {
    const whole = anywhere.reduce((text, secret) => text.replaceAll(secret, HIDDEN), value)
    return whole.replace(WORD, (word) => (isSecret(word) ? HIDDEN : word))
  }

  function value(name: string, sent: string): string {
    if (!SECRET_NAME.test(name)) return text(sent)
    // What people get wrong is the scheme.
    const scheme = /^(ApiKey|Bearer|Basic|Digest|Token)\s+\S/i.exec(sent)?.[1]
    return scheme ? `${scheme} ${HIDDEN}` : sent === '' ? '' : HIDDEN
  }

  return {
    text,

    /** Of headers or parameters. */
    named(found: Iterable<readonly [name: string, value: string]>): Named {
      // Without a prototype: a client may well name a parameter `constructor`.
      const values: Named = Object.create(null)
      for (const [sentName, sent] of found) {
        const name = text(sentName)
        const before = values[name]
        const shown = value(sentName, sent)
        values[name] = before === undefined ? shown : [before, shown].flat()
      }
      return values
    },

    /** As text, or in base64 what is not; `cut` if it is only the beginning, so that its last word may be half a key. */
    body(bytes: Buffer, cut: boolean): string {
      // In latin1 each byte is a character, whatever the bytes mean.
      const all = bytes.toString('latin1')
      const whole = cut ? all.replace(/[^\s"'`&=,:;<>{}()[\]\\/?#|]*$/, '') : all
      const clean = Buffer.from(text(whole.replace(SECRET_FIELDS, hideField)), 'latin1')
      const asText = clean.toString()
      return Buffer.from(asText).equals(clean) ? asText : clean.toString('base64')
    }
  }
}

function hideField(_field: string, inJson: string | undefined, inForm: string | undefined): string {
  return inJson === undefined ? `${inForm}${HIDDEN}` : `${inJson}"${HIDDEN}"`
}

function decoded(word: string): string {
  if (!word.includes('%')) return word
  try {
    return decodeURIComponent(word)
  } catch {
    return word
  }
}
