import type { ListedWorkflow, WorkflowStep } from '../../../client/index.js'
import { ErrorNote } from '../../parts/errors.js'
import { JsonTree, parsed } from '../../parts/json-tree.js'
import { NothingOpen } from '../../parts/list-view.js'
import { useResource } from '../../parts/resource.js'
import { Row } from '../../parts/row.js'
import { addressOf, go, type Route } from '../../shell/router.js'
import { useSession } from '../../shell/session.js'
import { useService } from '../acts.js'
import { Preview, type Shown } from '../messages/preview.js'
import { CHANNELS, isFound, RecordPane, RecordsView } from '../records.js'

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
  const workflow = resource.value?.find(({ _id, slug, identifier }) =>
    [_id, slug, identifier].includes(workflowId)
  )
  // A workflow without a step stands for its first one.
  const step = workflow?.steps.find(
    (each) => !stepId || [each._id, each.slug, each.stepId].includes(stepId)
  )
  return (
    <RecordsView
      route={route}
      placeholder="workflow, step, type"
      count={count === 1 ? '1 step' : `${count.toLocaleString()} steps`}
      resource={resource}
      label="Workflows and their steps"
      items={items}
      pathOf={({ workflow, step }) => step && [workflow.identifier, step.stepId]}
      rowOf={({ workflow: { name, identifier }, step }, row) => {
        const heading = [<bdi class="cut">{name}</bdi>, <code class="muted cut">{identifier}</code>]
        if (!step) return <h2 class="group">{heading}</h2>
        const look = {
          lead: step.type,
          end: <code dir="auto">{step.stepId}</code>,
          children: <bdi>{step.name}</bdi>
        }
        return <Row {...row} {...look} />
      }}
      open={workflow && step && { workflow, step }}
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

/** One step, as the service itself answers for it: its controls, issues and variables as trees, beside what it sends. */
function StepPane({ workflowId, stepId, back }: Record<'workflowId' | 'stepId' | 'back', string>) {
  const { env, version } = useSession()
  const ask = useService()
  const path = `/v2/workflows/${encodeURIComponent(workflowId)}/steps/${encodeURIComponent(stepId)}`
  const load = async (isAsked: boolean) => (await ask('GET', path, isAsked)).json
  const { value, error, reload } = useResource(load, [env, version, path])
  if (value === undefined || error !== undefined) {
    return (
      <NothingOpen back={back}>
        {error !== undefined && <ErrorNote error={error} retry={reload} />}
      </NothingOpen>
    )
  }
  // The profile `live` has it in an envelope.
  const step: WorkflowStep = (value as { data?: WorkflowStep }).data ?? (value as WorkflowStep)
  const { _id, workflowId: _workflowId, workflowDatabaseId, origin: _origin, ...fields } = step
  const known = Object.entries({ ...step.issues?.integration, ...step.issues?.controls })
  const issues = known.flatMap(([of, each]) => each.map(({ message }) => `${of}: ${message}`))
  const own = {
    Controls: step.controlValues ?? {},
    ...(issues.length > 0 && { Issues: step.issues })
  }
  const trees = { ...own, Variables: sketchOf(step.variables) }
  const shown = shownOf(step)
  const save = async (changes: object) => {
    const saved = await env.workflows.changeStep(workflowDatabaseId, _id, changes)
    // It may have another address now.
    if (saved.stepId !== stepId)
      go(addressOf(['workflows', workflowId, saved.stepId]), { replace: true })
  }
  const parts = () => (
    <div class="step-parts">
      <div class="form">
        {Object.entries(trees).map(([name, tree]) => [
          <h3 key={name}>{name}</h3>,
          <JsonTree key={`${name} tree`} value={tree} label={name} />
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
      save={save}
      look={{ title: 'Step', content: parts }}
    />
  )
}

/** Returns a step as a message of it, with the variables as the template has them; undefined if it sends none. */
function shownOf({ type, controlValues = {} }: WorkflowStep): Shown | undefined {
  const channel = CHANNELS.find((each) => each === type)
  const {
    subject = '',
    body = '',
    primaryAction,
    secondaryAction,
    redirect
  } = controlValues as Record<string, unknown>
  if (!channel || (body === '' && subject === '')) return undefined
  // The body of a block editor is JSON.
  const document = typeof body === 'string' ? parsed(body) : body
  const content = Object(document).type === 'doc' ? textIn(document) : String(body)
  const buttons = [
    { type: 'primary' as const, content: Object(primaryAction).label },
    { type: 'secondary' as const, content: Object(secondaryAction).label }
  ].filter(({ content }) => content)
  const cta = { data: { url: Object(redirect).url }, action: { buttons } }
  return { channel, content, subject: String(subject), cta }
}

/** Returns the text of what a block editor has written, a line a block. A seed may have anything there. */
function textIn(block: unknown): string {
  const { type, text = '', attrs, content } = Object(block)
  const { id, fallback } = Object(attrs)
  if (type === 'variable') return `{{${id}${fallback ? ` | default: '${fallback}'` : ''}}}`
  const inner = text + [content ?? []].flat().map(textIn).join('')
  return type === 'doc' || type === 'text' ? inner : `${inner}\n`
}

/** Returns what a JSON Schema describes in its own shape, with types for values, such as `{ email: 'string' }`. */
function sketchOf(schema: unknown): unknown {
  const { type = 'any', properties, items, enum: values = type, format } = Object(schema)
  const fields = Object.entries(Object(properties))
  if (fields.length > 0)
    return Object.fromEntries(fields.map(([name, own]) => [name, sketchOf(own)]))
  if (items) return [sketchOf(items)]
  return [[values].flat().join(' | '), format].filter(Boolean).join(', ')
}
