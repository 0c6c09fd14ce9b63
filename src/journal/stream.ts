import type { FastifyReply, FastifyRequest } from 'fastify'
import { countWithVerb } from '../domain/count.js'
import { clearInterval, setInterval, setTimeout } from '../platform/timers.js'
import type { JournalEntry } from './entry.js'
import type { Journal, JournalEvent } from './journal.js'
import type { Change } from './schemas.js'

const HEARTBEAT_INTERVAL = 15_000
const CLOSE_TIMEOUT = 1000
/** The stream ends if a slow client leaves more than this many bytes unread. */
const MAX_UNREAD = 8 * 1024 * 1024

export interface StreamQuery {
  changesAfter?: number
  pendingAfter?: number
}

const GREETING = ': this stream sends each request to the environment when the request ends'

/**
 * Streams a journal as server-sent events. Each request is sent when it ends. If the client sends
 * `Last-Event-ID`, the stream resumes after the request with this id. The stream also contains the
 * changes to the environment, as events without an id. If the journal has already dropped requests
 * that the client missed, a comment in the stream reports their number.
 *
 * The stream ends when the journal closes, or when the client leaves more than 8 MiB unread. The
 * client can then reconnect and resume the stream.
 *
 * @param options.changesAfter also send the recorded changes whose sequence number is greater than
 * this. By default, only new changes are sent.
 * @param options.pendingAfter also send the event `pending` for each request that is still in
 * progress after this many milliseconds. By default, a request is sent only when it ends.
 */
export function streamRequests(
  journal: Journal,
  request: FastifyRequest,
  reply: FastifyReply,
  { changesAfter, pendingAfter }: StreamQuery
): void {
  const lastEventId = eventIdOf(request)
  reply.hijack()
  reply.raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    // Without this header, the server couldn't close until the client disconnected.
    connection: 'close'
  })
  const lastSent = resumeAfter(journal, lastEventId)
  const stream = new RequestStream(journal, reply.raw, lastSent, pendingAfter)
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
 * Returns the `endSequence` after which the stream starts. Without `Last-Event-ID`, only new
 * requests are sent. If the id comes from an earlier run of the server, all requests are sent.
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
  /** The `endSequence` of the last request that was sent. */
  #lastSent: number
  readonly #pendingAfter: number | undefined

  constructor(
    journal: Journal,
    raw: FastifyReply['raw'],
    lastSent: number,
    pendingAfter: number | undefined
  ) {
    this.#journal = journal
    this.#raw = raw
    this.#lastSent = lastSent
    this.#pendingAfter = pendingAfter
  }

  start(): void {
    this.#heartbeat = setInterval(() => this.#write(':\n\n'), HEARTBEAT_INTERVAL)
    this.#raw.once('close', () => this.#stop())
    this.#journal.listeners.add(this.#listener)
    // Send an id at the start, so that the client can resume even if it loses the connection before
    // the first request.
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
    for (const change of this.#journal.changes(after)) this.#sendChange(change)
  }

  end(): void {
    this.#stop()
    this.#raw.end()
    // Give the client time to read the rest of the stream before the connection is closed.
    setTimeout(() => this.#raw.destroy(), CLOSE_TIMEOUT).unref()
  }

  #handle(event: JournalEvent): void {
    if (event.kind === 'closed') this.end()
    else if (event.kind === 'change') this.#sendChange(event.change)
    else if (event.entry.endSequence > 0) this.#sendRequest(event.entry)
    else this.#watchPending(event.entry)
  }

  #sendChange(change: Change): void {
    this.#write(`event: change\ndata: ${JSON.stringify(change)}\n\n`)
  }

  /**
   * Sends the event `pending` for a new request that is still in progress after `pendingAfter`
   * milliseconds.
   */
  #watchPending(entry: JournalEntry): void {
    if (this.#pendingAfter === undefined) return
    const sendIfPending = () => {
      if (entry.endSequence > 0 || this.#isOver) return
      const data = JSON.stringify(this.#journal.describer.request(entry))
      this.#write(`event: pending\ndata: ${data}\n\n`)
    }
    setTimeout(sendIfPending, this.#pendingAfter).unref()
  }

  /** Sends a request that has ended. */
  #sendRequest(entry: JournalEntry): void {
    if (this.#isOver) return
    const missing = entry.endSequence - this.#lastSent - 1
    const lost = countWithVerb(missing, 'earlier request')
    const comment = missing > 0 ? `: ${lost} no longer in the journal\n\n` : ''
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
