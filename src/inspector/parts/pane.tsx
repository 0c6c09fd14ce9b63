import type { ComponentChildren, RefObject } from 'preact'
import { Icon } from './icon.js'

interface PanesProps {
  ref?: RefObject<HTMLDivElement | null> | null
  children: ComponentChildren
  /** Whether something is open in the second pane, which narrow screens then show over all else. */
  isOpen: boolean
}

/** A list, and beside it what is open of it. */
export function Panes({ ref = null, children, isOpen }: PanesProps) {
  return (
    <div ref={ref} class={`panes ${isOpen ? 'is-open' : ''}`}>
      {children}
    </div>
  )
}

interface PaneProps {
  label: string
  /** What stays above while the rest scrolls. */
  head?: ComponentChildren
  children: ComponentChildren
}

/** One of two panes, with a scroll of its own: of a `List`, a `Scroll`, or `Tabs`. */
export function Pane({ label, head, children }: PaneProps) {
  return (
    <div class="pane" role="group" aria-label={label}>
      {head && <div class="pane-head">{head}</div>}
      {children}
    </div>
  )
}

/** The part of a pane that scrolls. */
export function Scroll({ children }: { children: ComponentChildren }) {
  return (
    <div class="pane-body is-padded" tabIndex={0} role="group" aria-label="Content">
      {children}
    </div>
  )
}

/** In the head of what is open, beside its title: back to the list, as Escape does. */
export function Close({ back }: { back: string }) {
  return (
    <a class="button quiet only-icon close" href={back} aria-label="Close" title="Close (Esc)">
      <Icon name="close" />
    </a>
  )
}
