import { useEffect, useRef, useState } from 'preact/hooks'
import { Dialog } from '../parts/dialog.js'
import { Icon } from '../parts/icon.js'
import type { Action } from '../parts/popover.js'
import { useResource } from '../parts/resource.js'
import { undoCommands } from '../parts/undo.js'
import { usePrimaryCommands } from '../views/integrations/primary.js'
import { findCommands } from './commands.js'
import { findRecords } from './record-search.js'
import { useSession } from './session.js'

/**
 * A dialog that searches commands and the environment's records. It preselects the first read-only
 * result, because people press Enter before they have read the results.
 */
export function Palette({ close }: { close: () => void }) {
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState<number>()
  const { results, isSearching } = usePaletteResults(text.trim())
  const preselected = results.findIndex(({ isReadOnly }) => isReadOnly)
  const selected = Math.min(chosen ?? preselected, results.length - 1)
  const run = (action?: Action) => {
    if (!action) return
    close()
    action.run()
  }
  const runWhenFound = useRunWhenFound(isSearching, () => run(results[selected]))
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter') {
      if (selected === -1) runWhenFound()
      run(results[selected])
    } else if (results.length === 0) return
    else if (event.key === 'ArrowDown') setChosen(Math.min(results.length - 1, selected + 1))
    else if (event.key === 'ArrowUp') setChosen(Math.max(0, selected - 1))
    else return
    event.preventDefault()
  }
  const onInput = (input: string) => {
    setText(input)
    setChosen(undefined)
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
      <p class="hint palette-status" role="status">
        {statusOf(results, selected, isSearching)}
      </p>
    </Dialog>
  )
}

function statusOf(results: readonly Action[], selected: number, isSearching: boolean) {
  if (selected >= 0) return null
  if (isSearching) return 'Searching…'
  return results.length === 0 ? 'No matches' : 'Press ↓ to choose an action that changes something.'
}

/** Returns the matching commands immediately, and adds matching records when the search ends. */
function usePaletteResults(text: string) {
  const session = useSession()
  const primaryCommands = usePrimaryCommands()
  const { value, error } = useResource(
    async () => ({ text, records: await findRecords(session, text) }),
    [text]
  )
  const isSearching = error === undefined && value?.text !== text
  const words = text.toLowerCase().split(/\s+/)
  const commands = findCommands(words, [...undoCommands(), ...primaryCommands])
  const records = isSearching ? [] : (value?.records ?? [])
  return { results: [...commands, ...records], isSearching }
}

/**
 * Returns a function that calls `run` as soon as the search has ended. Needed because people paste
 * an id and press Enter before the results have arrived.
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
          <span class="palette-icon">{action.icon && <Icon name={action.icon} />}</span>
          <span dir="auto">
            {action.name} <bdi class="hint">{action.hint}</bdi>
          </span>
        </li>
      ))}
    </ul>
  )
}
