import './workflows.css'
import { useState } from 'preact/hooks'
import type { StepPatch, WorkflowStep } from '../../../client/index.js'
import { Callout, Chip } from '../../parts/chip.js'
import { copyText } from '../../parts/copy.js'
import { curlOf } from '../../parts/curl.js'
import { useCloseDetail } from '../../parts/detail.js'
import { ErrorNote } from '../../parts/errors.js'
import { changesOf, type Fields, JsonDialog } from '../../parts/json-form.js'
import { JsonTree } from '../../parts/json-tree.js'
import { Close, Pane, Scroll } from '../../parts/pane.js'
import { useResource } from '../../parts/resource.js'
import { Tabs } from '../../parts/tabs.js'
import { useToasts } from '../../parts/toast.js'
import { type Answer, lookOptions, reasonOf, useSession } from '../../shell/session.js'
import { Preview } from '../messages/preview.js'
import { shownOf } from './shown.js'
import { sketchOf } from './sketch.js'

interface Props {
  workflowId: string
  stepId: string
  back: string
  tab: string | undefined
  chooseTab(tab: string): void
}

/** One step, as the service itself answers for it. */
export function StepPane({ workflowId, stepId, back, tab, chooseTab }: Props) {
  const { call, env, version, changed } = useSession()
  const { run } = useToasts()
  const [isEditing, setEditing] = useState(false)
  const path = `/v2/workflows/${encodeURIComponent(workflowId)}/steps/${encodeURIComponent(stepId)}`
  const resource = useResource((_, isAsked) => call('GET', path, lookOptions(isAsked)), [call, version, path])
  const { value: answer, error, isLoading, isBusy, reload } = resource
  const step = answer?.status === 200 ? stepIn(answer.json) : undefined
  useCloseDetail(back)
  const title = (
    <div class="head-title">
      <h2 dir="auto">{step?.name ?? stepId}</h2>
      {step && <Chip tone="accent">{step.type}</Chip>}
      <span class="hint" dir="auto">
        {workflowId} / {stepId}
      </span>
      <Close back={back} />
    </div>
  )
  if (!step) {
    return (
      <Pane label="The step" head={<div class="head">{title}</div>}>
        <Scroll>
          {error !== undefined && !isLoading && <ErrorNote error={error} retry={reload} />}
          {answer && <ErrorNote error={refusalOf(answer)} retry={reload} />}
          {answer?.json !== undefined && <JsonTree value={answer.json} label="The answer" />}
        </Scroll>
      </Pane>
    )
  }
  const save = async (after: Fields) => {
    await env.workflows.changeStep(step.workflowDatabaseId, step._id, changesOf(editable(step), after) as StepPatch)
    changed()
  }
  const curl = () => curlOf({ method: 'GET', url: `${env.url}${path}`, headers: env.headers })
  const issues = issuesOf(step)
  const head = (
    <div class="head">
      {title}
      {issues.length > 0 && (
        <Callout tone="warn" icon="warn">
          <span>{issues.length === 1 ? issues[0] : `${issues.length} issues: ${issues[0]} …`}</span>
        </Callout>
      )}
      <div class="line">
        <button type="button" onClick={() => setEditing(true)}>
          Edit
        </button>
        <button type="button" disabled={isBusy} title="As a request of the app, which is recorded" onClick={reload}>
          Ask again
        </button>
        <button type="button" onClick={() => run(() => copyText(curl()), 'Copied')}>
          Copy as curl
        </button>
      </div>
    </div>
  )
  const tabs = [
    { id: 'step', title: 'Step', content: () => <Step step={step} /> },
    { id: 'json', title: 'JSON', content: () => <JsonTree value={answer?.json} label="The answer" /> }
  ]
  return (
    <Pane label="The step" head={head}>
      <Tabs label="Of this step" tabs={tabs} current={tab} choose={chooseTab} />
      {isEditing && (
        <JsonDialog
          title="Edit the step"
          value={editable(step)}
          button="Save"
          submit={save}
          close={() => setEditing(false)}
        />
      )}
    </Pane>
  )
}

/** The values of its controls, its issues and its variables as trees, and beside them what it sends. */
function Step({ step }: { step: WorkflowStep }) {
  const shown = shownOf(step)
  const issues = Object.entries(step.issues ?? {}).filter(([, each]) => Object.keys(each).length > 0)
  return (
    <div class={shown ? 'step-parts' : undefined}>
      <div class="form">
        <h3>Controls</h3>
        {Object.keys(step.controlValues ?? {}).length > 0 ? (
          <JsonTree value={step.controlValues} label="Controls" />
        ) : (
          <p class="muted">None is set.</p>
        )}
        {issues.length > 0 && <h3>Issues, as of when it was saved</h3>}
        {issues.length > 0 && <JsonTree value={Object.fromEntries(issues)} label="Issues" />}
        <h3>Variables</h3>
        <JsonTree value={sketchOf(step.variables)} label="Variables" />
      </div>
      {shown && (
        <section class="form" aria-label="Preview">
          <h3>Preview</h3>
          {shown.channel === 'email' && shown.subject && (
            <p>
              <b dir="auto">{shown.subject}</b>
            </p>
          )}
          <Preview message={shown} />
        </section>
      )}
    </div>
  )
}

/** The profile `live` has it in an envelope. */
function stepIn(json: unknown): WorkflowStep | undefined {
  const object = json as { data?: WorkflowStep } | WorkflowStep | undefined
  return object && 'data' in object ? object.data : (object as WorkflowStep | undefined)
}

/** Why it is no step, in the server's words. */
function refusalOf(answer: Answer): string {
  const message = (answer.json as { message?: unknown } | undefined)?.message
  return reasonOf(answer) ?? String(message ?? `The service answered with ${answer.status}.`)
}

/** Returns what of a step can be changed. */
function editable(step: WorkflowStep): Fields {
  const { _id, workflowId: _workflowId, workflowDatabaseId: _workflow, origin: _origin, ...fields } = step
  return fields
}

/** Returns each issue in words. */
function issuesOf({ issues }: WorkflowStep): string[] {
  return Object.entries({ ...issues?.integration, ...issues?.controls }).flatMap(([of, each]) =>
    each.map(({ message }) => `${of}: ${message}`)
  )
}
