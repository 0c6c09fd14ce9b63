import { type Connection, MockError, type Signal } from './connection.js'
import type * as wire from './control-api.js'

export interface StreamOptions {
  /** Ends the stream. */
  signal?: Signal
  /** Start with the requests that the journal already has instead of the next one. */
  replay?: boolean
  /** Called after each change of the environment. Reconnecting may repeat a change. */
  onChange?: (change: wire.Change) => void
  /**
   * Called each time the stream opens, including after it reconnects. Nothing is missed from then
   * on.
   */
  onOpen?: () => void
  /** Start with the changes after this sequence instead of the next one. */
  changesAfter?: number
}

/** How many attempts in a row may fail before the stream gives up. */
const MAX_FAILURES = 5

/** Milliseconds before the first reconnect. The delay doubles with each failure. */
const FIRST_DELAY = 50

/** Where to continue after reconnecting. */
interface StreamState {
  isOpen: boolean
  failures: number
  lastEventId: string
  changesAfter: number | undefined
}

/** Yields each completed request until the signal aborts or the environment is removed. */
export async function* streamRequests(
  connection: Connection,
  options: StreamOptions
): AsyncGenerator<wire.RecordedRequest, void> {
  const { signal, replay = false, changesAfter } = options
  const lastEventId = replay ? '0' : ''
  const state: StreamState = { isOpen: false, failures: 0, lastEventId, changesAfter }
  while (!signal?.aborted) {
    let problem: unknown = new MockError('the stream ended each time before it sent anything')
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

/** Returns whether the key stopped being valid because the environment was removed. */
const isEnvironmentGone = (error: unknown, { isOpen }: StreamState) =>
  isOpen && error instanceof MockError && error.status === 401

/** Returns whether a stream that worked lost its connection, so that it is worth reconnecting. */
const isBroken = (error: unknown, { isOpen }: StreamState) =>
  isOpen && !(error instanceof MockError && error.status !== undefined)

/** Opens the stream once and yields its requests. Keeps `state` up to date for the next attempt. */
async function* readStream(
  connection: Connection,
  { signal, onOpen, onChange }: StreamOptions,
  state: StreamState
): AsyncGenerator<wire.RecordedRequest, void> {
  const headers = {
    accept: 'text/event-stream',
    ...(state.lastEventId && { 'last-event-id': state.lastEventId })
  }
  const { changesAfter } = state
  const options = { signal, headers, query: { changesAfter } }
  const { body } = await connection.send('GET', '/_mock/requests/stream', options)
  state.isOpen = true
  // After a reconnect, repeat all kept changes rather than miss those made in between.
  state.changesAfter ??= 0
  onOpen?.()
  for await (const { id, event, data } of readEvents(body)) {
    state.failures = 0
    state.lastEventId = id || state.lastEventId
    if (event === 'request') yield JSON.parse(data)
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

/** Yields the server-sent events of a body. Ends or throws when the connection does. */
async function* readEvents(body: Response['body']): AsyncGenerator<ServerSentEvent, void> {
  // Not every browser can iterate over a body, so use a reader.
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
    // Closes the connection if the caller stops early.
    await reader.cancel().catch(() => {})
  }
}

function parseEvent(block: string): ServerSentEvent {
  const fields = [...block.matchAll(/^(\w+): (.*)$/gm)].map(([, name, value]) => [name, value])
  return { id: '', event: '', data: '', ...Object.fromEntries(fields) }
}
