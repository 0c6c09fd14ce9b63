const MAX_SHOWN = 200_000

/** A value as indented JSON, or a text as it is. Very long ones are cut, and say so. */
export function Json({ value, label }: { value: unknown; label: string }) {
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
  const isCut = text.length > MAX_SHOWN
  return (
    <>
      <pre class="json" role="region" aria-label={label} tabIndex={0} dir="ltr">
        {isCut ? text.slice(0, MAX_SHOWN) : text}
      </pre>
      {isCut && (
        <p class="hint">
          Cut after {MAX_SHOWN.toLocaleString()} of {text.length.toLocaleString()} characters.
        </p>
      )}
    </>
  )
}
