import type { ComponentChildren } from 'preact'
import type { Change, ChangedRecord, RecordedRequest } from '../../../client/index.js'
import { type Tone, toneClass } from '../../parts/chip.js'
import { EventRow, ROW, ROW_WITH_NOTE, Row } from '../../parts/row.js'
import { durationText, shortTime } from '../../parts/times.js'

/** A line of a list of requests: a request, what changed between two, or a pause. */
export type RequestItem = { request: RecordedRequest } | { change: string; title: string } | { pause: string }

/** Milliseconds between two requests that are told as a pause. */
const PAUSE = 60_000
/** Changes between two requests that are told one by one. */
const MAX_CHANGES = 4

/** The tone of a request: injected, failed or refused; none when all is well. */
export function toneOf({ status, duration, flags }: RecordedRequest): Tone | undefined {
  if (flags.faulted !== undefined) return 'fault'
  if (status === undefined) return duration === undefined ? undefined : 'bad'
  return status >= 500 ? 'bad' : status >= 400 ? 'warn' : undefined
}

/** The target with its query decoded, such as `/v1/messages?limit=5`. */
export function targetOf({ path, query }: RecordedRequest): string {
  const parameters = parametersOf(query).map(([name, value]) => `${name}=${value}`)
  return parameters.length === 0 ? path : `${path}?${parameters.join('&')}`
}

/** Each value of parameters or headers by itself. */
export function parametersOf(values: RecordedRequest['query']): [name: string, value: string][] {
  return Object.entries(values).flatMap(([name, each]) => [each].flat().map((value): [string, string] => [name, value]))
}

/** What was changed, in words. */
export function changeText({ summary, target, changed }: Pick<Change, 'summary' | 'target' | 'changed'>): string {
  if (changed && changed.length > 0) return recordsText(changed)
  return target === undefined ? summary : `${summary}: ${target}`
}

/** Records that were changed, such as `Mailgun (EU) became primary for email`. */
export function recordsText(changed: readonly ChangedRecord[]): string {
  const told = changed.slice(0, MAX_CHANGES).map(({ kind, id, name, channel, what }) => {
    const place = channel !== undefined && what.includes('primary') ? ` for ${channel}` : ''
    return `${name ?? id ?? kind} ${what}${place}`
  })
  const left = changed.length - told.length
  return [...told, ...(left > 0 ? [`${left.toLocaleString()} more`] : [])].join(' · ')
}

/**
 * Returns the lines of a list, newest first: the requests, with the changes and the pauses between them; if it is whole,
 * with the changes before the first of them too.
 */
export function itemsOf(
  requests: readonly RecordedRequest[],
  changes: readonly Change[],
  isWhole = false
): RequestItem[] {
  const items: RequestItem[] = []
  let next = changes.length - 1
  const passChanges = (sequence: number) => {
    const between: Change[] = []
    for (let change = changes[next]; change && change.after >= sequence; change = changes[--next]) between.push(change)
    for (const change of between.slice(0, MAX_CHANGES)) items.push({ change: changeText(change), title: change.time })
    const left = between.length - MAX_CHANGES
    if (left > 0) items.push({ change: `${left.toLocaleString()} more changes`, title: '' })
  }
  for (const [index, request] of requests.entries()) {
    passChanges(request.sequence)
    if (request.changed && request.changed.length > 0)
      items.push({ change: recordsText(request.changed), title: request.time })
    items.push({ request })
    const older = requests[index + 1]
    const pause = older ? Date.parse(request.time) - Date.parse(older.time) : 0
    if (older && Math.abs(pause) >= PAUSE) items.push({ pause: shortTime(older.time) })
  }
  if (isWhole) passChanges(0)
  return items
}

export function keyOf(item: RequestItem): number | undefined {
  return 'request' in item ? item.request.sequence : undefined
}

export function heightOf(item: RequestItem): number {
  return 'request' in item && item.request.reason !== undefined ? ROW_WITH_NOTE : ROW
}

interface ItemProps {
  item: RequestItem
  href(sequence: number): string
  isCurrent: boolean
  tabIndex: number
  isNew?: boolean
}

/** A line of a list of requests. */
export function RequestItemRow({ item, href, ...place }: ItemProps) {
  if ('change' in item) return <EventRow title={item.title}>{item.change}</EventRow>
  if ('pause' in item) return <div class="event">{item.pause}</div>
  return <RequestRow request={item.request} href={href(item.request.sequence)} {...place} />
}

interface RequestRowProps extends Omit<ItemProps, 'item' | 'href'> {
  request: RecordedRequest
  href: string
}

/** One request of a list: what was asked, and what came of it. */
export function RequestRow({ request, ...row }: RequestRowProps) {
  const { method, reason, duration } = request
  const tone = toneOf(request)
  return (
    <Row
      {...row}
      tone={tone}
      lead={<code>{method}</code>}
      title={targetOf(request)}
      note={reason}
      end={
        <>
          <StatusText request={request} />
          <code class="entry-took">{durationText(duration)}</code>
        </>
      }
    >
      <code>
        <Target request={request} />
      </code>
    </Row>
  )
}

/** The target of a request, with what was not read of it marked. */
export function Target({ request: { path, query, unread } }: { request: RecordedRequest }) {
  return (
    <bdi>
      {path}
      {parametersOf(query).map(
        ([name, value], index): ComponentChildren => (
          <span key={index} class="muted">
            {index === 0 ? '?' : '&'}
            {unread.query.includes(name) ? <span class="is-warn toned">{name}</span> : name}={value}
          </span>
        )
      )}
    </bdi>
  )
}

/** The status of an answer in the colour of its tone. */
export function StatusText({ request, ...own }: { request: RecordedRequest; class?: string }) {
  const tone = toneOf(request)
  const { status, duration } = request
  const words = status ?? (duration === undefined ? '…' : 'none')
  return <code class={`toned ${tone ? 'is-strong' : ''} ${toneClass(tone)} ${own.class ?? ''}`}>{words}</code>
}
