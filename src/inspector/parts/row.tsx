import type { ComponentChildren } from 'preact'
import { type Tone, toneClass } from './chip.js'
import { Icon, type IconName } from './icon.js'

/** Heights in pixels, for `List`. */
export const ROW = 28
export const ROW_WITH_NOTE = 44

export interface RowProps {
  href: string
  children: ComponentChildren
  /** The colour of the dot; none is that of what is well. */
  tone?: Tone | undefined
  /** In place of the dot. */
  icon?: IconName
  /** A word before the title, such as a method. */
  lead?: ComponentChildren
  /** After the title, such as a status and a time. */
  end?: ComponentChildren
  /** A second line, such as the reason; the row is 44 px high then. */
  note?: ComponentChildren
  title?: string | undefined
  isCurrent?: boolean
  /** 0 for the one row of a list at which Tab stops. */
  tabIndex?: number
  /** Whether it came just now: it flashes once. */
  isNew?: boolean
}

/** A line of a list that opens what it tells of. */
export function Row({
  children,
  tone,
  icon,
  lead,
  end,
  note,
  isCurrent,
  isNew,
  ...link
}: RowProps) {
  const classes = [
    'entry',
    lead !== undefined && 'has-lead',
    note && 'has-note',
    isNew && 'is-new',
    toneClass(tone)
  ]
  return (
    <a
      data-item
      class={classes.filter(Boolean).join(' ')}
      aria-current={isCurrent ? 'true' : undefined}
      {...link}
    >
      {icon ? <Icon name={icon} /> : <span class="dot" />}
      {lead !== undefined && <span class="hint cut">{lead}</span>}
      <span class="cut">{children}</span>
      <span class="entry-end">{end}</span>
      {note && (
        <span class="entry-note cut" dir="auto">
          {note}
        </span>
      )}
    </a>
  )
}

/** A line between the rows that tells what happened to the environment there. */
export function EventRow({ children, title }: { children: ComponentChildren; title?: string }) {
  return (
    <div class="event is-accent" title={title}>
      <Icon name="diamond" />
      <span class="cut" dir="auto">
        {children}
      </span>
    </div>
  )
}
