import type { Assumptions } from './assumptions.js'

/** The contract's word -> the deployed service's, where the two differ. */
export const VENDOR_NAMES: Readonly<Record<string, string>> = {
  'service-cloud': 'novu-cloud',
  'service-cloud-v1': 'novu-cloud-v1',
  'service-slack': 'novu-slack'
}

interface Places {
  readonly [field: string]: Places | typeof NAME
}
const NAME = 'name'

/**
 * The fields that lead to a name, in a step, a message or an integration; a list is gone through. The same text
 * anywhere else is somebody's text: in a subject, a condition, or an object whose contents the contract leaves free.
 */
const PLACES: Places = {
  origin: NAME,
  providerId: NAME,
  subscriber: { channels: { providerId: NAME } }
}

/** Whether a document, as JSON text, may need `withVendorNames`. Cheap, and never wrong when it says no. */
export function mayNeedVendorNames(json: string | Buffer, assumptions: Assumptions): boolean {
  return assumptions['vendor-names'] === 'vendor' && json.includes('"service-')
}

/** A copy of a wire document, or of a list of them, in which each name is spelled as the deployed service spells it. */
export function withVendorNames<Document>(document: Document): Document {
  return spelled(document, PLACES) as Document
}

function spelled(value: unknown, places: Places | typeof NAME): unknown {
  if (Array.isArray(value)) return value.map((each) => spelled(each, places))
  if (places === NAME) return Object.hasOwn(VENDOR_NAMES, String(value)) ? VENDOR_NAMES[String(value)] : value
  if (typeof value !== 'object' || value === null) return value
  const copy: Record<string, unknown> = { ...value }
  for (const [field, inside] of Object.entries(places)) {
    if (Object.hasOwn(copy, field)) copy[field] = spelled(copy[field], inside)
  }
  return copy
}
