import type { AnsweredRequest, RecordedRequest } from '../../../client/index.js'
import { Callout, type Tone } from '../../parts/chip.js'
import { JsonTree, parsed, parsedBeginning } from '../../parts/json-tree.js'
import { parametersOf } from './rows.js'

/** What the app received. */
export function AnswerOf({ request: { answer, size, duration } }: { request: AnsweredRequest }) {
  const none = duration === undefined ? 'It is not answered yet.' : 'The app got no answer.'
  if (!answer) return <p class="muted">{none}</p>
  const { body, truncated, dropped, headers } = answer
  const value = body !== undefined && (truncated ? parsedBeginning(body) : parsed(body))
  return (
    <>
      {body !== undefined && <JsonTree value={value} label="Body of the answer" />}
      {truncated && <p class="hint">Its beginning: the answer had {size?.toLocaleString()} bytes.</p>}
      {dropped && <p class="hint">Its body was let go for those of later answers.</p>}
      <Values title="Headers" values={parametersOf(headers)} />
    </>
  )
}

/** What the app sent, and what else is known of it. */
export function Sent({ request }: { request: RecordedRequest }) {
  const { query, headers, unread, body, bodyLength, operation = 'none serves it', time, flags } = request
  return (
    <>
      <Values title="Query" values={parametersOf(query)} unread={unread.query} />
      {body && <JsonTree value={parsed(body)} label="Body of the request" />}
      {bodyLength !== undefined && <p class="hint">Its beginning: it had {bodyLength.toLocaleString()} bytes.</p>}
      <Values title="Headers" values={parametersOf(headers)} unread={unread.headers} />
      <Values title="More" values={Object.entries({ operation, arrived: time, ...flags })} />
    </>
  )
}

interface ValuesProps {
  title: string
  values: readonly (readonly [name: string, value: unknown])[]
  /** Names that the server does not read. */
  unread?: readonly string[]
}

/** Names with their values, such as headers; nothing if there are none. */
export function Values({ title, values, unread = [] }: ValuesProps) {
  if (values.length === 0) return null
  return (
    <section>
      <h3>{title}</h3>
      <dl class="facts mono">
        {values.map(([name, value], index) => [
          <dt key={index} class={unread.includes(name) ? 'is-warn toned' : undefined} dir="auto">
            {name}
            {unread.includes(name) && <span class="visually-hidden"> (not read)</span>}
          </dt>,
          <dd key={`${index}:`} dir="auto">
            {String(value)}
          </dd>
        ])}
      </dl>
    </section>
  )
}

const ICONS = { good: 'check', warn: 'warn', bad: 'warn', fault: 'bolt', accent: 'flow' } as const
/** Requests that a note names. */
const MAX_NAMED = 5

export interface NoteProps {
  tone: Tone | undefined
  message: string
  /** Sequences of the requests that it is about. */
  requests?: readonly number[]
  href?(sequence: number): string
}

/** Something to be known of requests, with links to them. */
export function Note({ tone, message, requests = [], href = String }: NoteProps) {
  return (
    <Callout tone={tone} icon={ICONS[tone ?? 'warn']}>
      <span class="callout-text" dir="auto">
        {message}
      </span>
      {requests.slice(-MAX_NAMED).map((sequence) => (
        <a key={sequence} href={href(sequence)}>
          #{sequence}
        </a>
      ))}
    </Callout>
  )
}
