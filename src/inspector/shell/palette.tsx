import { type ComponentChildren, createContext } from 'preact'
import { useContext, useEffect, useId, useMemo, useRef, useState } from 'preact/hooks'
import { ConfirmDialog } from '../parts/confirm.js'
import { Dialog } from '../parts/dialog.js'
import { useKey } from '../parts/keys.js'

/** Something that one can do, found by its name in the palette (Ctrl-K). */
export interface Command {
  /** What it does, such as `Reset the environment`. */
  name: string
  run(): unknown
  /** What is asked first, with the button that does it, where it can't be undone. */
  confirm?: { question: string; button: string }
}

interface Registry {
  add(commands: () => readonly Command[]): () => void
  open(): void
}

const Palette = createContext<Registry>({ add: () => () => {}, open: () => {} })

/** Offers commands in the palette while the component is there. */
export function useCommands(commands: readonly Command[]): void {
  const registry = useContext(Palette)
  const latest = useRef(commands)
  latest.current = commands
  useEffect(() => registry.add(() => latest.current), [registry])
}

/** Opens the palette. */
export function usePalette(): Pick<Registry, 'open'> {
  return useContext(Palette)
}

export function PaletteProvider({ children }: { children: ComponentChildren }) {
  const [isOpen, setOpen] = useState(false)
  const [asked, setAsked] = useState<Command>()
  const sources = useRef(new Set<() => readonly Command[]>())
  const registry = useMemo<Registry>(
    () => ({
      add(source) {
        sources.current.add(source)
        return () => sources.current.delete(source)
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

function PaletteDialog({
  commands,
  close,
  run
}: {
  commands: readonly Command[]
  close: () => void
  run: (command: Command) => void
}) {
  const [text, setText] = useState('')
  const [index, setIndex] = useState(0)
  const id = useId()
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const found = commands.filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)))
  const chosen = Math.min(index, found.length - 1)
  useEffect(() => {
    document.getElementById(`${id}-${chosen}`)?.scrollIntoView({ block: 'nearest' })
  }, [id, chosen])
  const choose = (command: Command | undefined) => {
    if (!command) return
    close()
    run(command)
  }
  const move = (event: KeyboardEvent) => {
    if (event.key === 'Enter') choose(found[chosen])
    else if (event.key === 'ArrowDown') setIndex(Math.min(found.length - 1, chosen + 1))
    else if (event.key === 'ArrowUp') setIndex(Math.max(0, chosen - 1))
    else return
    event.preventDefault()
  }
  return (
    <Dialog title="What do you want to do?" close={close}>
      <input
        type="text"
        role="combobox"
        aria-label="Find a command"
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={found[chosen] && `${id}-${chosen}`}
        value={text}
        autofocus
        onInput={(event) => {
          setText(event.currentTarget.value)
          setIndex(0)
        }}
        onKeyDown={move}
      />
      <ul id={id} class="menu palette" role="listbox" aria-label="Commands">
        {found.map((command, place) => (
          <li
            key={command.name}
            id={`${id}-${place}`}
            role="option"
            aria-selected={place === chosen}
            onClick={() => choose(command)}
          >
            {command.name}
          </li>
        ))}
      </ul>
      {found.length === 0 && <p class="hint">Nothing is called so.</p>}
    </Dialog>
  )
}
