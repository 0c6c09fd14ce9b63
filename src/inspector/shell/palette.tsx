import { useEffect, useRef, useState } from 'preact/hooks'
import { Dialog } from '../parts/dialog.js'
import { Icon } from '../parts/icon.js'
import type { Action } from '../parts/popover.js'
import { useResource } from '../parts/resource.js'
import { findCommands } from './commands.js'
import { findRecords } from './record-search.js'
import { useSession } from './session.js'

const MAX_COMMANDS = 100

/** A dialog that searches commands and the environment's records. */
export function Palette({ close }: { close: () => void }) {
  const [text, setText] = useState('')
  const [index, setIndex] = useState(0)
  const { results, isSearching } = usePaletteResults(text.trim())
  const selected = Math.max(0, Math.min(index, results.length - 1))
  const run = (action?: Action) => {
    if (!action) return
    close()
    action.run()
  }
  const runWhenFound = useRunWhenFound(isSearching, () => run(results[selected]))
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter') {
      if (results.length === 0) runWhenFound()
      run(results[selected])
    } else if (event.key === 'ArrowDown') setIndex(Math.min(results.length - 1, selected + 1))
    else if (event.key === 'ArrowUp') setIndex(Math.max(0, selected - 1))
    else return
    event.preventDefault()
  }
  const onInput = (input: string) => {
    setText(input)
    setIndex(0)
  }
  return (
    <Dialog title="Find anything" close={close} isBare>
      <input
        type="text"
        class="palette-field"
        role="combobox"
        aria-label="Find an action or a record"
        aria-expanded="true"
        aria-controls="results"
        aria-activedescendant={results[selected] && `result-${selected}`}
        placeholder="Action, id, transactionId, subscriber or path"
        value={text}
        autofocus
        spellcheck={false}
        onInput={(event) => onInput(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <Results results={results} selected={selected} run={run} />
      {results.length === 0 && (
        <p class="hint empty" role="status">
          {isSearching ? 'Searching…' : 'No matches'}
        </p>
      )}
    </Dialog>
  )
}

/** Returns the matching commands immediately, and adds matching records when the search ends. */
function usePaletteResults(text: string) {
  const session = useSession()
  const { value, error } = useResource(
    async () => ({ text, records: await findRecords(session, text) }),
    [text]
  )
  const isSearching = error === undefined && value?.text !== text
  const commands = findCommands(text.toLowerCase().split(/\s+/)).slice(0, MAX_COMMANDS)
  const records = isSearching ? [] : (value?.records ?? [])
  return { results: [...commands, ...records], isSearching }
}

/**
 * Returns a function that calls `run` as soon as the search has ended, because people who paste an
 * id press Enter before the results are there.
 */
function useRunWhenFound(isSearching: boolean, run: () => void): () => void {
  const isPending = useRef(false)
  useEffect(() => {
    if (isSearching || !isPending.current) return
    isPending.current = false
    run()
  })
  return () => {
    isPending.current = true
  }
}

interface ResultsProps {
  results: readonly Action[]
  selected: number
  run(action: Action): void
}

function Results({ results, selected, run }: ResultsProps) {
  const list = useRef<HTMLUListElement>(null)
  useEffect(
    () => list.current?.children[selected]?.scrollIntoView({ block: 'nearest' }),
    [selected]
  )
  return (
    <ul id="results" ref={list} class="menu palette" role="listbox" aria-label="Results">
      {results.map((action, index) => (
        <li
          id={`result-${index}`}
          role="option"
          aria-selected={index === selected}
          onClick={() => run(action)}
        >
          {action.icon && <Icon name={action.icon} />}
          <span class="cut" dir="auto">
            {action.name}
          </span>
          <span class="hint cut">{action.hint}</span>
        </li>
      ))}
    </ul>
  )
}
