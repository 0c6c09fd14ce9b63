import { VENDOR_NAMES } from '../domain/assumptions.js'

/** The deployed service's words -> the contract's. */
export const CONTRACT_NAMES: ReadonlyMap<unknown, string> = new Map(
  Object.entries(VENDOR_NAMES).map(([name, vendor]) => [vendor, name])
)

/** The fields that hold a name which the deployed service spells otherwise. */
const NAME_FIELDS = ['origin', 'providerId']

/** Returns a copy with the contract's names in place of the deployed service's. */
export function withContractNames(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? null), (field, inner) =>
    NAME_FIELDS.includes(field) ? (CONTRACT_NAMES.get(inner) ?? inner) : inner
  )
}
