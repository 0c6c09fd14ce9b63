import type { RecordedRequest } from '../../../client/index.js'
import { formatLocalTime, formatLocalTimeOfDay, formatTime } from '../../parts/format-time.js'

/**
 * The environment's clock and the machine's clock count as equal if they differ by less than this
 * many milliseconds.
 */
const MAX_CLOCK_DIFFERENCE = 1000

/**
 * Shows the time of day at which a request arrived, in the viewer's time zone. The tooltip adds the
 * date and, if the environment's clock differs, the time by that clock.
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
