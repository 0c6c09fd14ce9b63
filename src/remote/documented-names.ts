import { VENDOR_NAMES } from '../domain/assumptions.js'

/** Maps Novu's spelling of an origin or provider to the spelling in the API reference. */
export const DOCUMENTED_NAMES: ReadonlyMap<unknown, string> = new Map(
  Object.entries(VENDOR_NAMES).map(([documented, vendor]) => [vendor, documented])
)

/** The fields whose values Novu spells differently from the API reference. */
const NAME_FIELDS = ['origin', 'providerId']

/** Returns a copy with origins and providers spelled as in the API reference. */
export function withDocumentedNames(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? null), (field, inner) =>
    NAME_FIELDS.includes(field) ? (DOCUMENTED_NAMES.get(inner) ?? inner) : inner
  )
}
