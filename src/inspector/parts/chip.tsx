import type { ComponentChildren } from 'preact'
import { Icon, type IconName } from './icon.js'

/**
 * The meaning of a color: success (`good`), warning (`warn`), failure (`bad`), an injected fault
 * (`fault`) or the selection (`accent`).
 */
export type Tone = 'good' | 'warn' | 'bad' | 'fault' | 'accent'

/** Returns the CSS class for a tone, or an empty string if there is no tone. */
export const toneClass = (tone: Tone | undefined) => (tone === undefined ? '' : `is-${tone}`)

interface Props {
  tone?: Tone | undefined
  children: ComponentChildren
}

/** A short label on a record. */
export function Chip({ tone, children }: Props) {
  return (
    <span class={`chip ${toneClass(tone)}`} dir="auto">
      {children}
    </span>
  )
}

/** A highlighted message about a record. */
export function Callout({ tone, icon, children }: Props & { icon?: IconName }) {
  return (
    <div class={`callout ${toneClass(tone)}`} dir="auto">
      {icon && <Icon name={icon} />}
      {children}
    </div>
  )
}
