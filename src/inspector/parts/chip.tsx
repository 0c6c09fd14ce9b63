import type { ComponentChildren } from 'preact'
import { Icon, type IconName } from './icon.js'

/** What a colour means: done, to be looked at, failed, injected by a fault, chosen. */
export type Tone = 'good' | 'warn' | 'bad' | 'fault' | 'accent'

/** A class for the colours of a tone. */
export const toneClass = (tone: Tone | undefined) => (tone === undefined ? '' : `is-${tone}`)

interface Props {
  tone?: Tone | undefined
  icon?: IconName
  title?: string
  children: ComponentChildren
}

/** A word or two on a record. */
export function Chip({ tone, title, children }: Props) {
  return (
    <span class={`chip ${toneClass(tone)}`} title={title} dir="auto">
      {children}
    </span>
  )
}

/** What is wrong with a record, or to be known of it before all else. */
export function Callout({ tone, icon, children }: Props) {
  return (
    <div class={`callout ${toneClass(tone)}`}>
      {icon && <Icon name={icon} />}
      {children}
    </div>
  )
}
