import { useState } from 'preact/hooks'
import type { Integration } from '../../../client/index.js'
import { useToasts } from '../../parts/toast.js'
import { reasonOf, useSession } from '../../shell/session.js'

/** What the server shows always has an id. */
export type Listed = Integration & { _id: string }

/** Makes integrations primary by the operation of the service, as the app does, and takes that back. */
export function usePrimary(all: readonly Listed[]) {
  const { call, env, changed } = useSession()
  const { run, tell } = useToasts()
  const [isBusy, setBusy] = useState(false)
  const act = async (action: () => Promise<unknown>, done: string, undo?: () => Promise<unknown>) => {
    setBusy(true)
    const result = await run(async () => {
      await action()
      return true
    })
    setBusy(false)
    changed()
    if (result) tell(done, undo && { name: 'Undo', run: undo })
  }
  const send = async ({ _id }: Listed) => {
    const answer = await call('POST', `/v1/integrations/${encodeURIComponent(_id)}/set-primary`)
    if (answer.status < 300) return
    throw new Error(`${answer.status}: ${reasonOf(answer) ?? 'it does not say why'}`)
  }
  const setPrimary = async (integration: Listed, isPrimary: boolean) => {
    const { _id, name, channel } = integration
    const former = all.find((each) => each.channel === channel && each.primary && !each.deleted)
    if (!isPrimary) {
      const undo = () => act(() => send(integration), `${name} is primary for ${channel} again`)
      return act(() => env.integrations.change(_id, { primary: false }), `${channel} has no primary now`, undo)
    }
    const place = former && former._id !== _id ? `, in place of ${former.name}` : ''
    const undo = former && (() => act(() => send(former), `${former.name} is primary for ${channel} again`))
    return act(() => send(integration), `${name} is primary for ${channel}${place}`, undo)
  }
  return { isBusy, setPrimary }
}
