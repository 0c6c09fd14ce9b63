import { useEffect, useRef } from 'preact/hooks'
import type { Action } from '../parts/popover.js'

/** The commands that the mounted components offer. */
const registered = new Set<{ current: readonly Action[] }>()

/** Adds commands to the palette while the calling component is mounted. */
export function useCommands(commands: readonly Action[]): void {
  const latest = useRef(commands)
  latest.current = commands
  useEffect(() => {
    registered.add(latest)
    return () => {
      registered.delete(latest)
    }
  }, [])
}

/** The palette shows at most this many read-only commands, and at most this many other commands. */
const MAX_COMMANDS = 100

/**
 * Searches the registered commands and `others`. Returns the commands whose names contain all
 * words, read-only commands first. The words must be in lower case.
 */
export function findCommands(words: readonly string[], others: readonly Action[]): Action[] {
  const commands = [...others, ...[...registered].flatMap(({ current }) => current)]
  const matches = commands.filter(({ name }) =>
    words.every((word) => name.toLowerCase().includes(word))
  )
  const readOnly = matches.filter(({ isReadOnly }) => isReadOnly)
  const changing = matches.filter(({ isReadOnly }) => !isReadOnly)
  return [...readOnly.slice(0, MAX_COMMANDS), ...changing.slice(0, MAX_COMMANDS)]
}
