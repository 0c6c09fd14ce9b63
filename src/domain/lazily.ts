/** Returns a function that calls `create` on its first call and returns that value every time. */
export function lazily<Value>(create: () => Value): () => Value {
  let created: { value: Value } | undefined
  return () => {
    created ??= { value: create() }
    return created.value
  }
}
