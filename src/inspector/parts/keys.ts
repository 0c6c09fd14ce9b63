import { useEffect } from 'preact/hooks'

const TYPED_INTO = 'input:not([type="checkbox"], [type="radio"]), textarea, [contenteditable]'

/**
 * Calls a handler for a key such as `/` or `ctrl+k` (also by Cmd), unless one types a text. A menu takes letters, by which
 * one chooses in it.
 */
export function useKey(key: string, handle: (event: KeyboardEvent) => void): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const takesIt = event.key === '/' ? TYPED_INTO : `${TYPED_INTO}, select`
      const isTyping = event.target instanceof HTMLElement && event.target.matches(takesIt)
      const hasModifier = event.ctrlKey || event.metaKey
      const pressed = `${hasModifier ? 'ctrl+' : ''}${event.altKey ? 'alt+' : ''}${event.key.toLowerCase()}`
      if (pressed !== key || (isTyping && !hasModifier)) return
      // A dialog or a menu has the keys for itself.
      if (!hasModifier && document.querySelector('dialog[open], :popover-open')) return
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
  const list = event.currentTarget as HTMLElement
  const items = [...list.querySelectorAll<HTMLElement>('[data-item]')]
  const index = items.findIndex((item) => item.contains(document.activeElement))
  const next = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: items.length - 1 }[event.key]
  if (next === undefined || index === -1) return
  event.preventDefault()
  items[Math.max(0, Math.min(items.length - 1, next))]?.focus()
}

/** For the search above a list whose items have `data-item`: the arrow down goes on to the first of them. */
export function enterList(event: KeyboardEvent): void {
  const first = document.querySelector<HTMLElement>('main [data-item]')
  if (event.key !== 'ArrowDown' || !first) return
  event.preventDefault()
  first.focus()
}
