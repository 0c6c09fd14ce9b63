import {
  type Connection,
  type Duration,
  MockError,
  milliseconds,
  path,
  type Signal
} from './connection.js'
import type * as wire from './control-api.js'

interface Filter extends Omit<wire.JournalQuery, 'status' | 'since'> {
  /** A status, a class of them such as `4xx`, or `none` for what was not answered. */
  status: number | `${1 | 2 | 3 | 4 | 5}xx` | 'none'
  /** Only requests at or after this time. */
  since: string | Date
}

/** Which of the recorded requests to list, the oldest first unless another order is asked for; all if left out. */
export type RequestFilter = { [Name in keyof Filter]?: Filter[Name] | undefined }

/** What to expect of the recorded requests; `within` waits for it. */
export interface ExpectedRequests extends Omit<wire.Verification, 'within'> {
  within?: Duration
}

interface WaitOptions {
  /** How long to wait; 5 seconds by default. */
  within?: Duration
  /** Only requests with a greater sequence; by default those that are there already count. */
  after?: number
  signal?: Signal
}

/** The requests to the service that an environment has recorded. */
export interface Requests extends ReturnType<typeof requestsOf> {}

export function requestsOf(connection: Connection) {
  const { json, list, done } = connection
  return {
    /** Returns the requests, newest last unless another order is asked for. */
    list: (filter?: RequestFilter) =>
      list<wire.RecordedRequest>('/_mock/requests', 'requests', { ...filter }),
    /** Returns a request with its answer. Rejects with `MockError` of status 404 if the journal does not have it any more. */
    get: (sequence: number) =>
      json<wire.RecordedExchange>('GET', path`/_mock/requests/${String(sequence)}`),
    /** Returns what was done to the environment between the requests: the last 200 changes, newest last. */
    changes: () => list<wire.Change>('/_mock/requests/changes', 'changes'),
    /** Removes all recorded requests, and the changes between them. */
    clear: () => done('DELETE', '/_mock/requests'),
    /**
     * Verifies that the expected requests were made: at least one, unless a number is given. Rejects with `MockError` of
     * status 417 if not; its message says which request came nearest and what differs.
     */
    verify,
    /** Returns the first request that matches, and waits for it. Rejects as `verify` does when none comes in time. */
    async waitFor(
      pattern: wire.RequestPattern,
      { within = '5s', after, signal }: WaitOptions = {}
    ) {
      const expected = { ...pattern, within, ...(after !== undefined && { after }) }
      const [sequence = 0] = (await verify(expected, { signal })).requests
      const query = { after: sequence - 1, limit: 1 }
      const [found] = await list<wire.RecordedRequest>('/_mock/requests', 'requests', query)
      if (found?.sequence === sequence) return found
      throw new MockError(`request ${sequence} has matched, but is no longer in the journal`)
    },
    /**
     * Yields each request when it has ended. Continues after a connection that was cut, and ends by `break`, by the signal,
     * or when the environment is removed.
     */
    stream: (options: StreamOptions = {}) => streamRequests(connection, options)
  }

  async function verify(
    { within, ...expected }: ExpectedRequests,
    options?: { signal?: Signal | undefined }
  ) {
    const body = within === undefined ? expected : { ...expected, within: milliseconds(within) }
    return json<wire.VerificationResult>('POST', '/_mock/requests/verify', { body, ...options })
  }
}

export interface StreamOptions {
  /** Ends the stream. */
  signal?: Signal
  /** Begin with the requests that the journal has, instead of with the next one. */
  replay?: boolean
  /** Called with each change of the environment when it has been made; after a cut perhaps with one again. */
  onChange?: (change: wire.Change) => void
  /** Called each time that the stream is open, so that nothing is missed from then on: at first, and again after a cut. */
  onOpen?: () => void
  /** Begin with the changes after this sequence, instead of with the next one. */
  changesAfter?: number
}

/** How often the stream is opened again in vain before it is given up. */
const MAX_FAILURES = 5
const FIRST_DELAY = 50

/** Yields each request when it has ended, until the signal is aborted or the environment is removed. */
async function* streamRequests(
  connection: Connection,
  { signal, replay = false, onOpen, onChange, changesAfter }: StreamOptions
): AsyncGenerator<wire.RecordedRequest, void> {
  let lastEventId = replay ? '0' : ''
  let isOpen = false
  for (let failures = 0; !signal?.aborted; failures++) {
    let problem: unknown = new MockError('the stream has ended each time before anything came')
    try {
      const headers = {
        accept: 'text/event-stream',
        ...(lastEventId && { 'last-event-id': lastEventId })
      }
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
        const change: wire.Change = JSON.parse(data)
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
    await new Promise<void>((resolve) => {
      setTimeout(resolve, FIRST_DELAY * 2 ** failures)
      signal?.addEventListener('abort', () => resolve(), { once: true })
    })
  }
}

/** Yields the server-sent events of a body; ends or throws when the connection does. */
async function* events(
  body: Response['body']
): AsyncGenerator<Record<'id' | 'event' | 'data', string>, void> {
  // Not every browser can iterate over a body.
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
  if (!reader) return
  let text = ''
  try {
    for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
      const blocks = (text + value).split('\n\n')
      text = blocks.pop() ?? ''
      for (const block of blocks) {
        const fields = [...block.matchAll(/^(\w+): (.*)$/gm)].map(([, name, value]) => [
          name,
          value
        ])
        yield { id: '', event: '', data: '', ...Object.fromEntries(fields) }
      }
    }
  } finally {
    // Closes the connection when the caller has seen enough.
    await reader.cancel().catch(() => {})
  }
}
