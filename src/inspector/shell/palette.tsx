import { useEffect, useRef, useState } from 'preact/hooks'
import { Dialog } from '../parts/dialog.js'
import { Icon } from '../parts/icon.js'
import type { Action } from '../parts/popover.js'
import { useResource } from '../parts/resource.js'
import { findRecords } from './find.js'
import { useSession } from './session.js'

/** As many as one can look over. */
const MAX_SHOWN = 100

/** What one can do, by name. */
const offered = new Set<{ current: readonly Action[] }>()

/** Offers commands in the palette while the component is there. */
export function useCommands(commands: readonly Action[]): void {
  const latest = useRef(commands)
  latest.current = commands
  useEffect(() => {
    offered.add(latest)
    return () => void offered.delete(latest)
  }, [])
}

/** Finds what one can do, and the records of the environment, by one line. */
export function Palette({ close }: { close: () => void }) {
  const [text, setText] = useState('')
  const [index, setIndex] = useState(0)
  const isEntered = useRef(false)
  const list = useRef<HTMLUListElement>(null)
  const session = useSession()
  const wanted = text.trim()
  const words = wanted.toLowerCase().split(/\s+/)
  const { value, error } = useResource(
    async () => ({ wanted, records: await findRecords(session, wanted) }),
    [wanted]
  )
  const isSearching = error === undefined && value?.wanted !== wanted
  const isNamed = ({ name }: Action) => words.every((word) => name.toLowerCase().includes(word))
  const named = [...offered].flatMap(({ current }) => current.filter(isNamed)).slice(0, MAX_SHOWN)
  const found: readonly Action[] = [...named, ...(isSearching ? [] : (value?.records ?? []))]
  const chosen = Math.max(0, Math.min(index, found.length - 1))
  const choose = (command?: Action) => {
    if (!command) return
    close()
    command.run()
  }
  useEffect(() => list.current?.children[chosen]?.scrollIntoView({ block: 'nearest' }), [chosen])
  // Who pastes and presses Enter is faster than the search.
  useEffect(() => {
    if (isSearching || !isEntered.current) return
    isEntered.current = false
    choose(found[chosen])
  })
  const press = (event: KeyboardEvent) => {
    if (event.key === 'Enter') {
      isEntered.current = found.length === 0
      choose(found[chosen])
    } else if (event.key === 'ArrowDown') setIndex(Math.min(found.length - 1, chosen + 1))
    else if (event.key === 'ArrowUp') setIndex(Math.max(0, chosen - 1))
    else return
    event.preventDefault()
  }
  return (
    <Dialog title="Find anything" close={close} isBare>
      <input
        type="text"
        class="palette-field"
        role="combobox"
        aria-label="Find an action or a record"
        aria-expanded="true"
        aria-controls="found"
        aria-activedescendant={found[chosen] && `found-${chosen}`}
        placeholder="An action, an id, a transactionId, a subscriber, a path"
        value={text}
        autofocus
        spellcheck={false}
        onInput={(event) => {
          setText(event.currentTarget.value)
          setIndex(0)
        }}
        onKeyDown={press}
      />
      <ul id="found" ref={list} class="menu palette" role="listbox" aria-label="What was found">
        {found.map((command, place) => (
          <li
            id={`found-${place}`}
            role="option"
            aria-selected={place === chosen}
            onClick={() => choose(command)}
          >
            {command.icon && <Icon name={command.icon} />}
            <span class="cut" dir="auto">
              {command.name}
            </span>
            <span class="hint cut">{command.hint}</span>
          </li>
        ))}
      </ul>
      {found.length === 0 && (
        <p class="hint empty" role="status">
          {isSearching ? 'Searching…' : 'Nothing is like that.'}
        </p>
      )}
    </Dialog>
  )
}
