import type { RecordedRequest } from '../../../client/index.js'
import { targetOf } from './filter.js'
import { formatDuration, Status } from './marks.js'

/** What came before and after a request, with the time from one to the next. */
export function Timeline({
  requests,
  sequence,
  addressOf
}: {
  requests: readonly RecordedRequest[]
  sequence: number
  addressOf(sequence: number): string
}) {
  return (
    <ol class="requests-timeline">
      {requests.map((request, index) => (
        <li key={request.sequence} class={request.sequence === sequence ? 'is-open' : undefined}>
          <span class="requests-apart">{apart(requests[index - 1], request)}</span>
          <Status request={request} />
          <a
            href={addressOf(request.sequence)}
            aria-current={request.sequence === sequence ? 'true' : undefined}
            title={targetOf(request)}
          >
            <b>{request.method}</b> <bdi>{targetOf(request)}</bdi>
          </a>
        </li>
      ))}
    </ol>
  )
}

function apart(earlier: RecordedRequest | undefined, { time }: RecordedRequest): string {
  return earlier ? `+${formatDuration(Date.parse(time) - Date.parse(earlier.time))}` : ''
}
