import type { WorkflowStep } from '../../../client/index.js'
import { EmptyPane } from '../../parts/empty.js'
import { ErrorNote } from '../../parts/error-note.js'
import { JsonTree } from '../../parts/json-tree.js'
import { useResource } from '../../parts/resource.js'
import { WhileConnected } from '../../shell/connection-note.js'
import { hrefTo, navigate } from '../../shell/router.js'
import { useSession } from '../../shell/session.js'
import { useServiceCall } from '../actions.js'
import { MessagePreview } from '../messages/preview.js'
import { RecordPane } from '../records/record-pane.js'
import { messageOfStep } from './step-message.js'
import { outlineOf } from './variables-outline.js'

interface StepPaneProps {
  workflowId: string
  stepId: string
  back: string
}

/** Loads a step from the mocked API, and shows it in a pane. */
export function StepPane({ workflowId, stepId, back }: StepPaneProps) {
  const { env, version } = useSession()
  const callApi = useServiceCall()
  const path = `/v2/workflows/${encodeURIComponent(workflowId)}/steps/${encodeURIComponent(stepId)}`
  const { value, error, reload } = useResource(
    async (isUserAction) => (await callApi('GET', path, isUserAction)).json,
    [env, version, path]
  )
  if (value === undefined || error !== undefined) {
    return (
      <EmptyPane back={back}>
        <WhileConnected>
          {error !== undefined && <ErrorNote error={error} retry={reload} />}
        </WhileConnected>
      </EmptyPane>
    )
  }
  const step = unwrap(value)
  const { _id, workflowId: _workflowId, workflowDatabaseId, origin: _origin, ...fields } = step
  const save = async (changes: object) => {
    const saved = await env.workflows.changeStep(workflowDatabaseId, _id, changes)
    // The pane's URL contains the stepId, so a new stepId requires a new URL.
    if (saved.stepId !== stepId) {
      navigate(hrefTo(['workflows', workflowId, saved.stepId]), { replace: true })
    }
  }
  return (
    <RecordPane
      noun="step"
      title={step.name}
      facts={[step.type, workflowId, stepId]}
      problem={issuesOf(step).join(' · ')}
      back={back}
      actions={[{ name: 'Request again', run: reload }]}
      json={value}
      fields={fields}
      save={save}
      firstTab={{ title: 'Step', content: () => <StepParts step={step} /> }}
    />
  )
}

/**
 * Returns the step in a response body. With the profile `live`, the step is in the field `data`.
 */
function unwrap(body: unknown): WorkflowStep {
  return (body as { data?: WorkflowStep }).data ?? (body as WorkflowStep)
}

/** Returns the issues' messages. Each message starts with the name of the control or channel. */
function issuesOf({ issues }: WorkflowStep): string[] {
  const byName = Object.entries({ ...issues?.integration, ...issues?.controls })
  return byName.flatMap(([name, issuesOfName]) =>
    issuesOfName.map(({ message }) => `${name}: ${message}`)
  )
}

function StepParts({ step }: { step: WorkflowStep }) {
  const message = messageOfStep(step)
  const trees = [
    { name: 'Controls', value: step.controlValues ?? {} },
    ...(issuesOf(step).length > 0 ? [{ name: 'Issues', value: step.issues }] : []),
    { name: 'Variables', value: outlineOf(step.variables) }
  ]
  return (
    <div class="step-parts">
      <div class="form">
        {trees.map(({ name, value }) => [
          <h3 key={name}>{name}</h3>,
          <JsonTree key={`${name} tree`} value={value} label={name} />
        ])}
      </div>
      {message && (
        <section class="form" aria-label="Preview">
          <h3>Preview</h3>
          {message.channel === 'email' && <b dir="auto">{message.subject}</b>}
          <MessagePreview message={message} />
        </section>
      )}
    </div>
  )
}
