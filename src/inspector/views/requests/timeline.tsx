import type { Change, RecordedRequest } from '../../../client/index.js'
import { signedDuration } from '../../parts/times.js'
import { targetOf } from './filter.js'
import { formatDuration, Marks, Status } from './marks.js'

/** How many changes from one request to the next are shown, the last ones. */
const MAX_CHANGES = 5

interface Props {
  /** Those around one, oldest first. */
  requests: readonly RecordedRequest[]
  /** All that are known of the environment, oldest first. */
  changes: readonly Change[]
  sequence: number
  addressOf(sequence: number): string
}

type Row = { time: string } & ({ request: RecordedRequest } | { change: Change; left: number })

/** What came before and after a request, and what was done to the environment in between, with the times apart. */
export function Timeline({ requests, changes, sequence, addressOf }: Props) {
  const rows = rowsOf(requests, changes)
  return (
    <ol class="requests-timeline">
      {rows.map((row, index) =>
        'change' in row ? (
          <li key={`change ${row.change.sequence}`} class="requests-change">
            <span class="requests-apart">{apart(rows[index - 1], row)}</span>
            <span class="badge is-accent">change</span>
            <span>
              {row.left > 0 && <span class="hint">{row.left.toLocaleString()} others, then: </span>}
              {row.change.summary} {row.change.target !== undefined && <code dir="auto">{row.change.target}</code>}
            </span>
          </li>
        ) : (
          <li key={row.request.sequence} class={row.request.sequence === sequence ? 'is-open' : undefined}>
            <span class="requests-apart">{apart(rows[index - 1], row)}</span>
            <Status request={row.request} />
            <a
              href={addressOf(row.request.sequence)}
              aria-current={row.request.sequence === sequence ? 'true' : undefined}
              title={targetOf(row.request)}
            >
              <b>{row.request.method}</b> <bdi>{targetOf(row.request)}</bdi>
            </a>
            <Marks request={row.request} />
          </li>
        )
      )}
    </ol>
  )
}

/** Returns the requests with the changes between them, before the first of them and after the last. */
function rowsOf(requests: readonly RecordedRequest[], changes: readonly Change[]): Row[] {
  const first = requests[0]?.sequence ?? 0
  const changesFrom = (from: number, to: number): Row[] => {
    const between = changes.filter(({ after }) => after >= from && after < to)
    const left = Math.max(0, between.length - MAX_CHANGES)
    return between.slice(left).map((change, index) => ({ time: change.time, change, left: index === 0 ? left : 0 }))
  }
  return [
    ...changesFrom(first - 1, first),
    ...requests.flatMap((request, index) => {
      const { sequence, time } = request
      const next = requests[index + 1]?.sequence ?? sequence + 1
      return [{ time, request }, ...changesFrom(sequence, next)]
    })
  ]
}

function apart(earlier: Row | undefined, { time }: Row): string {
  if (!earlier) return ''
  const milliseconds = Date.parse(time) - Date.parse(earlier.time)
  // A clock that was set may go far, and back.
  if (Math.abs(milliseconds) >= 60_000 || milliseconds < 0) return signedDuration(milliseconds)
  return `+${formatDuration(milliseconds)}`
}
