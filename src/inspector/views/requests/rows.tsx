import type { Change, RecordedRequest } from '../../../client/index.js'
import { type Tone, toneClass } from '../../parts/chip.js'
import { List, type ListProps } from '../../parts/list.js'
import { EventRow, ROW, ROW_WITH_NOTE, Row } from '../../parts/row.js'
import { durationText, shortTime } from '../../parts/times.js'
import { go } from '../../shell/router.js'

/** A line of a list of requests: a request, what changed between two, or when the one before a pause came. */
export type RequestItem = { request: RecordedRequest } | { change: string; title: string } | { pause: string }

/** Milliseconds between two requests that are told as a pause. */
const PAUSE = 60_000

/** The tone of a request: injected, failed or refused; none when all is well. */
export function toneOf({ status, duration, flags }: RecordedRequest): Tone | undefined {
  if (flags.faulted !== undefined) return 'fault'
  if (status === undefined) return duration === undefined ? undefined : 'bad'
  return status >= 500 ? 'bad' : status >= 400 ? 'warn' : undefined
}

/** The target with its query decoded, such as `/v1/messages?limit=5`. */
export function targetOf({ path, query }: RecordedRequest): string {
  return (
    path +
    parametersOf(query)
      .map(([name, value], index) => `${index === 0 ? '?' : '&'}${name}=${value}`)
      .join('')
  )
}

/** Each value of parameters or headers by itself. */
export function parametersOf(values: RecordedRequest['query']): [name: string, value: string][] {
  return Object.entries(values).flatMap(([name, each]) => [each].flat().map((value): [string, string] => [name, value]))
}

/** What was changed, in words, such as `Mailgun (EU) became primary for email`. */
export function changeText({ summary = '', target, changed = [] }: Partial<Change>): string {
  const texts = changed.map(({ kind, id = kind, name = id, channel, what }) =>
    channel && what.includes('primary') ? `${name} ${what} for ${channel}` : `${name} ${what}`
  )
  return texts.join(' · ') || [summary, target].filter(Boolean).join(': ')
}

/**
 * Returns the lines of a list, newest first: the requests, with the changes and the pauses between them; if it is whole,
 * with the changes before the first of them too.
 */
export function itemsOf(requests: readonly RecordedRequest[], changes: readonly Change[], isWhole = false) {
  const items: RequestItem[] = []
  let next = changes.length - 1
  const tellChanges = (since: number) => {
    for (let change = changes[next]; change && change.after >= since; change = changes[--next]) {
      items.push({ change: changeText(change), title: change.time })
    }
  }
  for (const [index, request] of requests.entries()) {
    tellChanges(request.sequence)
    if (request.changed) items.push({ change: changeText(request), title: request.time })
    items.push({ request })
    const older = requests[index + 1]
    const pause = older ? Date.parse(request.time) - Date.parse(older.time) : 0
    if (older && Math.abs(pause) >= PAUSE) items.push({ pause: shortTime(older.time) })
  }
  if (isWhole) tellChanges(0)
  return items
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
      heightOf={(item) => ('request' in item && item.request.reason !== undefined ? ROW_WITH_NOTE : ROW)}
      choose={(sequence) => go(href(Number(sequence)), { replace: true })}
    >
      {(item, row) => {
        if ('change' in item) return <EventRow title={item.title}>{item.change}</EventRow>
        if ('pause' in item) return <div class="event">{item.pause}</div>
        const { request } = item
        const end = [<StatusText key="status" request={request} />, <Took key="took" request={request} />]
        return (
          <Row
            {...{ ...row, end }}
            href={href(request.sequence)}
            tone={toneOf(request)}
            lead={<code>{request.method}</code>}
            title={targetOf(request)}
            note={request.reason}
            isNew={request.sequence > seen}
          >
            <code>
              <Target request={request} />
            </code>
          </Row>
        )
      }}
    </List>
  )
}

const Took = ({ request: { duration } }: { request: RecordedRequest }) => (
  <code class="entry-took">{durationText(duration)}</code>
)

/** The path of a request with its query. */
export function Target({ request }: { request: RecordedRequest }) {
  return (
    <bdi>
      {request.path}
      <span class="muted">{targetOf(request).slice(request.path.length)}</span>
    </bdi>
  )
}

/** The status of an answer in the colour of its tone. */
export function StatusText({ request, ...own }: { request: RecordedRequest; class?: string }) {
  const tone = toneOf(request)
  const words = request.status ?? (request.duration === undefined ? '…' : 'none')
  return <code class={`toned ${tone ? 'is-strong' : ''} ${toneClass(tone)} ${own.class ?? ''}`}>{words}</code>
}
