import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { Icon } from './icon.js'
import { useKey } from './keys.js'
import { List, type ListProps } from './list.js'
import { Close, Pane, Panes } from './pane.js'

interface SearchProps {
  label: string
  placeholder: string
  /** What else it understands. */
  hint?: string
  text: string
  /** Called at each letter, or at Enter if each search asks the server. */
  change(text: string): void
  isByEnter?: boolean
  /** After it: how many there are, and what one can do. */
  children?: ComponentChildren
}

/** The line by which a list is searched; `/` leads to it, and the arrow down from it to the list. */
export function SearchLine({ label, placeholder, hint, text, change, isByEnter, children }: SearchProps) {
  const field = useRef<HTMLInputElement>(null)
  useKey('/', () => field.current?.focus())
  const changed = () => change(field.current?.value ?? '')
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
        key={isByEnter ? text : undefined}
        type="search"
        {...(isByEnter ? { defaultValue: text, onChange: changed } : { value: text, onInput: changed })}
        aria-label={label}
        placeholder={placeholder}
        title={hint}
        dir="auto"
        spellcheck={false}
        onKeyDown={enterList}
      />
      {children}
    </search>
  )
}

interface Props<Item> extends Omit<ListProps<Item>, 'isAimed'> {
  title: string
  search: Omit<SearchProps, 'label'>
  /** In place of a list that has nothing in it. */
  nothing: ComponentChildren
  /** The pane with what is open, or with what may be opened. */
  open: ComponentChildren
  /** Whether the address names what is open. */
  isOpen: boolean
}

/** A view of records: a search line, their list, and beside it the one that is open. */
export function ListView<Item>({ title, search, nothing, open, isOpen, ...list }: Props<Item>) {
  const name = title.toLowerCase()
  return (
    <div class="view">
      <h1 class="visually-hidden">{title}</h1>
      <Panes isOpen={isOpen}>
        <Pane label={`All ${name}`} head={<SearchLine label={`Search ${name}`} {...search} />}>
          {list.items.length === 0 ? nothing : <List {...list} isAimed={isOpen} />}
        </Pane>
        {open}
      </Panes>
    </div>
  )
}

/** In place of what is open. */
export function NothingOpen({ back, children }: { back: string | undefined; children: ComponentChildren }) {
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
