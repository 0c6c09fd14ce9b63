import type { RecordedRequest } from '../../../client/index.js'
import { formatLocalTime, formatLocalTimeOfDay, formatTime } from '../../parts/format-time.js'

/**
 * The environment's clock and the machine's clock count as equal if they differ by less than this
 * many milliseconds.
 */
const MAX_CLOCK_DIFFERENCE = 1000

/**
 * Shows when a request arrived, in the viewer's time zone. The tooltip shows the date, and also the
 * time of the environment's clock if that clock differs.
 */
export function RequestTime({ request: { arrived, time } }: { request: RecordedRequest }) {
  const difference = Math.abs(Date.parse(arrived) - Date.parse(time))
  const title =
    difference < MAX_CLOCK_DIFFERENCE
      ? formatLocalTime(arrived)
      : `${formatLocalTime(arrived)}; by the environment's clock: ${formatTime(time)}`
  return (
    <time class="mono" dateTime={arrived} title={title}>
      {formatLocalTimeOfDay(arrived)}
    </time>
  )
}
