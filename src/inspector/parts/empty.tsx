import type { ComponentChildren } from 'preact'
import { Close, Pane } from './pane.js'

/** Replaces a list without items: explains why it is empty and what to do. */
export function EmptyList({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  )
}

interface EmptyPaneProps {
  /** The URL that the close button leads to; undefined for no button. */
  back: string | undefined
  children: ComponentChildren
}

/** Replaces the second pane when nothing is open. */
export function EmptyPane({ back, children }: EmptyPaneProps) {
  const head = back !== undefined && (
    <div class="head">
      <Close back={back} />
    </div>
  )
  return (
    <Pane label="Nothing open" head={head}>
      <p class="empty" dir="auto">
        {children}
      </p>
    </Pane>
  )
}
