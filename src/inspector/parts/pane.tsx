import type { ComponentChildren, RefObject } from 'preact'
import { Icon } from './icon.js'

interface PanesProps {
  ref?: RefObject<HTMLDivElement | null> | null
  children: ComponentChildren
  /**
   * Whether an item is open in the second pane. On narrow screens, an open item covers the list.
   */
  isOpen: boolean
}

/** Two panes side by side, one for a list and one for the open item. */
export function Panes({ ref = null, children, isOpen }: PanesProps) {
  return (
    <div ref={ref} class={`panes ${isOpen ? 'is-open' : ''}`}>
      {children}
    </div>
  )
}

interface PaneProps {
  label: string
  /** Content above the scrolling part of the pane. */
  head?: ComponentChildren
  children: ComponentChildren
}

/**
 * One of two panes. The pane itself doesn't scroll; a `VirtualList`, `Scroll` or `Tabs` in it does.
 */
export function Pane({ label, head, children }: PaneProps) {
  return (
    <div class="pane" role="group" aria-label={label}>
      {head && <div class="pane-head">{head}</div>}
      {children}
    </div>
  )
}

/** The scrolling part of a pane. */
export function Scroll({ children }: { children: ComponentChildren }) {
  return (
    <div class="pane-body is-padded" tabIndex={0} role="group" aria-label="Content">
      {children}
    </div>
  )
}

/** The close button of an open item. Like Escape, it goes back to the list. */
export function Close({ back }: { back: string }) {
  return (
    <a class="button quiet only-icon close" href={back} aria-label="Close" title="Close (Esc)">
      <Icon name="close" />
    </a>
  )
}
