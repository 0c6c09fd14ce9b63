import type { ComponentChildren } from 'preact'
import { runWithToast } from './toast.js'

/** A button that copies text and shows a toast as confirmation. */
export function CopyButton({ text, children }: { text(): string; children: ComponentChildren }) {
  return (
    <button type="button" onClick={() => runWithToast(() => copyText(text()), 'Copied')}>
      {children}
    </button>
  )
}

/**
 * Copies text to the clipboard. Browsers provide `navigator.clipboard` only over HTTPS and on
 * localhost. Everywhere else, the text is copied from a temporary text area.
 */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text)
  const textArea = document.createElement('textarea')
  textArea.value = text
  // While a modal dialog is open, only text in the dialog can be selected.
  const parent = document.querySelector('dialog[open]') ?? document.body
  parent.append(textArea)
  textArea.select()
  const isCopied = document.execCommand('copy')
  textArea.remove()
  if (!isCopied) throw new Error("the browser doesn't allow this page to copy text")
}
