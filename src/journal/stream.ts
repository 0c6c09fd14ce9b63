import type { FastifyReply, FastifyRequest } from 'fastify'
import type { JournalEntry } from './entry.js'
import type { Journal, JournalEvent } from './journal.js'

const HEARTBEAT_INTERVAL = 15_000
const CLOSE_TIMEOUT = 1000
/** The bytes that may wait for a slow client before the stream ends. */
const MAX_UNREAD = 8 * 1024 * 1024

const GREETING = ': the requests of this environment, as they end'

/**
 * Streams a journal as server-sent events: each request that ends, after the one named by
 * `Last-Event-ID` or from now on, and each change, without an id. A comment gives the number of
 * requests that the journal no longer has. The stream ends when the journal closes or 8 MiB are
 * unread; the client then resumes it.
 *
 * @param changesAfter the sequence after which earlier changes are sent; without it, only new ones
 *   are.
 */
export function streamRequests(
  journal: Journal,
  request: FastifyRequest,
  reply: FastifyReply,
  changesAfter?: number
): void {
  const lastEventId = eventIdOf(request)
  reply.hijack()
  reply.raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    // When the server closes, it ends the stream and needn't wait for the client to disconnect.
    connection: 'close'
  })
  const stream = new RequestStream(journal, reply.raw, resumeAfter(journal, lastEventId))
  stream.start()
  if (lastEventId !== undefined) stream.sendMissedRequests()
  if (changesAfter !== undefined) stream.sendChanges(changesAfter)
  if (journal.isClosed) stream.end()
}

function eventIdOf({ headers }: FastifyRequest): number | undefined {
  const id = String(headers['last-event-id'])
  return /^\d+$/.test(id) ? Number(id) : undefined
}

/**
 * Returns the end sequence to resume after. An id from an earlier run of the server resumes with
 * all requests.
 */
function resumeAfter(journal: Journal, lastEventId: number | undefined): number {
  if (lastEventId === undefined) return journal.endedCount
  return lastEventId > journal.endedCount ? 0 : lastEventId
}

class RequestStream {
  readonly #journal: Journal
  readonly #raw: FastifyReply['raw']
  readonly #listener = (event: JournalEvent) => this.#handle(event)
  #heartbeat: NodeJS.Timeout | undefined
  /** The end sequence of the last request that was sent. */
  #lastSent: number

  constructor(journal: Journal, raw: FastifyReply['raw'], lastSent: number) {
    this.#journal = journal
    this.#raw = raw
    this.#lastSent = lastSent
  }

  start(): void {
    this.#heartbeat = setInterval(() => this.#write(':\n\n'), HEARTBEAT_INTERVAL)
    this.#raw.once('close', () => this.#stop())
    this.#journal.listeners.add(this.#listener)
    // The id lets a client resume even if the connection is lost before the first request.
    this.#write(`${GREETING}\nid: ${this.#lastSent}\n\n`)
  }

  sendMissedRequests(): void {
    const missed = this.#journal
      .requests()
      .filter(({ endSequence }) => endSequence > this.#lastSent)
      .sort((one, other) => one.endSequence - other.endSequence)
    for (const entry of missed) this.#sendRequest(entry)
  }

  sendChanges(after: number): void {
    for (const change of this.#journal.changes(after)) this.#handle({ kind: 'change', change })
  }

  end(): void {
    this.#stop()
    this.#raw.end()
    // The client may still be reading.
    setTimeout(() => this.#raw.destroy(), CLOSE_TIMEOUT).unref()
  }

  #handle(event: JournalEvent): void {
    if (event.kind === 'closed') this.end()
    else if (event.kind === 'request') this.#sendRequest(event.entry)
    else this.#write(`event: change\ndata: ${JSON.stringify(event.change)}\n\n`)
  }

  /** Sends a request that has ended. */
  #sendRequest(entry: JournalEntry): void {
    if (entry.endSequence === 0 || this.#isOver) return
    const missing = entry.endSequence - this.#lastSent - 1
    const comment =
      missing > 0 ? `: ${missing} requests before this one are no longer in the journal\n\n` : ''
    const data = JSON.stringify(this.#journal.describer.request(entry))
    this.#lastSent = entry.endSequence
    this.#write(`${comment}id: ${this.#lastSent}\nevent: request\ndata: ${data}\n\n`)
  }

  #write(text: string): void {
    if (this.#isOver) return
    this.#raw.write(text)
    if (this.#raw.writableLength > MAX_UNREAD) this.end()
  }

  get #isOver(): boolean {
    return this.#raw.writableEnded || this.#raw.destroyed
  }

  #stop(): void {
    clearInterval(this.#heartbeat)
    this.#journal.listeners.delete(this.#listener)
  }
}
