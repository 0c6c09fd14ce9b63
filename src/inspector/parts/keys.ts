import { useEffect } from 'preact/hooks'

const TYPED_INTO = 'input:not([type="checkbox"], [type="radio"]), textarea'

/**
 * Calls a handler for a key such as `/` or `ctrl+k` (also by Cmd), unless one types a text. A menu takes letters, by which
 * one chooses in it.
 */
export function useKey(key: string, handle: (event: KeyboardEvent) => void): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const hasModifier = event.ctrlKey || event.metaKey
      if (`${hasModifier ? 'ctrl+' : ''}${event.altKey ? 'alt+' : ''}${event.key.toLowerCase()}` !== key) return
      const isTyping = (event.target as Element).matches?.(key === '/' ? TYPED_INTO : `${TYPED_INTO}, select`)
      // A dialog or a menu has the keys for itself.
      if (!hasModifier && (isTyping || document.querySelector('dialog[open], :popover-open'))) return
      event.preventDefault()
      handle(event)
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  })
}

/**
 * For a list whose items have `data-item`: the arrows, Home and End move the focus from one to the next, so that the list
 * as a whole is one stop of Tab. The items need `tabIndex` 0 for the chosen or first one, else -1.
 */
export function moveFocus(event: KeyboardEvent): void {
  const items = [...(event.currentTarget as Element).querySelectorAll<HTMLElement>('[data-item]')]
  const index = items.findIndex((item) => item.contains(document.activeElement))
  const next = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: items.length - 1 }[event.key]
  if (next === undefined || index === -1) return
  event.preventDefault()
  items.at(Math.max(0, Math.min(items.length - 1, next)))?.focus()
}

/** For the search above a list whose items have `data-item`: the arrow down goes on to the first of them. */
export function enterList(event: KeyboardEvent): void {
  if (event.key !== 'ArrowDown') return
  event.preventDefault()
  ;(event.currentTarget as Element).closest('.pane')?.querySelector<HTMLElement>('[data-item]')?.focus()
}
