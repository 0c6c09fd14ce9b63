import { useRef } from 'preact/hooks'
import { useKey } from './keys.js'

/** The search field of a view; `/` goes to it. */
export function Search({ value, label, change }: { value: string; label: string; change: (value: string) => void }) {
  const ref = useRef<HTMLInputElement>(null)
  useKey('/', () => ref.current?.focus())
  return (
    <input
      ref={ref}
      type="search"
      value={value}
      aria-label={label}
      placeholder={`${label}  /`}
      dir="auto"
      onInput={(event) => change(event.currentTarget.value)}
    />
  )
}
