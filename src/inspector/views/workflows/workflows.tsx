import { useMemo } from 'preact/hooks'
import type { ListedWorkflow } from '../../../client/index.js'
import { Chip } from '../../parts/chip.js'
import { Empty } from '../../parts/empty.js'
import { ListView, NothingOpen } from '../../parts/list-view.js'
import { useResource } from '../../parts/resource.js'
import { Row } from '../../parts/row.js'
import { addressOf, go } from '../../shell/router.js'
import { useSession } from '../../shell/session.js'
import type { ViewProps } from '../view.js'
import { StepPane } from './step.js'

type ListedStep = ListedWorkflow['steps'][number]
/** A workflow, or a step of it. */
type Item = { workflow: ListedWorkflow; step?: ListedStep }

/** The workflows with their steps; a step at `#/workflows/<workflow>/<step>` stands beside them. */
export function WorkflowsView({ route }: ViewProps) {
  const { env, version } = useSession()
  const { value: workflows, error, isLoading, reload } = useResource(() => env.workflows.list(), [env, version])
  const text = route.params.get('q') ?? ''
  const [workflowId, stepId] = route.rest
  const items = useMemo(() => itemsOf(workflows ?? [], text), [workflows, text])
  const steps = items.filter(({ step }) => step)
  const workflow = workflows?.find((each) => isCalled(each, workflowId))
  const known = workflow?.steps.find((each) => isCalled(each, stepId))
  // A workflow without a step stands for its first one.
  const [first] = workflow?.steps ?? []
  const open = stepId ?? first?.stepId
  const back = addressOf(['workflows'], { q: text })
  const href = ({ workflow: { identifier }, step }: Item) =>
    addressOf(['workflows', identifier, step?.stepId ?? ''], { q: text })
  const nothing = workflows && <NoWorkflows isSearch={text !== ''} />
  return (
    <ListView
      title="Workflows"
      search={{
        placeholder: 'workflow, step, type',
        text,
        change: (q) => go(addressOf(['workflows', ...route.rest], { q }), { replace: true })
      }}
      tools={
        <span class="hint" role="status">
          {steps.length === 1 ? '1 step' : `${steps.length.toLocaleString()} steps`}
        </span>
      }
      resource={{ error, isLoading, reload }}
      label="Workflows and their steps"
      items={items}
      keyOf={(item) => item.step?._id}
      current={known?._id ?? (stepId === undefined ? first?._id : undefined)}
      choose={(id) => {
        const chosen = items.find(({ step }) => step?._id === id)
        if (chosen) go(href(chosen), { replace: true })
      }}
      nothing={nothing}
      isOpen={workflowId !== undefined}
      open={
        workflowId !== undefined && open !== undefined ? (
          <StepPane
            key={`${workflowId}/${open}`}
            workflowId={workflowId}
            stepId={open}
            back={back}
            tab={route.params.get('as') ?? undefined}
            chooseTab={(as) => go(addressOf(['workflows', workflowId, open], { q: text, as }), { replace: true })}
          />
        ) : (
          <NothingOpen back={workflowId === undefined ? undefined : back}>
            {workflowId === undefined
              ? 'Choose a step to see what it is made of'
              : workflow
                ? 'The workflow has no steps'
                : workflows && `There is no workflow ${workflowId}`}
          </NothingOpen>
        )
      }
    >
      {(item, place) =>
        item.step ? (
          <Row href={href(item)} {...place} lead={item.step.type} end={<code dir="auto">{item.step.stepId}</code>}>
            <bdi>{item.step.name}</bdi>
          </Row>
        ) : (
          <h2 class="group">
            <bdi class="cut">{item.workflow.name}</bdi> <Chip>{item.workflow.origin}</Chip>
            <code class="muted cut spread" dir="auto">
              {item.workflow.identifier}
            </code>
          </h2>
        )
      }
    </ListView>
  )
}

function NoWorkflows({ isSearch }: { isSearch: boolean }) {
  return (
    <Empty title={isSearch ? 'No workflow or step is called so' : 'The environment has no workflows'}>
      {isSearch ? (
        <a href={addressOf(['workflows'])}>All workflows</a>
      ) : (
        <p>
          Workflows come with a seed, under <code>workflows:</code>. The packaged seed <code>steps</code> has all types
          of steps.
        </p>
      )}
    </Empty>
  )
}

/** Returns the workflows that a text is about, each with its steps after it. */
function itemsOf(workflows: readonly ListedWorkflow[], text: string): Item[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  return workflows.flatMap((workflow) => {
    const { name, identifier, origin, steps } = workflow
    const own = `${name} ${identifier} ${origin}`.toLowerCase()
    const found = steps.filter((step) => {
      const all = `${own} ${step.name} ${step.stepId} ${step.type}`.toLowerCase()
      return words.every((word) => all.includes(word))
    })
    if (found.length === 0 && !words.every((word) => own.includes(word))) return []
    return [{ workflow }, ...found.map((step) => ({ workflow, step }))]
  })
}

function isCalled({ _id, slug, ...names }: ListedWorkflow | ListedStep, id: string | undefined): boolean {
  return id !== undefined && [_id, slug, 'identifier' in names ? names.identifier : names.stepId].includes(id)
}
