/**
 * Returns an object that prepares each statement when it is first used. Preparing all statements at
 * once would double the time of `createMock()`, and most tests use only a few of them.
 */
export function preparedOnUse<Prepare extends Record<string, () => unknown>>(
  prepare: Prepare
): { readonly [Name in keyof Prepare]: ReturnType<Prepare[Name]> } {
  const statements = {}
  for (const [name, prepareStatement] of Object.entries(prepare)) {
    Object.defineProperty(statements, name, {
      configurable: true,
      get() {
        const statement = prepareStatement()
        // From now on, the property is a plain value, which is faster to read than a getter.
        Object.defineProperty(statements, name, { value: statement })
        return statement
      }
    })
  }
  return statements as { readonly [Name in keyof Prepare]: ReturnType<Prepare[Name]> }
}
