import type { ComponentChildren } from 'preact'
import { run } from './toast.js'

interface Props {
  text: string | (() => string)
  children: ComponentChildren
  title?: string
}

/** A button that copies a text, and says so. */
export function CopyButton({ text, children, title }: Props) {
  const copy = () => run(() => copyText(typeof text === 'string' ? text : text()), 'Copied')
  return (
    <button title={title} onClick={copy}>
      {children}
    </button>
  )
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
