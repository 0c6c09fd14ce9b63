/**
 * Returns a function that calls `make` once for the same arguments in JSON, and resolves to the same each time. What is
 * rejected is made anew the next time: for instance when there are file descriptors again.
 */
export function remembered<Arguments extends unknown[], Value>(
  make: (...given: Arguments) => Promise<Value>
): (...given: Arguments) => Promise<Value> {
  const known = new Map<string, Promise<Value>>()
  return (...given) => {
    const key = JSON.stringify(given)
    const value = known.get(key) ?? make(...given)
    if (!known.has(key)) {
      known.set(key, value)
      value.catch(() => known.delete(key))
    }
    return value
  }
}
