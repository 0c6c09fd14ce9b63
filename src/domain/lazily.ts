/** Returns a function that calls `make` the first time, and returns what it made each time. For what no start waits for. */
export function lazily<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
