import type { Assumptions } from './assumptions.js'

/** The contract's word -> the deployed service's, where the two differ. */
export const VENDOR_NAMES: Readonly<Record<string, string>> = {
  'service-cloud': 'novu-cloud',
  'service-cloud-v1': 'novu-cloud-v1',
  'service-slack': 'novu-slack'
}

/** The fields in which such a word is a name; the same text in a payload or a subject is somebody's text. */
const NAMING_FIELDS = new Set(['origin', 'providerId'])
const FREE_FIELDS = new Set(['payload', 'overrides', 'data', 'controlValues', 'variables', 'dataSchema', 'placeholder'])

/** Whether a document, as JSON text, may need `withVendorNames`. Cheap, and never wrong when it says no. */
export function mayNeedVendorNames(json: string | Buffer, assumptions: Assumptions): boolean {
  return assumptions['vendor-names'] === 'vendor' && json.includes('"service-')
}

/** A copy of a wire document in which each name is spelled as the deployed service spells it. */
export function withVendorNames<Document>(document: Document): Document {
  return translate(document) as Document
}

function translate(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(translate)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([field, inner]) => {
      if (FREE_FIELDS.has(field)) return [field, inner]
      if (NAMING_FIELDS.has(field) && typeof inner === 'string') return [field, VENDOR_NAMES[inner] ?? inner]
      return [field, translate(inner)]
    })
  )
}
