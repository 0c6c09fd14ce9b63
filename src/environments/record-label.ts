import type { DatasetKind } from '../domain/enums.js'
import { shorten } from '../domain/shorten.js'
import { isObject } from '../schema/validation.js'
import type { Redact } from './schemas.js'

const MAX_LENGTH = 100
/** A text is cut to this length before its tags are removed. */
const MAX_LENGTH_WITH_TAGS = 2000

/**
 * Returns a short label for a record, with secrets masked. For a message, the label is the channel
 * and the subject or text. For any other record, it is the name, or undefined if there is no name.
 * `json` is the record's content.
 */
export function recordLabel(kind: DatasetKind, json: string, redact: Redact): string | undefined {
  if (kind === 'idempotency') return undefined
  const record = JSON.parse(json)
  // Mask before cutting, because a part of a secret can't be recognized.
  const text = toShortText(redact(nameOf(kind, record)))
  if (kind === 'messages') return text ? `${record.channel}: ${text}` : record.channel
  return text || undefined
}

function nameOf(kind: DatasetKind, record: Record<string, unknown>): string {
  if (kind === 'messages') {
    return textOf(record.subject) || textOf(record.title) || contentOf(record.content)
  }
  if (kind !== 'subscribers') return textOf(record.name)
  const { firstName, lastName, email } = record
  return [firstName, lastName].map(textOf).filter(Boolean).join(' ') || textOf(email)
}

/** Returns the name of the step that contains the field at this path, if there is one. */
export function stepName(
  { steps }: Record<string, unknown>,
  [first, stepId = '']: readonly string[]
): string | undefined {
  if (first !== 'steps' || !isObject(steps) || !Object.hasOwn(steps, stepId)) return undefined
  const step = steps[stepId]
  return isObject(step) ? textOf(step.name) || undefined : undefined
}

/** Returns the text of a message. The content of an email may be a list of blocks. */
function contentOf(content: unknown): string {
  if (!Array.isArray(content)) return textOf(content)
  return content.map((block) => textOf(block.content)).join(' ')
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : '')

/** Removes HTML tags and line breaks from a text, and shortens it. */
function toShortText(text: string): string {
  const plain = text
    .slice(0, MAX_LENGTH_WITH_TAGS)
    .replace(/<style[\s\S]*?<\/style>|<[^<>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
  return shorten(plain, MAX_LENGTH)
}
