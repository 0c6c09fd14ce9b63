import { useEffect, useRef, useState } from 'preact/hooks'
import type { RecordedRequest } from '../../../client/index.js'
import { type ServiceResponse, useSession } from '../../shell/session.js'
import type { RepeatableRequest } from '../requests/copy-as.js'
import { findRecorded } from '../requests/find-recorded.js'

/** A request that got a response. */
interface SentRequest {
  request: RepeatableRequest
  response: ServiceResponse
  /** The request's sequence number; undefined if the environment's journal has no such request. */
  sequence: RecordedRequest['sequence'] | undefined
}

/** The state of the latest request, and functions to send a request and cancel it. */
export interface Sending {
  isSending: boolean
  sent?: SentRequest
  error?: unknown
  /** Sends the request that `prepare` returns. Sets `error` if `prepare` or the request fails. */
  send(prepare: () => RepeatableRequest): Promise<void>
  cancel(): void
}

/** Sends requests to the server. Cancels a pending request on unmount. */
export function useSending(): Sending {
  const { env, call } = useSession()
  const [state, setState] = useState<Omit<Sending, 'send' | 'cancel'>>({ isSending: false })
  const controller = useRef(new AbortController())
  const cancel = () => controller.current.abort()
  useEffect(() => cancel, [])
  const send = async (prepare: () => RepeatableRequest) => {
    controller.current = new AbortController()
    const { signal } = controller.current
    setState({ isSending: true })
    try {
      const request = prepare()
      const { method, path, ...options } = request
      const response = await call(method, path, { ...options, signal })
      // Finds nothing for control requests and requests with a different key, because they aren't
      // in this environment's journal.
      const recorded = await findRecorded(env.requests, response)
      setState({ isSending: false, sent: { request, response, sequence: recorded?.sequence } })
    } catch (error) {
      setState({ isSending: false, error })
    }
  }
  return { ...state, send, cancel }
}
