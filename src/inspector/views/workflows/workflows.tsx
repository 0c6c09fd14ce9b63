import './workflows.css'
import { useEffect } from 'preact/hooks'
import type { ListedWorkflow } from '../../../client/index.js'
import { Empty } from '../../parts/empty.js'
import { ErrorNote } from '../../parts/errors.js'
import { useResource } from '../../parts/resource.js'
import { useCommands } from '../../shell/palette.js'
import { addressOf, go } from '../../shell/router.js'
import { useSession } from '../../shell/session.js'
import type { ViewProps } from '../view.js'
import { WorkflowList, WorkflowPage } from './list.js'
import { StepPage } from './step.js'

/** The palette shows them all at once. */
const MAX_COMMANDS = 200

/** The workflows at `#/workflows`, one at `#/workflows/<workflow>`, a step of it at `#/workflows/<workflow>/<step>`. */
export function WorkflowsView({ route }: ViewProps) {
  const { env, version } = useSession()
  const { value: workflows, error, isLoading, reload } = useResource(() => env.workflows.list(), [env, version])
  const [workflowId, stepId] = route.rest
  useCommands(
    (workflows ?? [])
      .flatMap(({ identifier, steps }) =>
        steps.map((step) => ({
          name: `Show step ${identifier} / ${step.stepId}`,
          run: () => go(addressOf(['workflows', identifier, step.stepId]))
        }))
      )
      .slice(0, MAX_COMMANDS)
  )
  const address = route.rest.join('/')
  useEffect(() => scrollTo(0, 0), [address])
  if (error !== undefined && !isLoading) return <ErrorNote error={error} retry={reload} />
  if (workflows === undefined) return <p class="loading">Loading…</p>
  const workflow = workflows.find((each) => isCalled(each, workflowId))
  if (workflowId !== undefined && stepId !== undefined) {
    return <StepPage workflow={workflow} workflowId={workflowId} stepId={stepId} />
  }
  if (workflow) return <WorkflowPage workflow={workflow} />
  return (
    <>
      <h1>Workflows</h1>
      {workflowId !== undefined && <ErrorNote error={`The environment has no workflow ${workflowId}`} />}
      {workflows.length === 0 ? (
        <Empty title="The environment has no workflows">
          <p>
            Workflows come with a seed, under <code>workflows:</code>. The packaged seed <code>steps</code> has all
            types of steps.
          </p>
        </Empty>
      ) : (
        <WorkflowList workflows={workflows} text={route.params.get('text') ?? ''} />
      )}
    </>
  )
}

function isCalled({ _id, identifier, slug }: ListedWorkflow, id: string | undefined): boolean {
  return id !== undefined && [_id, identifier, slug].includes(id)
}
