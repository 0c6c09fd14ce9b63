import type { Assumptions } from './assumptions.js'

/** The contract's word -> the deployed service's, where the two differ. */
export const VENDOR_NAMES: Readonly<Record<string, string>> = {
  'service-cloud': 'novu-cloud',
  'service-cloud-v1': 'novu-cloud-v1',
  'service-slack': 'novu-slack'
}

interface NameFields {
  readonly [field: string]: NameFields | typeof NAME
}
const NAME = 'name'

/** The fields of a step, message or integration that hold a name. In any other field the same text is content. */
const NAME_FIELDS: NameFields = {
  origin: NAME,
  providerId: NAME,
  subscriber: { channels: { providerId: NAME } }
}

/** Returns whether a document, as JSON, may need `withVendorNames`. It is cheap, and may say yes without need. */
export function mayNeedVendorNames(json: string | Buffer, assumptions: Assumptions): boolean {
  return assumptions['vendor-names'] === 'vendor' && json.includes('"service-')
}

/** Returns a copy of a document, or of a list of them, with the names of the deployed service. */
export function withVendorNames<Document>(document: Document): Document {
  return translate(document, NAME_FIELDS) as Document
}

function translate(value: unknown, fields: NameFields | typeof NAME): unknown {
  if (Array.isArray(value)) return value.map((each) => translate(each, fields))
  if (fields === NAME) return Object.hasOwn(VENDOR_NAMES, String(value)) ? VENDOR_NAMES[String(value)] : value
  if (typeof value !== 'object' || value === null) return value
  const copy: Record<string, unknown> = { ...value }
  for (const [field, inside] of Object.entries(fields)) {
    if (Object.hasOwn(copy, field)) copy[field] = translate(copy[field], inside)
  }
  return copy
}
