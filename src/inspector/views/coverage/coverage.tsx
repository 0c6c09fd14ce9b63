import type { Coverage, CoverageItem } from '../../../client/index.js'
import { Chip } from '../../parts/chip.js'
import { ErrorNote } from '../../parts/errors.js'
import { Scroll } from '../../parts/pane.js'
import { useResource } from '../../parts/resource.js'
import { useSession } from '../../shell/session.js'
import { Actions, useAct } from '../acts.js'

/** What of the contract the requests to the environment have met. */
export function CoverageView() {
  const { env, version } = useSession()
  const act = useAct()
  const { value, error, reload } = useResource(() => env.coverage(), [env, version])
  const clear = {
    name: 'Start over',
    run: () => act(() => env.clearCoverage(), 'The count begins again')
  }
  return (
    <div class="view">
      <h1 class="visually-hidden">Coverage</h1>
      <div class="head">
        {value && (
          <div class="head-title">
            <span class="big">{value.percentage} %</span>
            <h2>{`${value.covered} of ${value.total} things of the contract were met`}</h2>
            <span class="hint">by {value.requests.toLocaleString()} requests</span>
          </div>
        )}
        <Actions actions={[{ name: 'Load again', run: reload }, clear]} />
      </div>
      <Scroll>
        {error !== undefined && <ErrorNote error={error} retry={reload} />}
        {value && <Operations operations={value.operations} />}
      </Scroll>
    </div>
  )
}

/** What of each operation was met, and how to meet the rest. */
export function Operations({ operations }: Pick<Coverage, 'operations'>) {
  return operations.map(({ operation, method, path, covered, total, items }) => {
    const missing = items.filter((item) => !item.covered)
    const met = items.filter((item) => item.covered)
    return (
      <section key={operation} class="card coverage" aria-label={operation}>
        <div class="head-title">
          <h2>{operation}</h2>
          <code class="muted">{`${method} ${path}`}</code>
          <b>{`${covered} of ${total}`}</b>
        </div>
        <progress max={total} value={covered} aria-label={`Met of ${operation}`} />
        <ul class="records" aria-label={`Not met of ${operation}`}>
          {missing.map((item) => (
            <li key={item.id} class="line">
              <b>{wordsOf(item)}</b>
              <span class="muted">{item.how}</span>
            </li>
          ))}
        </ul>
        <p class="line">
          {met.map((item) => (
            <Chip key={item.id} tone={item.byFault ? 'fault' : 'good'}>
              {wordsOf(item)}
            </Chip>
          ))}
        </p>
      </section>
    )
  })
}

function wordsOf({ kind, name }: CoverageItem): string {
  if (kind === 'operation') return 'called'
  return kind === 'status' ? `answered with ${name}` : kind === 'header' ? `header ${name}` : name
}
