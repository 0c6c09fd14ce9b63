import type { ListedWorkflow } from '../../../client/index.js'
import { ListRow } from '../../parts/list-row.js'
import { useResource } from '../../parts/resource.js'
import type { Route } from '../../shell/router.js'
import { useSession } from '../../shell/session.js'
import { RecordsView, type RowLink } from '../records/records-view.js'
import { searchMatcher } from '../records/search.js'
import { StepPane } from './step-pane.js'

type ListedStep = ListedWorkflow['steps'][number]

/** A row of the list: the heading of a workflow, or one of its steps. */
interface Item {
  workflow: ListedWorkflow
  step?: ListedStep
}

/** Lists the workflows with their steps. `#/workflows/<workflow>/<step>` opens a step. */
export function WorkflowsView({ route }: { route: Route }) {
  const { env, version } = useSession()
  const resource = useResource(() => env.workflows.list(), [env, version])
  const workflows = resource.value ?? []
  const items = matchingItems(workflows, route)
  const count = items.filter(({ step }) => step).length
  return (
    <RecordsView
      route={route}
      placeholder="workflow, step, type"
      count={count === 1 ? '1 step' : `${count.toLocaleString()} steps`}
      resource={resource}
      label="Workflows and their steps"
      items={items}
      pathOf={({ workflow, step }) => step && [workflow.identifier, step.stepId]}
      rowOf={(item, link) => <WorkflowRow item={item} link={link} />}
      open={findOpenStep(workflows, route)}
      pane={({ workflow, step }, back) => (
        <StepPane
          key={step._id}
          workflowId={workflow.identifier}
          stepId={step.stepId}
          back={back}
        />
      )}
    />
  )
}

/** Returns the steps that match the search, grouped below their workflow's heading. */
function matchingItems(workflows: readonly ListedWorkflow[], route: Route): Item[] {
  const matchesSearch = searchMatcher(route)
  return workflows.flatMap((workflow): Item[] => {
    const workflowTexts = [workflow.name, workflow.identifier, workflow.origin]
    const steps = workflow.steps
      .filter(({ name, stepId, type }) => matchesSearch(...workflowTexts, name, stepId, type))
      .map((step) => ({ workflow, step }))
    const hasHeading = steps.length > 0 || matchesSearch(...workflowTexts)
    return hasHeading ? [{ workflow }, ...steps] : []
  })
}

/**
 * Returns the step that the URL names. If the URL names only a workflow, returns the workflow's
 * first step.
 */
function findOpenStep(workflows: readonly ListedWorkflow[], { rest }: Route) {
  const [workflowId = '', stepId] = rest
  const workflow = workflows.find(({ _id, slug, identifier }) =>
    [_id, slug, identifier].includes(workflowId)
  )
  const step = workflow?.steps.find(
    (candidate) => !stepId || [candidate._id, candidate.slug, candidate.stepId].includes(stepId)
  )
  return workflow && step && { workflow, step }
}

function WorkflowRow({ item: { workflow, step }, link }: { item: Item; link: RowLink }) {
  if (!step) {
    return (
      <h2 class="group">
        <bdi class="cut">{workflow.name}</bdi>
        <code class="muted cut">{workflow.identifier}</code>
      </h2>
    )
  }
  return (
    <ListRow {...link} lead={step.type} end={<code dir="auto">{step.stepId}</code>}>
      {step.name}
    </ListRow>
  )
}
