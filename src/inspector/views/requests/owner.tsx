import type { AttachedEnvironment, RecordedRequest } from '../../../client/index.js'
import { Callout } from '../../parts/chip.js'
import { useResource } from '../../parts/resource.js'
import { environmentAddress } from '../../shell/panel.js'
import { useSession } from '../../shell/session.js'
import { othersThat } from './elsewhere.js'

/** Of an integration or a workflow that was not found: which other environment has it, as the key may be a wrong one. */
export function OtherOwner({ request: { operation, path, status } }: { request: RecordedRequest }) {
  const { mock, listed } = useSession()
  const own = listed?.environmentId
  const { value: names = [] } = useResource(async () => {
    const id = decodeURIComponent(path.split('/')[3] ?? '')
    if (status !== 404 || own === undefined || id === '') return []
    if (operation === 'setIntegrationAsPrimary')
      return othersThat(mock, own, { holds: (env) => hasIntegration(env, id) })
    if (operation === 'retrieveWorkflowStep') return othersThat(mock, own, { holds: (env) => hasWorkflow(env, id) })
    return []
  }, [mock, own, operation, path, status])
  const [name] = names
  if (name === undefined) return null
  return (
    <Callout icon="warn">
      <span>
        <a
          dir="auto"
          href={environmentAddress(operation === 'retrieveWorkflowStep' ? 'workflows' : 'integrations', { name })}
        >
          {name}
        </a>{' '}
        has it: was the key of that environment meant?
      </span>
    </Callout>
  )
}

async function hasIntegration(env: AttachedEnvironment, id: string): Promise<boolean> {
  const integrations = await env.integrations.list()
  return integrations.some((each) => each.identifier === id || each._id === id.toLowerCase())
}

async function hasWorkflow(env: AttachedEnvironment, id: string): Promise<boolean> {
  const workflows = await env.workflows.list()
  return workflows.some((each) => each.identifier === id || each.slug === id || each._id === id.toLowerCase())
}
