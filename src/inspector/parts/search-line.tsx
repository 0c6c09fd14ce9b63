import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { Icon } from './icon.js'
import { useShortcut } from './keyboard.js'

interface Props {
  label: string
  placeholder: string
  text: string
  /** Called after each edit, or on Enter if `isByEnter` is set. */
  change(text: string): void
  /**
   * Whether a search starts only on Enter. Set if the server runs the search, to avoid a request
   * for each typed letter.
   */
  isByEnter?: boolean
  /** Whether the field gets the focus when its dialog opens. */
  isFocused?: boolean
  /** Content after the field, such as the number of results. */
  children?: ComponentChildren
}

/**
 * The search field of a list. The `/` key focuses the field, and the down arrow moves to the list.
 */
export function SearchLine({
  label,
  placeholder,
  text,
  change,
  isByEnter,
  isFocused,
  children
}: Props) {
  const field = useRef<HTMLInputElement>(null)
  useShortcut('/', () => field.current?.focus())
  const onEdit = () => change(field.current?.value ?? '')
  // The field is uncontrolled, so that typed text stays in it until the search starts.
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
        autofocus={isFocused}
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
