import { useEffect } from 'preact/hooks'

const TYPED_INTO = 'input:not([type="checkbox"], [type="radio"]), textarea'

/** Calls a handler for a key such as `/` or `ctrl+k` (also by Cmd). What is typed, and keys in a dialog or a menu, is left. */
export function useKey(key: string, handle: (event: KeyboardEvent) => void): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const isCommand = event.ctrlKey || event.metaKey
      if (event.altKey || `${isCommand ? 'ctrl+' : ''}${event.key.toLowerCase()}` !== key) return
      const isTyping = document.activeElement?.matches(TYPED_INTO)
      if (!isCommand && (isTyping || document.querySelector('dialog[open], :popover-open'))) return
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
  items[Math.max(0, Math.min(items.length - 1, next))]?.focus()
}
