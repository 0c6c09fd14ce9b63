import type { ComponentChildren } from 'preact'
import { type Tone, toneClass } from './chip.js'
import { Icon, type IconName } from './icon.js'

/** Row heights in pixels. `style.css` uses the same values. */
export const ROW_HEIGHT = 28
export const ROW_WITH_NOTE_HEIGHT = 44

export interface ListRowProps {
  href: string
  /**
   * The title. A long title is cut off on the left if its text is right-to-left, and on the right
   * otherwise. The detection of the direction ignores text inside `bdi` or an element with `dir`.
   */
  children: ComponentChildren
  /** The color of the dot at the start of the row; gray by default. */
  tone?: Tone | undefined
  /** Shown instead of the dot. */
  icon?: IconName
  /** Content before the title, such as an HTTP method. */
  lead?: ComponentChildren
  /** Content after the title, such as a status and a duration. */
  end?: ComponentChildren
  /** A second line, such as the reason for a response. */
  note?: ComponentChildren
  title?: string | undefined
  isCurrent?: boolean
  /** 0 for the row that is the list's Tab stop, -1 for all other rows. */
  tabIndex?: number
}

/** A list row that links to a record. */
export function ListRow({
  children,
  tone,
  icon,
  lead,
  end,
  note,
  isCurrent,
  ...link
}: ListRowProps) {
  const classes = ['entry', lead !== undefined && 'has-lead', note && 'has-note', toneClass(tone)]
  return (
    <a
      data-item
      class={classes.filter(Boolean).join(' ')}
      aria-current={isCurrent ? 'true' : undefined}
      {...link}
    >
      {icon ? <Icon name={icon} /> : <span class="dot" />}
      {lead !== undefined && <span class="hint cut">{lead}</span>}
      <span class="cut" dir="auto">
        {children}
      </span>
      <span class="entry-end">{end}</span>
      {note && (
        <span class="entry-note cut" dir="auto">
          {note}
        </span>
      )}
    </a>
  )
}

/**
 * A line that describes a change to the environment, shown between two rows. It can't be focused.
 */
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
