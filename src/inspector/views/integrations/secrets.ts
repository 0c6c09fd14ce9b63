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
  if (typeof value !== 'object' || Array.isArray(value)) return '••••••'
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, hidden(field)]))
}
