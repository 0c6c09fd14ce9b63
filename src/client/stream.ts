import { type Connection, MockError, type Received, type Signal } from './connection.js'
import type * as wire from './control-api.js'

export interface StreamOptions {
  /** Ends the stream. */
  signal?: Signal
  /**
   * Whether to start with the requests that are already in the journal. By default, the stream
   * yields only new requests.
   */
  replay?: boolean
  /**
   * Called after each change to the environment. After a reconnect, it may be called for the same
   * change again.
   */
  onChange?: (change: wire.Change) => void
  /**
   * Called with each request that has no response 100 ms after its arrival. The stream yields the
   * request once the request has ended.
   */
  onPending?: (request: wire.RecordedRequest) => void
  /**
   * Called each time the stream connects or reconnects. The stream yields every request that ends
   * after this call.
   */
  onOpen?: () => void
  /**
   * The sequence number of a change. `onChange` is called for the recorded changes that follow it,
   * and then for each new change. By default, it is called only for new changes.
   */
  changesAfter?: number
}

// Keep the original `setTimeout`, because a test may replace it with a fake timer later.
const { setTimeout } = globalThis

/** After this many failed reconnects in a row, the stream gives up. */
const MAX_FAILURES = 5

/** Milliseconds before the first reconnect. The delay doubles with each failure. */
const FIRST_DELAY = 50

/** Milliseconds after which a request without a response is reported as pending. */
const PENDING_AFTER = 100

/** The state that is kept between attempts to connect. */
interface StreamState {
  isOpen: boolean
  failures: number
  lastEventId: string
  changesAfter: number | undefined
}

/** Yields each request when it ends, until the signal aborts or the environment is removed. */
export async function* streamRequests(
  connection: Connection,
  options: StreamOptions
): AsyncGenerator<wire.RecordedRequest, void> {
  const { signal, replay = false, changesAfter } = options
  const lastEventId = replay ? '0' : ''
  const state: StreamState = { isOpen: false, failures: 0, lastEventId, changesAfter }
  while (!signal?.aborted) {
    let problem: unknown = new MockError('the server kept closing the stream without sending data')
    try {
      yield* readStream(connection, options, state)
    } catch (error) {
      if (signal?.aborted || isEnvironmentGone(error, state)) return
      if (!isBroken(error, state)) throw error
      problem = error
    }
    if (state.failures >= MAX_FAILURES) throw problem
    await sleep(FIRST_DELAY * 2 ** state.failures, signal)
    state.failures += 1
  }
}

/**
 * Returns whether the environment was removed: the server now rejects the key with which the stream
 * was opened.
 */
const isEnvironmentGone = (error: unknown, { isOpen }: StreamState) =>
  isOpen && error instanceof MockError && error.status === 401

/**
 * Returns whether the error means that the connection of an open stream broke. After any other
 * error, the stream doesn't reconnect.
 */
const isBroken = (error: unknown, { isOpen }: StreamState) =>
  isOpen && !(error instanceof MockError && error.status !== undefined)

/**
 * Opens the stream once and yields its requests. Updates `state`, so that the next attempt
 * continues where this one ended.
 */
async function* readStream(
  connection: Connection,
  { signal, onOpen, onChange, onPending }: StreamOptions,
  state: StreamState
): AsyncGenerator<wire.RecordedRequest, void> {
  const headers = {
    accept: 'text/event-stream',
    ...(state.lastEventId && { 'last-event-id': state.lastEventId })
  }
  const { changesAfter } = state
  const query = { changesAfter, pendingAfter: onPending && PENDING_AFTER }
  const options = { signal, headers, query }
  const { body } = await connection.send('GET', '/_mock/requests/stream', options)
  state.isOpen = true
  // If the stream breaks before the first change, reconnect with 0 to get all recorded changes.
  // Otherwise, changes made in between would be missed.
  state.changesAfter ??= 0
  onOpen?.()
  for await (const { id, event, data } of readEvents(body)) {
    state.failures = 0
    state.lastEventId = id || state.lastEventId
    if (event === 'request') yield JSON.parse(data)
    if (event === 'pending') onPending?.(JSON.parse(data))
    if (event === 'change') {
      const change: wire.Change = JSON.parse(data)
      state.changesAfter = change.sequence
      onChange?.(change)
    }
  }
}

function sleep(milliseconds: number, signal: Signal | undefined): Promise<void> {
  return new Promise<void>((resolve) => {
    setTimeout(resolve, milliseconds)
    signal?.addEventListener('abort', () => resolve(), { once: true })
  })
}

type ServerSentEvent = Record<'id' | 'event' | 'data', string>

/**
 * Yields the server-sent events in a response body. Ends when the body ends, and throws if the
 * connection breaks.
 */
async function* readEvents(body: Received['body']): AsyncGenerator<ServerSentEvent, void> {
  // Use a reader, because not every browser can iterate over a body.
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
  if (!reader) return
  let buffer = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      const blocks = (buffer + value).split('\n\n')
      buffer = blocks.pop() ?? ''
      yield* blocks.map(parseEvent)
    }
  } finally {
    // If the caller stops reading early, this closes the connection.
    await reader.cancel().catch(() => {})
  }
}

function parseEvent(block: string): ServerSentEvent {
  const fields = [...block.matchAll(/^(\w+): (.*)$/gm)].map(([, name, value]) => [name, value])
  return { id: '', event: '', data: '', ...Object.fromEntries(fields) }
}
