import { useEffect, useRef, useState } from 'preact/hooks'
import type { ReplayedRequest, ReplayState } from '../../../client/index.js'
import { useResource } from '../../parts/resource.js'
import { runWithToast } from '../../parts/toast.js'
import { useLive } from '../../shell/live-provider.js'
import { useSession } from '../../shell/session.js'
import { useServiceCall } from '../actions.js'

/** Loads the recorded test, and reloads it when the environment receives requests. */
export function useReplay() {
  const { env, version } = useSession()
  const live = useLive()
  const call = useServiceCall()
  const resource = useResource(
    async () => (await call('GET', '/_mock/replay')).json as ReplayState,
    [env, version]
  )
  const { reload } = resource
  useEffect(
    () =>
      live.subscribe((requests) => {
        if (requests.length > 0) reload()
      }),
    [live, reload]
  )
  return resource
}

/**
 * Returns `sendNext`, which repeats the next recorded request, and `isSending`, which is true until
 * the response has arrived.
 */
export function useSendNext(onSent: (request: ReplayedRequest) => void) {
  const call = useServiceCall()
  const isSending = useRef(false)
  const [isShown, setShown] = useState(false)
  const sendNext = async () => {
    // A disabled button would lose the focus, so ignore further clicks instead.
    if (isSending.current) return
    isSending.current = true
    setShown(true)
    const response = await runWithToast(() => call('POST', '/_mock/replay/next'))
    isSending.current = false
    setShown(false)
    if (response) onSent(response.json as ReplayedRequest)
  }
  return { sendNext, isSending: isShown }
}
