import type { ReplayedRequest } from '../../../client/index.js'
import { compareJson } from '../../parts/compare-json.js'
import { parseJsonOrText, parseTruncatedJson } from '../../parts/json.js'
import { JsonTree } from '../../parts/json-tree.js'

type Difference = NonNullable<ReplayedRequest['differences']>[number]

/**
 * Shows how the response to a repeated request differs from the recorded response. Lists the status
 * and headers line by line, and shows the bodies side by side.
 */
export function Differences({ differences }: { differences: readonly Difference[] }) {
  const body = differences.find(({ part }) => part === 'body')
  const others = differences.filter(({ part }) => part !== 'body')
  return (
    <>
      {others.length > 0 && (
        <ul class="records" aria-label="Differences">
          {others.map(({ part, recorded, repeated }) => (
            <li key={part} class="mono" dir="auto">
              <b>{part}</b> <del class="toned is-bad">{recorded ?? '(none)'}</del>{' '}
              <ins class="toned is-good">{repeated ?? '(none)'}</ins>
            </li>
          ))}
        </ul>
      )}
      {body && <Bodies {...body} />}
    </>
  )
}

function Bodies({ recorded = '', repeated = '' }: Difference) {
  const bodies = [parseBody(recorded), parseBody(repeated)] as const
  // A replay sets the clock to the recorded times, so timestamps must be equal too.
  const { kinds } = compareJson(...bodies, { isExact: true })
  return (
    <div class="compare">
      {['Recorded body', 'Body now'].map((title, index) => (
        <section key={title}>
          <h3>{title}</h3>
          <JsonTree label={title} value={bodies[index]} marks={{ kinds }} />
        </section>
      ))}
    </div>
  )
}

/** Parses a body that may be truncated JSON. Returns any other text unchanged. */
function parseBody(text: string): unknown {
  const value = parseJsonOrText(text)
  return typeof value === 'string' && /^[[{]/.test(text) ? parseTruncatedJson(text) : value
}
