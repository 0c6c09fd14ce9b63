import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { Icon } from './icon.js'
import { useShortcut } from './keyboard.js'

interface Props {
  label: string
  placeholder: string
  text: string
  /** Called on every input, or on Enter if `isByEnter` is set. */
  change(text: string): void
  /** Whether a search starts on Enter, because the server runs it. */
  isByEnter?: boolean
  /** Shown after the field: the number of results, and actions. */
  children?: ComponentChildren
}

/**
 * The search field of a list. `/` moves the focus to it, and the down arrow from it to the list.
 */
export function SearchLine({ label, placeholder, text, change, isByEnter, children }: Props) {
  const field = useRef<HTMLInputElement>(null)
  useShortcut('/', () => field.current?.focus())
  const onEdit = () => change(field.current?.value ?? '')
  // Uncontrolled, so that typed text stays in the field until the search starts.
  useLayoutEffect(() => {
    if (field.current) field.current.value = text
  }, [text])
  const moveToList = (event: KeyboardEvent) => {
    if (event.key !== 'ArrowDown') return
    event.preventDefault()
    field.current?.closest('.pane')?.querySelector<HTMLElement>('[data-item]')?.focus()
  }
  return (
    <search class="search-line">
      <Icon name="find" />
      <input
        ref={field}
        type="search"
        onInput={isByEnter ? undefined : onEdit}
        onChange={isByEnter ? onEdit : undefined}
        aria-label={label}
        placeholder={placeholder}
        dir="auto"
        spellcheck={false}
        onKeyDown={moveToList}
      />
      {children}
    </search>
  )
}
