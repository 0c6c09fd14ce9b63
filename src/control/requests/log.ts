import type { FastifyRequest } from 'fastify'
import { decode, HIDDEN, redactionOf, type Secrets, withoutLastWord } from './redaction.js'

/** How much of a text is looked at, as each word takes a query, and logged. */
const MAX_LENGTH = 8192

/** A key in the form in which keys are made: it may be that of another server, or of an environment that was removed. */
const KEY_FORM = /(?<![0-9a-z])[0-9a-f]{32}(?![0-9a-z])/gi

/**
 * Returns a text about a request as a log may have it: without API keys and the admin token, wherever in the request they
 * were sent, and without what has the form of a key.
 */
export function redactedForLog(secrets: Secrets, { url, headers }: FastifyRequest, text: string): string {
  const redaction = redactionOf(secrets, headers.authorization)
  const cut = text.length > MAX_LENGTH ? `${withoutLastWord(text.slice(0, MAX_LENGTH))}...` : text
  // A key may contain characters that delimit words.
  const encodedKeys = url
    .slice(0, MAX_LENGTH)
    .split(/[/?&=]/)
    .filter((part) => part.includes('%') && isEncodedKey(part))
  const rest = encodedKeys.reduce((left, part) => left.replaceAll(part, HIDDEN).replaceAll(decode(part), HIDDEN), cut)
  return redaction.text(rest).replace(KEY_FORM, HIDDEN)

  function isEncodedKey(part: string): boolean {
    return secrets.environments.isApiKey(decode(part)) || decode(part) === secrets.adminToken
  }
}
