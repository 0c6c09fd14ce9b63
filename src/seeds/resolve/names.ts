import type { Static, TObject } from '@sinclair/typebox'

/** Maps each taken name to the last suffix that `unusedName` tried for it. */
export type TakenNames = Map<string | undefined, number>

/** Returns the first unused name of `base`, `base-2`, `base-3`, …, and marks it as taken. */
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

/** Returns a copy with the fields in the schema's order. Omits undefined fields. */
export function pickDefined<Schema extends TObject, Document extends Static<Schema>>(
  schema: Schema,
  document: Document
) {
  const entries = Object.keys(schema.properties)
    .map((name) => [name, document[name as never]] as const)
    .filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as Document
}
