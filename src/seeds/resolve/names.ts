import type { Static, TObject } from '@sinclair/typebox'

/** Names that are taken, each with the last suffix that was tried for it. */
export type TakenNames = Map<string | undefined, number>

/** Returns the first of `base`, `base-2`, `base-3`, … that is not taken, and takes it. */
export function unusedName(
  base: string,
  taken: TakenNames,
  isStored: (name: string) => boolean = () => false
): string {
  let name = base
  let suffix = taken.get(base) ?? 1
  while (taken.has(name) || isStored(name)) {
    suffix += 1
    name = `${base}-${suffix}`
  }
  taken.set(base, suffix)
  if (name !== base) taken.set(name, 1)
  return name
}

/** Returns a copy with the defined fields in the order of the schema. */
export function pickDefined<Schema extends TObject, Document extends Static<Schema>>(
  schema: Schema,
  document: Document
) {
  const entries = Object.keys(schema.properties)
    .map((name) => [name, document[name as never]] as const)
    .filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as Document
}
