import { useRef } from 'preact/hooks'
import { enterList, useKey } from './keys.js'

/** The search field of a view: `/` goes to it, and the arrow down from it to the list. */
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
      onKeyDown={enterList}
    />
  )
}
