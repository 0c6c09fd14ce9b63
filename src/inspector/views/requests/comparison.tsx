import type { RecordedExchange } from '../../../client/index.js'
import { Chip } from '../../parts/chip.js'
import { formatDuration } from '../../parts/format-time.js'
import { parseJsonOrText, parseTruncatedJson } from '../../parts/json.js'
import { JsonTree } from '../../parts/json-tree.js'

/** A response to compare, with a title such as `Now`. */
export type TitledResponse = Pick<RecordedExchange, 'status' | 'duration' | 'response'> & {
  title: string
}

/** Shows two responses side by side with their differences marked. */
export function Comparison({ responses }: { responses: readonly TitledResponse[] }) {
  const completeBodies = responses.map(({ response }) => response?.body ?? '')
  const isTruncated = responses.some(({ response }) => response?.truncated)
  // If a body is truncated, compare both bodies only up to the length of the shorter one.
  const length = isTruncated ? Math.min(...completeBodies.map((body) => body.length)) : undefined
  const bodies = completeBodies.map((body) => body.slice(0, length))
  const isEqual = responses[0]?.status === responses[1]?.status && bodies[0] === bodies[1]
  const values = bodies.map(isTruncated ? parseTruncatedJson : parseJsonOrText)
  return (
    <>
      <p>
        <Chip tone={isEqual ? 'good' : 'warn'}>
          {isEqual ? 'The responses are equal' : 'Differences are marked'}
        </Chip>
      </p>
      <div class="compare">
        {responses.map(({ title, status = 'no response', duration }, index) => (
          <section key={title}>
            <h3>{[title, status, formatDuration(duration)].join(' · ')}</h3>
            <JsonTree label={title} value={values[index]} other={values[1 - index]} />
          </section>
        ))}
      </div>
    </>
  )
}
