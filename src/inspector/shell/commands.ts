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

/** Returns the commands whose name contains all words. The words must be in lower case. */
export function findCommands(words: readonly string[]): Action[] {
  return [...registered].flatMap(({ current }) =>
    current.filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)))
  )
}
