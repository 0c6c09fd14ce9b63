/**
 * Returns a function that calls `create` once, on its first call, and always returns that value.
 */
export function lazily<Value>(create: () => Value): () => Value {
  let created: { value: Value } | undefined
  return () => {
    created ??= { value: create() }
    return created.value
  }
}
