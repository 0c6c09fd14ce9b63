import type { ComponentChildren } from 'preact'
import { Icon, type IconName } from './icon.js'

/** What a colour means: done, to be looked at, failed, injected by a fault, chosen. */
export type Tone = 'good' | 'warn' | 'bad' | 'fault' | 'accent'

/** A class for the colours of a tone. */
export const toneClass = (tone: Tone | undefined) => (tone === undefined ? '' : `is-${tone}`)

interface Props {
  tone?: Tone | undefined
  children: ComponentChildren
}

/** A word or two on a record. */
export function Chip({ tone, children }: Props) {
  return (
    <span class={`chip ${toneClass(tone)}`} dir="auto">
      {children}
    </span>
  )
}

/** What is wrong with a record, or to be known of it before all else. */
export function Callout({ tone, icon, children }: Props & { icon?: IconName }) {
  return (
    <div class={`callout ${toneClass(tone)}`} dir="auto">
      {icon && <Icon name={icon} />}
      {children}
    </div>
  )
}
