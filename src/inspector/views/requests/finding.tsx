import { Callout, type Tone } from '../../parts/chip.js'

const ICONS = { good: 'check', warn: 'warn', bad: 'warn', fault: 'bolt', accent: 'flow' } as const
/** The maximum number of links to requests. */
const MAX_LINKS = 5

/** A message about one or more requests, such as a hint. */
export interface Finding {
  tone?: Tone | undefined
  message: string
  /** The sequence numbers of the requests that the message is about. */
  requests?: readonly number[]
}

interface Props extends Finding {
  /** Returns the URL of a request. */
  href?(sequence: number): string
}

/** Shows a finding with links to its newest requests. */
export function FindingCallout({ tone, message, requests = [], href = String }: Props) {
  return (
    <Callout tone={tone} icon={ICONS[tone ?? 'warn']}>
      <span class="callout-text" dir="auto">
        {message}
      </span>
      {requests.slice(-MAX_LINKS).map((sequence) => (
        <a key={sequence} href={href(sequence)}>
          #{sequence}
        </a>
      ))}
    </Callout>
  )
}
