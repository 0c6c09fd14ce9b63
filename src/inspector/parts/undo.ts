import type { Action } from './popover.js'

interface UndoEntry {
  text: string
  undo(): unknown
}

/** The maximum number of actions that can be undone after their toasts are gone. */
const MAX_ENTRIES = 20

let entries: readonly UndoEntry[] = []

/**
 * Adds an action that can be undone. `text` says what the action did. Returns a function that
 * undoes the action and removes it.
 */
export function addUndo(text: string, undo: () => unknown): () => unknown {
  const entry = { text, undo }
  entries = [...entries, entry].slice(-MAX_ENTRIES)
  return () => runUndo(entry)
}

function runUndo(entry: UndoEntry): unknown {
  entries = entries.filter((other) => other !== entry)
  return entry.undo()
}

/**
 * Returns a list with the command that undoes the newest action. It is empty if there is no action.
 */
export function undoCommands(): Action[] {
  const newest = entries.at(-1)
  return newest ? [{ name: `Undo: ${newest.text}`, run: () => runUndo(newest) }] : []
}

/** Forgets all actions, because they belong to an environment that is no longer shown. */
export function clearUndo(): void {
  entries = []
}
