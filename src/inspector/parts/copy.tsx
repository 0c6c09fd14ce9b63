import type { ComponentChildren } from 'preact'
import { runWithToast } from './toast.js'

/** A button that copies a text and confirms it with a toast. */
export function CopyButton({ text, children }: { text(): string; children: ComponentChildren }) {
  return <button onClick={() => runWithToast(() => copyText(text()), 'Copied')}>{children}</button>
}

/**
 * Copies a text to the clipboard. Browsers offer no `navigator.clipboard` to pages that another
 * machine serves over plain HTTP, so there it copies from a temporary text area.
 */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text)
  const textArea = document.createElement('textarea')
  textArea.value = text
  // Elements outside an open modal dialog can't be selected.
  const parent = document.querySelector('dialog[open]') ?? document.body
  parent.append(textArea)
  textArea.select()
  const isCopied = document.execCommand('copy')
  textArea.remove()
  if (!isCopied) throw new Error('the browser does not allow this page to copy')
}
