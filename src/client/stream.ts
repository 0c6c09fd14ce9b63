import type { Connection, Signal } from './connection.js'
import type { Change, RecordedRequest } from './control-api.js'
import { MockError } from './errors.js'

export interface StreamOptions {
  /** Ends the stream. */
  signal?: Signal
  /** Begin with the requests that the journal has, instead of with the next one. */
  replay?: boolean
  /** Called with each change of the environment when it has been made; after a cut perhaps with one again. */
  onChange?: (change: Change) => void
  /** Called each time that the stream is open, so that nothing is missed from then on: at first, and again after a cut. */
  onOpen?: () => void
  /** Begin with the changes after this sequence, instead of with the next one. */
  changesAfter?: number
}

/** How often the stream is opened again in vain before it is given up. */
const MAX_FAILURES = 5
const FIRST_DELAY = 50

/** Yields each request when it has ended, until the signal is aborted or the environment is removed. */
export async function* streamRequests(
  connection: Connection,
  { signal, replay = false, onOpen, onChange, changesAfter }: StreamOptions
): AsyncGenerator<RecordedRequest, void> {
  let lastEventId = replay ? '0' : ''
  let isOpen = false
  for (let failures = 0; !signal?.aborted; failures++) {
    let problem: unknown = new MockError('the stream has ended each time before anything came')
    try {
      const headers = { accept: 'text/event-stream', ...(lastEventId && { 'last-event-id': lastEventId }) }
      const options = { signal, headers, query: { changesAfter } }
      const { body } = await connection.send('GET', '/_mock/requests/stream', options)
      isOpen = true
      // Rather all that are kept than none of those that are made until it is open again.
      changesAfter ??= 0
      onOpen?.()
      for await (const { id, event, data } of events(body)) {
        failures = 0
        lastEventId = id || lastEventId
        if (event === 'request') yield JSON.parse(data)
        if (event !== 'change') continue
        const change: Change = JSON.parse(data)
        changesAfter = change.sequence
        onChange?.(change)
      }
    } catch (error) {
      if (signal?.aborted) return
      const status = error instanceof MockError ? error.status : undefined
      // The environment is gone, and its key with it.
      if (isOpen && status === 401) return
      if (!isOpen || status !== undefined) throw error
      problem = error
    }
    if (failures >= MAX_FAILURES) throw problem
    await delay(FIRST_DELAY * 2 ** failures, signal)
  }
}

/** Yields the server-sent events of a body; ends or throws when the connection does. */
async function* events(body: Response['body']): AsyncGenerator<Record<'id' | 'event' | 'data', string>, void> {
  // Not every browser can iterate over a body.
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
  if (!reader) return
  let text = ''
  try {
    for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
      const blocks = (text + value).split('\n\n')
      text = blocks.pop() ?? ''
      for (const block of blocks) {
        const fields = [...block.matchAll(/^(\w+): (.*)$/gm)].map(([, name, value]) => [name, value])
        yield { id: '', event: '', data: '', ...Object.fromEntries(fields) }
      }
    }
  } finally {
    // Closes the connection when the caller has seen enough.
    await reader.cancel().catch(() => {})
  }
}

/** Resolves after this time, or at once when the signal is aborted. */
function delay(milliseconds: number, signal: Signal | undefined): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds)
    signal?.addEventListener('abort', () => resolve(), { once: true })
  })
}
