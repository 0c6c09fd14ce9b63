import type { Coverage, CoverageItem } from '../../../client/index.js'
import { Chip } from '../../parts/chip.js'
import { ErrorNote } from '../../parts/error-note.js'
import { Scroll } from '../../parts/pane.js'
import { useResource } from '../../parts/resource.js'
import { useConnectionProblem, useFeed } from '../../shell/live-provider.js'
import { useSession } from '../../shell/session.js'
import { ActionButtons, useAction } from '../actions.js'

/** Minimum milliseconds between two reloads while requests arrive. */
const RELOAD_INTERVAL = 1000

/** Shows which parts of the API have been covered by requests to the environment. */
export function CoverageView() {
  const { env, version } = useSession()
  const problem = useConnectionProblem()
  const runAction = useAction()
  const { requests } = useFeed(RELOAD_INTERVAL)
  const { value, error, reload } = useResource(() => env.coverage(), [env, version, requests])
  const startOver = () => runAction(() => env.clearCoverage(), 'Coverage was reset to zero')
  return (
    <div class="view">
      <h1 class="visually-hidden">Coverage</h1>
      <div class="head">
        {value && (
          <div class="head-title">
            <span class="big">{value.percentage} %</span>
            <h2>{`${value.covered} of ${value.total} parts of the API are covered`}</h2>
            <span class="hint">
              by {value.requests.toLocaleString()} {value.requests === 1 ? 'request' : 'requests'}
            </span>
          </div>
        )}
        <ActionButtons actions={[{ name: 'Start over', run: startOver }]} />
      </div>
      <Scroll>
        {error !== undefined && !problem && <ErrorNote error={error} retry={reload} />}
        {value && <OperationCoverage operations={value.operations} />}
      </Scroll>
    </div>
  )
}

/**
 * Lists the parts of each operation: first the parts that aren't covered yet and how to cover them,
 * then the covered parts.
 */
export function OperationCoverage({ operations }: Pick<Coverage, 'operations'>) {
  return operations.map(({ operation, method, path, covered, total, items }) => {
    const missingItems = items.filter((item) => !item.covered)
    const coveredItems = items.filter((item) => item.covered)
    return (
      <section key={operation} class="card coverage" aria-label={operation}>
        <div class="head-title">
          <h2>{operation}</h2>
          <code class="muted">{`${method} ${path}`}</code>
          <b>{`${covered} of ${total}`}</b>
        </div>
        <progress max={total} value={covered} aria-label={`Coverage of ${operation}`} />
        <ul class="records" aria-label={`Not covered in ${operation}`}>
          {missingItems.map((item) => (
            <li key={item.id} class="line">
              <b>{labelOf(item)}</b>
              <span class="muted">{item.how}</span>
            </li>
          ))}
        </ul>
        <p class="line">
          {coveredItems.map((item) => (
            <Chip key={item.id} tone={item.byFault ? 'fault' : 'good'}>
              {labelOf(item)}
            </Chip>
          ))}
        </p>
      </section>
    )
  })
}

function labelOf({ kind, name }: CoverageItem): string {
  if (kind === 'operation') return 'called'
  if (kind === 'status') return `status ${name}`
  if (kind === 'header') return `header ${name}`
  return name
}
