import type { ReportedTest } from '../../client/report.js'
import { CopyButton } from '../parts/copy.js'
import { formatDuration } from '../parts/format-time.js'
import { useRoute } from '../shell/router.js'
import { repeatable, toCurl } from '../views/requests/copy-as.js'
import { RequestContent, ResponseContent } from '../views/requests/exchange.js'
import { toneOf } from '../views/requests/format-request.js'
import { RequestList, StatusText, withChanges } from '../views/requests/request-list.js'

/** Copied curl commands send requests to a server with the default port and API key. */
const DEFAULT_SERVER = {
  url: 'http://127.0.0.1:4210',
  headers: { authorization: 'ApiKey development-key' }
}

export interface TestRequestsProps extends Pick<ReportedTest, 'requests'> {
  changes?: ReportedTest['changes'] | undefined
  /** How many of the test's oldest requests the journal has dropped. */
  lost?: ReportedTest['lost'] | undefined
  href(sequence: number): string
}

/**
 * Shows a test's requests and the changes between them, oldest first. Also shows the details of the
 * open request.
 */
export function TestRequests({ requests, changes = [], lost = 0, href }: TestRequestsProps) {
  const sequence = Number(useRoute().rest[1])
  // By default, open the first request that failed or has a reason. If there is no such request,
  // open the last one.
  const open =
    requests.find((request) => request.sequence === sequence) ??
    requests.find((request) => toneOf(request) ?? request.reason) ??
    requests.at(-1)
  if (!open) return <p class="muted">The test sent no requests with its environment's API key.</p>
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
        <CopyButton text={() => toCurl(DEFAULT_SERVER, repeatable(open))}>Copy as curl</CopyButton>
      </div>
      <ResponseContent key={open.sequence} exchange={open} />
      <h2>Request</h2>
      <RequestContent request={open} />
    </>
  )
}
