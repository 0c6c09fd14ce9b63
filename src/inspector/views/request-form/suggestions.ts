import { useResource } from '../../parts/resource.js'
import { useSession } from '../../shell/session.js'
import type { Draft } from './draft.js'

/** Returns ids that exist in the environment, by the name of the parameter that takes them. */
export function useSuggestions(draft: Draft): Record<string, readonly string[]> {
  const { env } = useSession()
  const { value } = useResource(async () => {
    const [integrations, workflows] = await Promise.all([
      env.integrations.list(),
      env.workflows.list()
    ])
    return { integrations, workflows }
  }, [env])
  if (!value) return {}
  const workflow = value.workflows.find(({ identifier }) => identifier === draft.values.workflowId)
  return {
    integrationId: value.integrations.map(({ identifier }) => identifier),
    workflowId: value.workflows.map(({ identifier }) => identifier),
    stepId: workflow?.steps.map(({ stepId }) => stepId) ?? []
  }
}
