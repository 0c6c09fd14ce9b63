import { type ComponentChildren, createContext } from 'preact'
import { useContext, useEffect, useId, useMemo, useRef, useState } from 'preact/hooks'
import { ConfirmDialog } from '../parts/confirm.js'
import { Dialog } from '../parts/dialog.js'
import { Icon, type IconName } from '../parts/icon.js'
import { useKey } from '../parts/keys.js'
import { useResource } from '../parts/resource.js'

/** Something that one can do, found by its name in the palette (Ctrl-K). */
export interface Command {
  /** What it does, such as `Reset the environment`. */
  name: string
  icon?: IconName
  /** More of what it is about. */
  hint?: string | undefined
  run(): unknown
  /** What is asked first, with the button that does it, where it can't be undone. */
  confirm?: { question: string; button: string }
}

/** Looks for records by a text: each comes as a command that shows it. */
export type Finder = (text: string) => Promise<readonly Command[]>

interface Registry {
  add(commands: () => readonly Command[]): () => void
  setFinder(find: Finder | undefined): void
  open(): void
}

const NOTHING: Registry = { add: () => () => {}, setFinder() {}, open() {} }
const Palette = createContext<Registry>(NOTHING)

/** Offers commands in the palette while the component is there. */
export function useCommands(commands: readonly Command[]): void {
  const registry = useContext(Palette)
  const latest = useRef(commands)
  latest.current = commands
  useEffect(() => registry.add(() => latest.current), [registry])
}

/** Has the palette find records too while the component is there. */
export function useFinder(find: Finder): void {
  const { setFinder } = useContext(Palette)
  useEffect(() => {
    setFinder(find)
    return () => setFinder(undefined)
  }, [setFinder, find])
}

/** Opens the palette. */
export function usePalette(): Pick<Registry, 'open'> {
  return useContext(Palette)
}

export function PaletteProvider({ children }: { children: ComponentChildren }) {
  const [isOpen, setOpen] = useState(false)
  const [asked, setAsked] = useState<Command>()
  const sources = useRef(new Set<() => readonly Command[]>())
  const finder = useRef<Finder | undefined>(undefined)
  const registry = useMemo<Registry>(
    () => ({
      add(source) {
        sources.current.add(source)
        return () => sources.current.delete(source)
      },
      setFinder(find) {
        finder.current = find
      },
      open: () => setOpen(true)
    }),
    []
  )
  useKey('ctrl+k', () => setOpen((open) => !open))
  return (
    <Palette.Provider value={registry}>
      {children}
      {isOpen && (
        <PaletteDialog
          commands={[...sources.current].flatMap((source) => source())}
          find={finder.current}
          close={() => setOpen(false)}
          run={(command) => (command.confirm ? setAsked(command) : command.run())}
        />
      )}
      {asked?.confirm && (
        <ConfirmDialog {...asked.confirm} run={async () => asked.run()} close={() => setAsked(undefined)} />
      )}
    </Palette.Provider>
  )
}

interface DialogProps {
  commands: readonly Command[]
  find: Finder | undefined
  close(): void
  run(command: Command): void
}

function PaletteDialog({ commands, find, close, run }: DialogProps) {
  const [text, setText] = useState('')
  const [index, setIndex] = useState(0)
  const isEntered = useRef(false)
  const id = useId()
  const wanted = text.trim()
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean)
  const { value, error, isLoading } = useResource(
    async () => ({ wanted, records: wanted.length > 1 && find ? await find(wanted) : [] }),
    [wanted, find]
  )
  const isSearching = error === undefined && (isLoading || value?.wanted !== wanted)
  const records = value?.wanted === wanted ? value.records : []
  const found = [...commands.filter(({ name }) => words.every((word) => name.toLowerCase().includes(word))), ...records]
  const chosen = Math.min(index, found.length - 1)
  const choose = (command: Command | undefined) => {
    if (!command) return
    close()
    run(command)
  }
  useEffect(() => {
    document.getElementById(`${id}-${chosen}`)?.scrollIntoView({ block: 'nearest' })
  }, [id, chosen])
  // Who pastes and presses Enter is faster than the search.
  useEffect(() => {
    if (isEntered.current && !isSearching) choose(found[chosen])
    if (!isSearching) isEntered.current = false
  })
  const move = (event: KeyboardEvent) => {
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
        aria-controls={id}
        aria-activedescendant={found[chosen] && `${id}-${chosen}`}
        placeholder="An action, an id, a transactionId, a subscriber, a path"
        value={text}
        autofocus
        spellcheck={false}
        onInput={(event) => {
          setText(event.currentTarget.value)
          setIndex(0)
        }}
        onKeyDown={move}
      />
      <Options {...{ id, found, chosen, choose }} />
      {found.length === 0 && (
        <p class="hint palette-none" role="status">
          {isSearching ? 'Searching…' : 'Nothing is like that.'}
        </p>
      )}
    </Dialog>
  )
}

interface OptionsProps {
  id: string
  found: readonly Command[]
  chosen: number
  choose(command: Command): void
}

function Options({ id, found, chosen, choose }: OptionsProps) {
  return (
    <ul id={id} class="palette" role="listbox" aria-label="What was found">
      {found.map((command, place) => (
        <li
          key={`${command.name} ${command.hint}`}
          id={`${id}-${place}`}
          role="option"
          aria-selected={place === chosen}
          onClick={() => choose(command)}
        >
          {command.icon && <Icon name={command.icon} />}
          <span class="cut" dir="auto">
            {command.name}
          </span>
          {command.hint !== undefined && <span class="hint cut spread">{command.hint}</span>}
        </li>
      ))}
    </ul>
  )
}
