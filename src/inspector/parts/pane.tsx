import type { ComponentChildren } from 'preact'
import { Icon } from './icon.js'

interface PanesProps {
  children: ComponentChildren
  /** Whether something is open in the second pane, which narrow screens then show over all else. */
  isOpen: boolean
  /** Whether both are as wide; else it is 44 to 56. */
  isEven?: boolean
}

/** A list, and beside it what is open of it. */
export function Panes({ children, isOpen, isEven }: PanesProps) {
  return <div class={`panes ${isOpen ? 'is-open' : ''} ${isEven ? 'is-even' : ''}`}>{children}</div>
}

interface PaneProps {
  label: string
  /** What stays above while the rest scrolls. */
  head?: ComponentChildren
  /** The body: a `List`, a `Scroll`, or `Tabs`. */
  children: ComponentChildren
}

/** One of two panes, with a scroll of its own. */
export function Pane({ label, head, children }: PaneProps) {
  return (
    <section class="pane" aria-label={label}>
      {head && <div class="pane-head">{head}</div>}
      {children}
    </section>
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
