import { useEffect } from 'preact/hooks'

const TYPED_INTO = 'input:not([type="checkbox"], [type="radio"]), textarea'

/** Calls a handler for a key such as `/` or `ctrl+k` (also by Cmd). What is typed, and keys in a dialog or a menu, is left. */
export function useKey(key: string, handle: () => void): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const isCommand = event.ctrlKey || event.metaKey
      if (event.altKey || `${isCommand ? 'ctrl+' : ''}${event.key.toLowerCase()}` !== key) return
      const isTyping = document.activeElement?.matches(TYPED_INTO)
      if (!isCommand && (isTyping || document.querySelector('dialog[open], :popover-open'))) return
      event.preventDefault()
      handle()
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  })
}

/** The arrows, Home and End move the focus among what has `data-item`; one of these has `tabIndex` 0, the others -1. */
export function moveFocus(event: KeyboardEvent): void {
  const items = [...(event.currentTarget as Element).querySelectorAll<HTMLElement>('[data-item]')]
  const index = items.indexOf(document.activeElement as HTMLElement)
  const ends = { Home: -items.length, End: items.length }
  const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1, ...ends }[event.key]
  if (step === undefined || index === -1) return
  event.preventDefault()
  items[Math.max(0, Math.min(items.length - 1, index + step))]?.focus()
}
