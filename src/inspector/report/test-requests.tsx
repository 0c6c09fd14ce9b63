import type { ReportedTest } from '../../client/report.js'
import { CopyButton } from '../parts/copy.js'
import { formatDuration } from '../parts/format-time.js'
import { useRoute } from '../shell/router.js'
import { toCurl } from '../views/requests/copy-as.js'
import { RequestContent, ResponseContent } from '../views/requests/exchange.js'
import { toneOf } from '../views/requests/format-request.js'
import { RequestList, StatusText, withChanges } from '../views/requests/request-list.js'

/** A server with default settings: copied commands run against it. */
const DEFAULT_SERVER = {
  url: 'http://127.0.0.1:4210',
  headers: { authorization: 'ApiKey development-key' }
}

export interface TestRequestsProps extends Pick<ReportedTest, 'requests'> {
  changes?: ReportedTest['changes'] | undefined
  /** The number of older requests that the journal dropped. */
  lost?: ReportedTest['lost'] | undefined
  href(sequence: number): string
}

/** The requests of a test, oldest first, with the changes between them, and the open request. */
export function TestRequests({ requests, changes = [], lost = 0, href }: TestRequestsProps) {
  const sequence = Number(useRoute().rest[1])
  // By default the first request that failed or has a reason is open, or else the last one.
  const open =
    requests.find((request) => request.sequence === sequence) ??
    requests.find((request) => toneOf(request) ?? request.reason) ??
    requests.at(-1)
  if (!open) return <p class="muted">The test sent no request with the key of its environment.</p>
  const items = withChanges(requests.toReversed(), changes).reverse()
  return (
    <>
      {lost > 0 && <p class="hint">{lost.toLocaleString()} older requests were dropped.</p>}
      <RequestList
        label="Requests"
        items={items}
        current={open.sequence}
        href={href}
        isScrolledTo
      />
      <div class="line">
        <h2>Response</h2>
        <StatusText request={open} />
        <span class="hint spread">{`${formatDuration(open.duration)} · #${open.sequence}`}</span>
        <CopyButton text={() => toCurl(DEFAULT_SERVER, open)}>Copy as curl</CopyButton>
      </div>
      <ResponseContent key={open.sequence} exchange={open} />
      <h2>Request</h2>
      <RequestContent request={open} />
    </>
  )
}
