import type { FaultRule } from '../../../client/index.js'
import { Empty } from '../../parts/empty.js'
import { useFaultActions } from './actions.js'
import { effectWords, isUsedUp, matchWords, timesWords } from './words.js'

/** The rules in the order in which the server asks them, with what came of each. */
export function RuleList({ rules }: { rules: readonly FaultRule[] }) {
  if (rules.length === 0) {
    return (
      <Empty title="No faults: every request is answered as it should be">
        <p>
          Click one above and let your product send its next request, or open a request in Requests and choose “Fail the
          next one like it”.
        </p>
      </Empty>
    )
  }
  return (
    <section aria-labelledby="fault-rules" class="fault-rules">
      <h2 id="fault-rules">Rules</h2>
      <p class="hint">A request gets the first one that applies to it; those below do not see it then.</p>
      <ol class="items">
        {rules.map((rule) => (
          <Rule key={rule.id} rule={rule} />
        ))}
      </ol>
    </section>
  )
}

function Rule({ rule }: { rule: FaultRule }) {
  const { isBusy, remove } = useFaultActions()
  const { id, operation, seen, hits } = rule
  const conditions = matchWords(rule)
  return (
    <li class="fault-rule">
      <div class="fault-words">
        <p>
          <b dir="auto">{effectWords(rule.effect)}</b>{' '}
          {isUsedUp(rule) ? <span class="badge">used up</span> : <span class="badge is-bad">on</span>}{' '}
          <code class="hint">{id}</code>
        </p>
        <p class="hint">
          {operation ?? 'Any operation'}
          {conditions.length > 0 && ' with '}
          {conditions.map((text, index) => (
            <span key={text}>
              {index > 0 && ', '}
              <code dir="auto">{text}</code>
            </span>
          ))}
          , {timesWords(rule)}
        </p>
      </div>
      <span class="fault-counts">
        seen <b>{seen.toLocaleString()}</b>, hits <b>{hits.toLocaleString()}</b>
      </span>
      <button type="button" aria-label={`Remove ${id}`} disabled={isBusy} onClick={() => remove(rule)}>
        Remove
      </button>
    </li>
  )
}
