import { VENDOR_NAMES } from '../core/vendor-names.js'

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

/** Returns the names in a value that the contract and the deployed service spell differently. */
export function spelledNames(value: unknown): { contract: string[]; vendor: string[] } {
  const names = { contract: [] as string[], vendor: [] as string[] }
  JSON.stringify(value ?? null, (field, inner) => {
    if (NAME_FIELDS.includes(field) && Object.hasOwn(VENDOR_NAMES, String(inner))) names.contract.push(inner)
    if (NAME_FIELDS.includes(field) && CONTRACT_NAMES.has(inner)) names.vendor.push(inner)
    return inner
  })
  return names
}
