import { useEffect } from 'preact/hooks'

const TEXT_FIELDS = 'input:not([type="checkbox"], [type="radio"]), textarea'

/**
 * Calls a handler when a shortcut such as `/` or `ctrl+k` is pressed. The Cmd key works like Ctrl.
 * Shortcuts without Ctrl are ignored in text fields and while a dialog or menu is open.
 */
export function useShortcut(shortcut: string, handle: () => void): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const isCommand = event.ctrlKey || event.metaKey
      const pressed = `${isCommand ? 'ctrl+' : ''}${event.key.toLowerCase()}`
      if (event.altKey || pressed !== shortcut) return
      const isTyping = document.activeElement?.matches(TEXT_FIELDS)
      if (!isCommand && (isTyping || document.querySelector('dialog[open], :popover-open'))) return
      event.preventDefault()
      handle()
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  })
}

/**
 * Moves the focus between the `data-item` elements when an arrow key, Home or End is pressed. To
 * make the group a single Tab stop, give one element `tabIndex` 0 and the others -1.
 */
export function moveFocus(event: KeyboardEvent): void {
  const container = event.currentTarget as Element
  const items = [...container.querySelectorAll<HTMLElement>('[data-item]')]
  const index = items.indexOf(document.activeElement as HTMLElement)
  const steps: Record<string, number> = {
    ArrowDown: 1,
    ArrowRight: 1,
    ArrowUp: -1,
    ArrowLeft: -1,
    Home: -items.length,
    End: items.length
  }
  const step = steps[event.key]
  if (step === undefined || index === -1) return
  event.preventDefault()
  items[Math.max(0, Math.min(items.length - 1, index + step))]?.focus()
}
