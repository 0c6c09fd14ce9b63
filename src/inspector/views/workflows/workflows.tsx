import './workflows.css'
import type { ListedWorkflow, WorkflowStep } from '../../../client/index.js'
import { ErrorNote } from '../../parts/errors.js'
import { JsonTree } from '../../parts/json-tree.js'
import { NothingOpen } from '../../parts/list-view.js'
import { useResource } from '../../parts/resource.js'
import type { Route } from '../../shell/router.js'
import { lookOptions, useSession } from '../../shell/session.js'
import { useService } from '../acts.js'
import { Preview } from '../messages/preview.js'
import { RecordPane } from '../record.js'
import { isFound, RecordsView } from '../records.js'
import { shownOf, sketchOf } from './shown.js'

/** The heading of a workflow, or a step of it. */
type Item = { workflow: ListedWorkflow; step?: ListedWorkflow['steps'][number] }

/** The workflows with their steps; a step at `#/workflows/<workflow>/<step>` stands beside them. */
export function WorkflowsView({ route }: { route: Route }) {
  const { env, version } = useSession()
  const resource = useResource(() => env.workflows.list(), [env, version])
  const isIn = isFound(route)
  const items = (resource.value ?? []).flatMap((workflow): Item[] => {
    const own = [workflow.name, workflow.identifier, workflow.origin]
    const steps = workflow.steps.filter((step) => isIn(...own, step.name, step.stepId, step.type))
    const found = steps.map((step) => ({ workflow, step }))
    return found.length > 0 || isIn(...own) ? [{ workflow }, ...found] : []
  })
  const count = items.filter(({ step }) => step).length
  const [workflowId = '', stepId] = route.rest
  const workflow = resource.value?.find(({ _id, slug, identifier }) => [_id, slug, identifier].includes(workflowId))
  // A workflow without a step stands for its first one.
  const step = workflow?.steps.find((each) => !stepId || [each._id, each.slug, each.stepId].includes(stepId))
  return (
    <RecordsView
      title="Workflows"
      route={route}
      search={{ placeholder: 'workflow, step, type' }}
      count={count === 1 ? '1 step' : `${count.toLocaleString()} steps`}
      resource={resource}
      label="Workflows and their steps"
      items={items}
      pathOf={({ workflow, step }) => step && [workflow.identifier, step.stepId]}
      rowOf={({ workflow: { name, identifier }, step }) => {
        if (!step) return { children: [<bdi class="cut">{name}</bdi>, <code class="muted cut">{identifier}</code>] }
        return { lead: step.type, end: <code dir="auto">{step.stepId}</code>, children: <bdi>{step.name}</bdi> }
      }}
      open={workflow && step && { workflow, step }}
      pane={({ workflow, step }, back) => (
        <StepPane key={step?._id} at={[workflow.identifier, step?.stepId ?? '']} back={back} />
      )}
      reason="They come with a seed, under workflows: in it. The packaged seed steps has all types of steps."
    />
  )
}

/** One step, as the service itself answers for it. */
function StepPane({ at: [workflowId, stepId], back }: { at: [string, string]; back: string }) {
  const { env, version } = useSession()
  const ask = useService()
  const path = `/v2/workflows/${encodeURIComponent(workflowId)}/steps/${encodeURIComponent(stepId)}`
  const load = async (_: AbortSignal, isAsked: boolean) => (await ask('GET', path, lookOptions(isAsked))).json
  const { value, error, reload } = useResource(load, [env, version, path])
  if (value === undefined || error !== undefined) {
    return <NothingOpen back={back}>{error !== undefined && <ErrorNote error={error} retry={reload} />}</NothingOpen>
  }
  // The profile `live` has it in an envelope.
  const step: WorkflowStep = (value as { data?: WorkflowStep }).data ?? (value as WorkflowStep)
  const { _id, workflowId: _workflowId, workflowDatabaseId, origin: _origin, ...fields } = step
  const known = Object.entries({ ...step.issues?.integration, ...step.issues?.controls })
  const issues = known.flatMap(([of, each]) => each.map(({ message }) => `${of}: ${message}`))
  return (
    <RecordPane
      noun="step"
      title={step.name}
      facts={[step.type, workflowId, stepId]}
      problem={issues.join(' · ')}
      back={back}
      actions={[{ name: 'Ask again', run: reload }]}
      json={value}
      fields={fields}
      save={(changes) => env.workflows.changeStep(workflowDatabaseId, _id, changes)}
      look={{ title: 'Step', content: () => <Parts step={step} hasIssues={issues.length > 0} /> }}
    />
  )
}

/** The values of its controls, its issues and its variables as trees, and beside them what it sends. */
function Parts({ step, hasIssues }: { step: WorkflowStep; hasIssues: boolean }) {
  const { controlValues = {}, issues, variables } = step
  const shown = shownOf(step)
  const trees = { Controls: controlValues, ...(hasIssues && { Issues: issues }), Variables: sketchOf(variables) }
  return (
    <div class="step-parts">
      <div class="form">
        {Object.entries(trees).map(([name, value]) => [
          <h3 key={name}>{name}</h3>,
          <JsonTree key={`${name} tree`} value={value} label={name} />
        ])}
      </div>
      {shown && (
        <section class="form" aria-label="Preview">
          <h3>Preview</h3>
          {shown.channel === 'email' && <b dir="auto">{shown.subject}</b>}
          <Preview message={shown} />
        </section>
      )}
    </div>
  )
}
