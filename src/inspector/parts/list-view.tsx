import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { Icon } from './icon.js'
import { useKey } from './keys.js'
import { Close, Pane } from './pane.js'

interface SearchProps {
  label: string
  placeholder: string
  text: string
  /** Called at each letter, or at Enter if each search asks the server. */
  change(text: string): void
  isByEnter?: boolean
  /** After it: how many there are, and what one can do. */
  children?: ComponentChildren
}

/** The line by which a list is searched; `/` leads to it, and the arrow down from it to the list. */
export function SearchLine({ label, placeholder, text, change, isByEnter, children }: SearchProps) {
  const field = useRef<HTMLInputElement>(null)
  useKey('/', () => field.current?.focus())
  const changed = () => change(field.current?.value ?? '')
  // What is typed stays until it is searched for.
  useLayoutEffect(() => {
    if (field.current) field.current.value = text
  }, [text])
  const enterList = (event: KeyboardEvent) => {
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
        {...(isByEnter ? { onChange: changed } : { onInput: changed })}
        aria-label={label}
        placeholder={placeholder}
        dir="auto"
        spellcheck={false}
        onKeyDown={enterList}
      />
      {children}
    </search>
  )
}

/** In place of a list that has nothing in it: why, and what to do. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  )
}

/** In place of what is open. */
export function NothingOpen({
  back,
  children
}: {
  back: string | undefined
  children: ComponentChildren
}) {
  const head = back !== undefined && (
    <div class="head">
      <Close back={back} />
    </div>
  )
  return (
    <Pane label="Nothing open" head={head}>
      <p class="empty" dir="auto">
        {children}
      </p>
    </Pane>
  )
}
