import { useState } from 'preact/hooks'
import type { RecordedRequest } from '../../../client/index.js'
import { moveFocus } from '../../parts/keys.js'
import { go } from '../../shell/router.js'
import { targetOf } from './filter.js'
import { formatDuration, Marks, Status, timeOfDay } from './marks.js'

/** Rows that are shown at first, and that each press of the button adds. */
const PAGE = 50

interface Props {
  /** Newest first. */
  requests: readonly RecordedRequest[]
  /** The sequence of the one that is open. */
  open: number | undefined
  addressOf(sequence: number): string
}

/** The requests as a table, of which only as many rows exist as were asked for. */
export function RequestList({ requests, open, addressOf }: Props) {
  const [count, setCount] = useState(PAGE)
  const shown = requests.slice(0, count)
  const focusable = shown.some(({ sequence }) => sequence === open) ? open : shown[0]?.sequence
  return (
    <div class="requests-list" onKeyDown={moveFocus}>
      <table>
        <caption class="visually-hidden">Requests, newest first</caption>
        <thead>
          <tr>
            <th class="requests-time">Time (UTC)</th>
            <th class="requests-status">Status</th>
            <th>Request</th>
            <th class="requests-duration number">Took</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((request) => (
            <Row
              key={request.sequence}
              request={request}
              address={addressOf(request.sequence)}
              isOpen={request.sequence === open}
              isAnyOpen={open !== undefined}
              isFocusable={request.sequence === focusable}
            />
          ))}
        </tbody>
      </table>
      {requests.length > count && (
        <button type="button" onClick={() => setCount(count + PAGE)}>
          Show {Math.min(PAGE, requests.length - count)} more
        </button>
      )}
    </div>
  )
}

interface RowProps {
  request: RecordedRequest
  address: string
  isOpen: boolean
  isAnyOpen: boolean
  isFocusable: boolean
}

function Row({ request, address, isOpen, isAnyOpen, isFocusable }: RowProps) {
  const { sequence, time, method, reason, duration } = request
  const openHere = ({ target, ctrlKey, metaKey, shiftKey, altKey }: MouseEvent) => {
    // The link does by itself what is wanted of it, such as opening a tab.
    const isOfLink = target instanceof Element && target.closest('a')
    if (!isOfLink && !ctrlKey && !metaKey && !shiftKey && !altKey && getSelection()?.isCollapsed !== false) go(address)
  }
  return (
    <tr class={isOpen ? 'is-open' : undefined} onClick={openHere}>
      <td class="requests-time" title={time}>
        {timeOfDay(time)}
      </td>
      <td>
        <Status request={request} />
      </td>
      <td>
        <div class="requests-line">
          <a
            data-item
            id={`request-${sequence}`}
            href={address}
            tabIndex={isFocusable ? 0 : -1}
            aria-current={isOpen ? 'true' : undefined}
            title={targetOf(request)}
            // As one goes through the list, what is open follows.
            onFocus={() => isAnyOpen && go(address, { replace: true })}
          >
            <b>{method}</b> <bdi>{targetOf(request)}</bdi>
          </a>
          <Marks request={request} />
        </div>
        {reason !== undefined && (
          <p class="requests-reason" dir="auto" title={reason}>
            {reason}
          </p>
        )}
      </td>
      <td class="requests-duration number">{formatDuration(duration)}</td>
    </tr>
  )
}
