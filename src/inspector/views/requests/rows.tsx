import type { Change, RecordedExchange, RecordedRequest } from '../../../client/index.js'
import { Callout, type Tone, toneClass } from '../../parts/chip.js'
import { JsonTree, parsed, parsedBeginning } from '../../parts/json-tree.js'
import { List, type ListProps } from '../../parts/list.js'
import { EventRow, ROW, ROW_WITH_NOTE, Row } from '../../parts/row.js'
import { durationText } from '../../parts/times.js'
import { go } from '../../shell/router.js'

/** A line of a list of requests: a request, or what changed between two. */
export type RequestItem = { request: RecordedRequest } | { change: string; title: string }

/** The tone of a request: injected, failed or refused; none when all is well. */
export function toneOf({ status, duration, flags }: RecordedRequest): Tone | undefined {
  if (flags.faulted !== undefined) return 'fault'
  if (status === undefined) return duration === undefined ? undefined : 'bad'
  return status >= 500 ? 'bad' : status >= 400 ? 'warn' : undefined
}

/** The target with its query decoded, such as `/v1/messages?limit=5`. */
export function targetOf({ path, query }: RecordedRequest): string {
  const pairs = parametersOf(query).map((pair) => pair.join('='))
  return pairs.length === 0 ? path : `${path}?${pairs.join('&')}`
}

/** Each value of parameters or headers by itself. */
export function parametersOf(values: RecordedRequest['query']): [name: string, value: string][] {
  return Object.entries(values).flatMap(([name, each]) =>
    [each].flat().map((value): [string, string] => [name, value])
  )
}

/** What was changed, in words, such as `Mailgun (EU) became primary for email`. */
export function changeText({ summary = '', target, changed = [] }: Partial<Change>): string {
  const texts = changed.map(({ kind, id = kind, name = id, channel, action }) =>
    channel && action.includes('primary') ? `${name} ${action} for ${channel}` : `${name} ${action}`
  )
  return texts.join(' · ') || [summary, target].filter(Boolean).join(': ')
}

/** Returns the lines of a list, newest first: the requests with the changes between them; and before them, if it is whole. */
export function itemsOf(
  requests: readonly RecordedRequest[],
  changes: readonly Change[],
  isWhole = false
) {
  const rest = changes.map((change) => ({
    ...change,
    change: changeText(change),
    title: change.time
  }))
  const changesAfter = (sequence: number) =>
    rest.splice(rest.findLastIndex(({ after }) => after < sequence) + 1).reverse()
  const items = requests.flatMap((request): RequestItem[] => {
    const own = request.changed ? [{ change: changeText(request), title: request.time }] : []
    return [...changesAfter(request.sequence), ...own, { request }]
  })
  return isWhole ? [...items, ...changesAfter(0)] : items
}

interface Props extends Pick<ListProps<RequestItem>, 'label' | 'items' | 'isAimed' | 'onEnd'> {
  /** The sequence of the one that is open. */
  current: number | undefined
  href(sequence: number): string
  /** Those after it came just now. */
  seen?: number
}

/** A list of requests, with what came between them. */
export function RequestList({ href, seen = Number.POSITIVE_INFINITY, ...list }: Props) {
  return (
    <List
      {...list}
      keyOf={(item) => ('request' in item ? item.request.sequence : undefined)}
      heightOf={(item) =>
        'request' in item && item.request.reason !== undefined ? ROW_WITH_NOTE : ROW
      }
      choose={(sequence) => go(href(Number(sequence)), { replace: true })}
    >
      {(item, row) => {
        if ('change' in item) return <EventRow title={item.title}>{item.change}</EventRow>
        const { request } = item
        return (
          <Row
            {...row}
            href={href(request.sequence)}
            tone={toneOf(request)}
            lead={<code>{request.method}</code>}
            title={targetOf(request)}
            end={<Ending request={request} />}
            note={request.reason}
            isNew={request.sequence > seen}
          >
            <code>
              <bdi>{targetOf(request)}</bdi>
            </code>
          </Row>
        )
      }}
    </List>
  )
}

const Ending = ({ request }: { request: RecordedRequest }) => (
  <>
    <StatusText request={request} />
    <code class="entry-took">{durationText(request.duration)}</code>
  </>
)

/** The status of an answer in the colour of its tone. */
export function StatusText({ request, ...own }: { request: RecordedRequest; class?: string }) {
  const tone = toneOf(request)
  const words = request.status ?? (request.duration === undefined ? '…' : 'none')
  return (
    <code class={`toned ${tone ? 'is-strong' : ''} ${toneClass(tone)} ${own.class ?? ''}`}>
      {words}
    </code>
  )
}

/** What the app received. */
export function AnswerOf({ request: { response, size, duration } }: { request: RecordedExchange }) {
  const none = duration === undefined ? 'It is not answered yet.' : 'The app got no answer.'
  if (!response) return <p class="muted">{none}</p>
  const { body, truncated, dropped, headers } = response
  const value = body !== undefined && (truncated ? parsedBeginning(body) : parsed(body))
  return (
    <>
      {body !== undefined && <JsonTree value={value} label="Body of the answer" />}
      {truncated && (
        <p class="hint">Its beginning: the answer had {size?.toLocaleString()} bytes.</p>
      )}
      {dropped && <p class="hint">Its body was let go for those of later answers.</p>}
      <Values title="Headers" values={parametersOf(headers)} />
    </>
  )
}

/** What the app sent, and what else is known of it. */
export function Sent({ request }: { request: RecordedRequest }) {
  const {
    query,
    headers,
    unknown,
    body,
    bodyLength,
    operation = 'none serves it',
    time,
    flags
  } = request
  const isCut = bodyLength !== undefined
  return (
    <>
      <Values title="Query" values={parametersOf(query)} unknown={unknown.query} />
      {body && (
        <JsonTree
          value={isCut ? parsedBeginning(body) : parsed(body)}
          label="Body of the request"
        />
      )}
      {isCut && <p class="hint">Its beginning: it had {bodyLength.toLocaleString()} bytes.</p>}
      <Values title="Headers" values={parametersOf(headers)} unknown={unknown.headers} />
      <Values title="More" values={Object.entries({ operation, arrived: time, ...flags })} />
    </>
  )
}

interface ValuesProps {
  title: string
  values: readonly (readonly [name: string, value: unknown])[]
  /** Names that the server does not read. */
  unknown?: readonly string[]
}

/** Names with their values, such as headers; nothing if there are none. */
function Values({ title, values, unknown = [] }: ValuesProps) {
  if (values.length === 0) return null
  return (
    <section>
      <h3>{title}</h3>
      <dl class="facts mono">
        {values.map(([name, value], index) => [
          <dt key={index} class={unknown.includes(name) ? 'is-warn toned' : undefined} dir="auto">
            {name}
            {unknown.includes(name) && <span class="visually-hidden"> (unknown)</span>}
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

/** Something to be known of requests, by their sequences. */
export interface Finding {
  tone?: Tone | undefined
  message: string
  requests?: readonly number[]
}

/** A finding, with links to its requests. */
export function Note({
  tone,
  message,
  requests = [],
  href = String
}: Finding & { href?(open: number): string }) {
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
