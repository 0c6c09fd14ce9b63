/** Returns a function that calls `create` the first time, and returns the same value every time. */
export function lazily<Value>(create: () => Value): () => Value {
  let created: { value: Value } | undefined
  return () => {
    created ??= { value: create() }
    return created.value
  }
}
