import type { ComponentChildren } from 'preact'
import { Close, Pane } from './pane.js'

/** Shown instead of an empty list. Explains why the list is empty and what to do. */
export function EmptyList({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  )
}

interface EmptyPaneProps {
  /** The URL that the close button opens. If undefined, there is no close button. */
  back: string | undefined
  children: ComponentChildren
}

/** Shown in the second pane while no item is open. */
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
