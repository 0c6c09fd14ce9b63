import type { ComponentChildren } from 'preact'
import { run } from './toast.js'

/** A button that copies a text, and says so. */
export function CopyButton({ text, children }: { text(): string; children: ComponentChildren }) {
  return <button onClick={() => run(() => copyText(text()), 'Copied')}>{children}</button>
}

/** Copies a text to the clipboard, also where the page came by http from another machine, where browsers offer none. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text)
  const area = document.createElement('textarea')
  area.value = text
  const parent = document.querySelector('dialog[open]') ?? document.body
  parent.append(area)
  area.select()
  const isCopied = document.execCommand('copy')
  area.remove()
  if (!isCopied) throw new Error('the browser does not let this page copy')
}
