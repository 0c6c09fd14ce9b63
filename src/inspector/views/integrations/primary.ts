import type { Integration } from '../../../client/index.js'
import type { Action } from '../../parts/popover.js'
import { useResource } from '../../parts/resource.js'
import { useSession } from '../../shell/session.js'
import { useAction, useServiceCall } from '../actions.js'

export type Channel = Integration['channel']

/** An integration that the server returned. It always has an id. */
export type ListedIntegration = Integration & { _id: string }

export const primaryOf = (integrations: readonly ListedIntegration[], channel: Channel) =>
  integrations.find(
    (integration) => integration.channel === channel && integration.primary && !integration.deleted
  )

/**
 * Returns a function that makes an integration primary. If it is already primary, the function
 * makes it non-primary and leaves the channel without a primary integration. Undo restores
 * `primary`, `active` and `conditions` of all the channel's integrations, including soft-deleted
 * ones.
 */
export function useTogglePrimary() {
  const { env } = useSession()
  const callApi = useServiceCall()
  const runAction = useAction()
  const list = async (channel: Channel) =>
    (await env.integrations.list()).filter((listed) => listed.channel === channel)
  const toggle = async ({ _id, channel, primary: isPrimary }: ListedIntegration) => {
    const before = await list(channel)
    if (isPrimary) await env.integrations.change(_id, { primary: false })
    else await callApi('POST', `/v1/integrations/${encodeURIComponent(_id)}/set-primary`)
    return { channel, before, after: await list(channel) }
  }
  const undo = async ({ channel, before, after }: Awaited<ReturnType<typeof toggle>>) => {
    if (JSON.stringify(await list(channel)) !== JSON.stringify(after)) {
      throw new Error(`Undo isn't possible, because the ${channel} integrations changed again`)
    }
    // A channel can't have two primary integrations, so restore the non-primary ones first.
    const ordered = before.toSorted((a, b) => Number(a.primary) - Number(b.primary))
    for (const { _id, primary, active, conditions = null } of ordered) {
      await env.integrations.change(_id, { primary, active, conditions })
    }
  }
  return (integration: ListedIntegration, integrations: readonly ListedIntegration[]) =>
    runAction(() => toggle(integration), describeToggle(integration, integrations), undo)
}

function describeToggle(
  { name, channel, primary, active }: ListedIntegration,
  integrations: readonly ListedIntegration[]
): string {
  if (primary) return `${channel} no longer has a primary integration`
  const former = primaryOf(integrations, channel)
  const instead = former ? `, instead of ${former.name}` : ''
  return `${name} is primary for ${channel}${instead}${active ? '' : '. It is active now'}`
}

/** Returns a command for each integration that can become primary. */
export function usePrimaryCommands(): Action[] {
  const { env, version } = useSession()
  const { value = [] } = useResource(() => env.integrations.list(), [env, version])
  const togglePrimary = useTogglePrimary()
  const candidates = value.filter(({ primary, deleted }) => !primary && !deleted)
  return candidates.map((integration) => ({
    icon: 'plug',
    name: `Make ${integration.name} primary for ${integration.channel}`,
    hint: integration.identifier,
    run: () => togglePrimary(integration, value)
  }))
}
