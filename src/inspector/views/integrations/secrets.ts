const HIDDEN = '••••••'
const MASKED = new Set(['credentials', 'configurations'])

/** Returns a value with all that `credentials` and `configurations` hold in it hidden, at any depth. */
export function maskSecrets(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(maskSecrets)
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, MASKED.has(name) ? hidden(field) : maskSecrets(field)])
  )
}

function hidden(value: unknown): unknown {
  if (typeof value === 'boolean' || value === null) return value
  if (typeof value !== 'object' || Array.isArray(value)) return HIDDEN
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, hidden(field)]))
}

/** Returns a value with what is still hidden in it as it was before. */
export function unmasked(value: unknown, before: unknown): unknown {
  if (value === HIDDEN) return before
  if (typeof value !== 'object' || value === null) return value
  const former = (typeof before === 'object' && before !== null ? before : {}) as Record<string, unknown>
  if (Array.isArray(value)) return value.map((each, index) => unmasked(each, former[index]))
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, unmasked(each, former[name])]))
}
