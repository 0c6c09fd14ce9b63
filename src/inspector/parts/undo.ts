import type { Action } from './popover.js'

interface UndoEntry {
  text: string
  undo(): unknown
}

/** The maximum length of the undo list. Older actions can be undone only from their toasts. */
const MAX_ENTRIES = 20

let entries: readonly UndoEntry[] = []

/**
 * Adds an action to the undo list. `text` says what the action did. Returns a function that undoes
 * the action and removes it from the list.
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

/** Returns the command that undoes the newest action, or `[]` if the undo list is empty. */
export function undoCommands(): Action[] {
  const newest = entries.at(-1)
  return newest ? [{ name: `Undo: ${newest.text}`, run: () => runUndo(newest) }] : []
}

/** Clears the undo list. Called when the inspector stops showing the actions' environment. */
export function clearUndo(): void {
  entries = []
}
