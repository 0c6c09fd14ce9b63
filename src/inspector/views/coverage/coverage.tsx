import { ErrorNote } from '../../parts/errors.js'
import { Scroll } from '../../parts/pane.js'
import { useResource } from '../../parts/resource.js'
import { useSession } from '../../shell/session.js'
import { Actions, useAct } from '../acts.js'
import { Operations } from './operations.js'

/** What of the contract the requests to the environment have met. */
export function CoverageView() {
  const { env, version } = useSession()
  const act = useAct()
  const { value, error, reload } = useResource(() => env.coverage(), [env, version])
  const clear = () => act(() => env.clearCoverage(), 'The count begins again')
  const actions = [
    { name: 'Load again', run: reload },
    { name: 'Start over', run: clear }
  ]
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
        <Actions actions={actions} />
      </div>
      <Scroll>
        {error !== undefined && <ErrorNote error={error} retry={reload} />}
        {value && <Operations operations={value.operations} />}
      </Scroll>
    </div>
  )
}
