import type { ComponentChildren, RefObject } from 'preact'
import { Icon } from './icon.js'

interface PanesProps {
  ref?: RefObject<HTMLDivElement | null> | null
  children: ComponentChildren
  /** Whether the second pane has an open item. On narrow screens it then covers everything else. */
  isOpen: boolean
}

/** A list and its open item, side by side. */
export function Panes({ ref = null, children, isOpen }: PanesProps) {
  return (
    <div ref={ref} class={`panes ${isOpen ? 'is-open' : ''}`}>
      {children}
    </div>
  )
}

interface PaneProps {
  label: string
  /** The part that stays in place while the rest scrolls. */
  head?: ComponentChildren
  children: ComponentChildren
}

/** One of two panes. Its `VirtualList`, `Scroll` or `Tabs` scrolls. */
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

/** The close button of an open item. It leads back to the list, as Escape does. */
export function Close({ back }: { back: string }) {
  return (
    <a class="button quiet only-icon close" href={back} aria-label="Close" title="Close (Esc)">
      <Icon name="close" />
    </a>
  )
}
