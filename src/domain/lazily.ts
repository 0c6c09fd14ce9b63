/**
 * Returns a function that calls `create` on its first call, and returns the created value on every
 * call.
 */
export function lazily<Value>(create: () => Value): () => Value {
  let created: { value: Value } | undefined
  return () => {
    created ??= { value: create() }
    return created.value
  }
}
