import type { Change, RecordedRequest } from '../../../client/index.js'
import { toneClass } from '../../parts/chip.js'
import { formatDuration } from '../../parts/format-time.js'
import { EventRow, ListRow, ROW_HEIGHT, ROW_WITH_NOTE_HEIGHT } from '../../parts/list-row.js'
import { VirtualList, type VirtualListProps } from '../../parts/virtual-list.js'
import { navigate } from '../../shell/router.js'
import { describeChange, targetOf, toneOf } from './format-request.js'
import { RequestTime } from './request-time.js'

/** A row in a list of requests: either a request, or a change to the environment's data. */
export type RequestItem = { request: RecordedRequest } | { change: string; title: string }

/**
 * Returns the requests and the changes between them as one list, newest first. `isComplete` is
 * whether all requests are loaded. If not, omits the changes before the oldest loaded request,
 * because older requests may belong between them.
 */
export function withChanges(
  requests: readonly RecordedRequest[],
  changes: readonly Change[],
  isComplete = false
): RequestItem[] {
  const remaining = [...changes]
  const takeChangesAfter = (sequence: number): RequestItem[] =>
    remaining
      .splice(remaining.findLastIndex(({ after }) => after < sequence) + 1)
      .reverse()
      .map((change) => ({ change: describeChange(change), title: change.time }))
  const items = requests.flatMap((request): RequestItem[] => {
    const ownChanges = request.changed
      ? [{ change: describeChange(request), title: request.time }]
      : []
    return [...takeChangesAfter(request.sequence), ...ownChanges, { request }]
  })
  return isComplete ? [...items, ...takeChangesAfter(0)] : items
}

interface Props
  extends Pick<VirtualListProps<RequestItem>, 'label' | 'items' | 'isScrolledTo' | 'onEnd'> {
  /** The sequence number of the open request. */
  current: number | undefined
  href(sequence: number): string
}

/** A list of requests with the changes between them. */
export function RequestList({ href, ...listProps }: Props) {
  const hasNote = (item: RequestItem) => 'request' in item && item.request.reason !== undefined
  return (
    <VirtualList
      {...listProps}
      keyOf={(item) => ('request' in item ? item.request.sequence : undefined)}
      heightOf={(item) => (hasNote(item) ? ROW_WITH_NOTE_HEIGHT : ROW_HEIGHT)}
      select={(sequence) => navigate(href(Number(sequence)), { replace: true })}
    >
      {(item, place) => {
        if ('change' in item) return <EventRow title={item.title}>{item.change}</EventRow>
        const { request } = item
        return (
          <ListRow
            {...place}
            href={href(request.sequence)}
            tone={toneOf(request)}
            lead={<code>{request.method}</code>}
            title={targetOf(request)}
            end={<RowEnd request={request} />}
            note={request.reason}
          >
            <code>
              <bdi>{targetOf(request)}</bdi>
            </code>
          </ListRow>
        )
      }}
    </VirtualList>
  )
}

function RowEnd({ request }: { request: RecordedRequest }) {
  const { duration, sequence } = request
  return (
    <>
      <StatusText request={request} />
      <code class="entry-duration">
        {duration === undefined ? 'pending' : formatDuration(duration)}
      </code>
      <RequestTime request={request} />
      <code class="entry-number">#{sequence}</code>
    </>
  )
}

interface StatusTextProps {
  request: RecordedRequest
  class?: string
}

/** Shows a response's status in the color of the request's tone. */
export function StatusText({ request, class: className = '' }: StatusTextProps) {
  const { status, duration } = request
  const tone = toneOf(request)
  const withoutStatus = duration === undefined ? '…' : 'none'
  return (
    <code class={`toned ${tone ? 'is-strong' : ''} ${toneClass(tone)} ${className}`}>
      {status ?? withoutStatus}
    </code>
  )
}
