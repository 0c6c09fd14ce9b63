import type { AnsweredRequest, Change } from '../../client/index.js'
import { CopyButton } from '../parts/copy.js'
import { durationText } from '../parts/times.js'
import { curlAgain } from '../views/requests/copies.js'
import { AnswerOf, Sent } from '../views/requests/detail.js'
import { itemsOf, keyOf, RequestItemRow, StatusText } from '../views/requests/rows.js'

/** A server as `npm start` gives it: what is copied runs there. */
const URL = 'http://127.0.0.1:4210'
const KEY = 'ApiKey development-key'

interface RequestsProps {
  requests: readonly AnsweredRequest[]
  changes?: readonly Change[]
  /** The sequence of the one that is open. */
  current: number | undefined
  href(sequence: number): string
  /** Whether they came without a valid key. */
  isKeyless?: boolean
}

/** Requests in the order in which they came, with what changed between them; and one of them with its answer. */
export function Requests({ requests, changes = [], current, href, isKeyless = false }: RequestsProps) {
  const open = requests.find(({ sequence }) => sequence === current) ?? requests.find(hasFailed) ?? requests.at(-1)
  const items = itemsOf([...requests].reverse(), changes).reverse()
  if (!open) return <p class="muted">It sent no request with the key of its environment.</p>
  const source = { url: URL, authorization: isKeyless ? 'ApiKey the-key-that-the-app-sends' : KEY }
  return (
    <>
      <section>
        <ol class="card report-requests" aria-label="Requests">
          {items.map((item, index) => (
            <li key={index}>
              <RequestItemRow item={item} href={href} isCurrent={keyOf(item) === open.sequence} tabIndex={0} />
            </li>
          ))}
        </ol>
      </section>
      <section>
        <div class="line">
          <h2>What the app received</h2>
          <StatusText request={open} />
          <span class="hint">
            {durationText(open.duration)} · #{open.sequence}
          </span>
          <span class="spread" />
          <CopyButton text={() => curlAgain(source, open)}>Copy as curl</CopyButton>
        </div>
        <div class="report-exchange">
          <AnswerOf request={open} isLoading={false} />
        </div>
      </section>
      <section>
        <h2>What it sent</h2>
        <div class="report-exchange">
          <Sent request={open} />
        </div>
      </section>
    </>
  )
}

const hasFailed = ({ status = 0, reason }: AnsweredRequest) => status >= 400 || reason !== undefined
