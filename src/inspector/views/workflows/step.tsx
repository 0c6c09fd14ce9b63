import { useMemo } from 'preact/hooks'
import type { ListedWorkflow, WorkflowStep } from '../../../client/index.js'
import { MockError } from '../../../client/index.js'
import { RequestLine, reasonOf } from '../../parts/answer.js'
import { ErrorNote } from '../../parts/errors.js'
import { Json } from '../../parts/json.js'
import { useResource } from '../../parts/resource.js'
import { addressOf } from '../../shell/router.js'
import { type Answer, lookOptions, useSession } from '../../shell/session.js'
import { Controls, IssueList } from './control.js'
import { controlsOf } from './fields.js'
import { isObject } from './schema.js'
import { variablesIn } from './template.js'
import { Variables } from './variables.js'

interface StepProps {
  /** Undefined when it is not in the list. */
  workflow: ListedWorkflow | undefined
  workflowId: string
  stepId: string
}

/** One step, as the service itself answers for it. */
export function StepPage({ workflow, workflowId, stepId }: StepProps) {
  const { call, version } = useSession()
  const path = `/v2/workflows/${encodeURIComponent(workflowId)}/steps/${encodeURIComponent(stepId)}`
  const {
    value: answer,
    error,
    isLoading,
    isAsked,
    isBusy,
    reload
  } = useResource((_, isAsked) => call('GET', path, lookOptions(isAsked)), [call, version, path])
  const isOld = answer?.path !== path
  return (
    <>
      <Trail workflow={workflow} workflowId={workflowId} stepId={stepId} />
      {error !== undefined && !isLoading && <ErrorNote error={error} retry={reload} />}
      {answer && !isOld && (
        <>
          <div class="row" data-held={isBusy || (isAsked && answer.status !== 200)}>
            <RequestLine answer={answer} />
            <button type="button" disabled={isBusy} onClick={reload}>
              Ask again
            </button>
          </div>
          {answer.status === 200 && isObject(answer.json) ? (
            <Step step={stepIn(answer.json)} answer={answer} />
          ) : (
            <>
              <ErrorNote error={refusalOf(answer)} />
              <Json value={answer.json ?? answer.text} label="Answer" />
            </>
          )}
        </>
      )}
      {isOld && isLoading && <p class="loading">Loading…</p>}
    </>
  )
}

/** The profile `live` has it in an envelope. */
function stepIn(json: Record<string, unknown>): WorkflowStep {
  return (isObject(json.data) ? json.data : json) as WorkflowStep
}

function refusalOf(answer: Answer): MockError {
  const { status, json } = answer
  const message = isObject(json) ? json.message : undefined
  return new MockError(reasonOf(answer) ?? String(message ?? `answered with ${status}`), { status })
}

/** The steps of the workflow in their order, this one marked. */
function Trail({ workflow, workflowId, stepId }: StepProps) {
  return (
    <nav class="trail" aria-label="Steps of the workflow">
      <a href={addressOf(['workflows'])}>Workflows</a> /{' '}
      <a href={addressOf(['workflows', workflowId])} dir="auto">
        {workflow?.name ?? workflowId}
      </a>
      <ol>
        {workflow?.steps.map((step) => (
          <li key={step._id}>
            <a
              class="button"
              href={addressOf(['workflows', workflowId, step.stepId])}
              aria-current={[step.stepId, step._id, step.slug].includes(stepId) ? 'step' : undefined}
            >
              <bdi>{step.name}</bdi>
            </a>
          </li>
        ))}
      </ol>
    </nav>
  )
}

function Step({ step, answer }: { step: WorkflowStep; answer: Answer }) {
  const form = useMemo(() => controlsOf(step), [step])
  const used = useMemo(() => new Set(variablesIn(step.controlValues)), [step])
  const { uiSchema, dataSchema } = step.controls
  const hasNone = form.fields.length === 0 && form.otherFields.length === 0
  return (
    <>
      <div class="view-head">
        <h1 dir="auto">{step.name}</h1>
        <span class="badge is-accent">{step.type}</span>
        <span class="badge">{step.origin}</span>
      </div>
      <StepIssues step={step} stray={form.strayIssues} />
      <div class="split step">
        <section class="card" aria-label="Controls">
          <div class="row">
            <h2>Controls</h2>
            {uiSchema?.group !== undefined && <span class="badge">{uiSchema.group}</span>}
            {form.oneOf.length > 0 && <span class="hint">needs {form.oneOf.join(' or ')}</span>}
          </div>
          {hasNone && <p class="hint">{noControls(dataSchema !== undefined)}</p>}
          <Controls fields={form.fields} />
          {form.otherFields.length > 0 && (
            <details>
              <summary>{`Not for this kind: ${form.otherFields.map(({ name }) => name).join(', ')}`}</summary>
              <Controls fields={form.otherFields} />
            </details>
          )}
        </section>
        <div class="side">
          <section class="card" aria-label="Variables">
            <h2>Variables</h2>
            <Variables schema={step.variables ?? {}} used={used} />
          </section>
          <Ids step={step} />
        </div>
      </div>
      <details class="card">
        <summary>The answer as it came, {answer.text.length.toLocaleString()} characters</summary>
        <Json value={answer.json} label="Answer" />
      </details>
    </>
  )
}

function noControls(hasSchema: boolean): string {
  return hasSchema ? 'A step of this type has no controls.' : 'The step has no schemas of controls, and no values.'
}

function StepIssues({ step, stray }: { step: WorkflowStep; stray: ReturnType<typeof controlsOf>['strayIssues'] }) {
  const integration = Object.entries(step.issues?.integration ?? {}).filter(([, issues]) => issues.length > 0)
  const count = Object.values(step.issues?.controls ?? {}).flat().length
  if (integration.length === 0 && count === 0) return null
  return (
    <section class="card step-issues" aria-label="Issues">
      <h2>{`${count + integration.flatMap(([, issues]) => issues).length} issues when it was last saved`}</h2>
      {integration.map(([channel, issues]) => (
        <div key={channel}>
          <h3>Integration of {channel}</h3>
          <IssueList issues={issues} />
        </div>
      ))}
      {stray.map(({ path, issues }) => (
        <div key={path}>
          <h3 dir="auto">{path}</h3>
          <IssueList issues={issues} />
        </div>
      ))}
      {count > 0 && <p class="hint">Those of controls stand at their fields.</p>}
    </section>
  )
}

function Ids({ step }: { step: WorkflowStep }) {
  const { stepId, _id, slug, workflowId, workflowDatabaseId } = step
  return (
    <section class="card" aria-label="Ids">
      <h2>Ids</h2>
      <dl class="facts">
        {Object.entries({ stepId, _id, slug, workflowId, workflowDatabaseId }).map(([name, value]) => (
          <>
            <dt key={`${name} name`}>{name}</dt>
            <dd key={name}>
              <code dir="auto">{value}</code>
            </dd>
          </>
        ))}
      </dl>
    </section>
  )
}
