import { useResource } from '../../parts/resource.js'
import { useSession } from '../../shell/session.js'
import { recentSubscribers } from '../suggestions.js'
import type { Draft } from './draft.js'

/** Returns suggestions by parameter name. All of them are ids that exist in the environment. */
export function useSuggestions(draft: Draft): Record<string, readonly string[]> {
  const { env } = useSession()
  const { value } = useResource(async () => {
    const [integrations, workflows, subscribers] = await Promise.all([
      env.integrations.list(),
      env.workflows.list(),
      recentSubscribers(env)
    ])
    return { integrations, workflows, subscribers }
  }, [env])
  if (!value) return {}
  const workflow = value.workflows.find(({ identifier }) => identifier === draft.values.workflowId)
  return {
    subscriberId: value.subscribers,
    integrationId: value.integrations.map(({ identifier }) => identifier),
    workflowId: value.workflows.map(({ identifier }) => identifier),
    stepId: workflow?.steps.map(({ stepId }) => stepId) ?? []
  }
}
