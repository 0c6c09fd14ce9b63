import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Journal, JournalEvent } from './service.js'

const HEARTBEAT_INTERVAL = 15_000
const CLOSE_TIMEOUT = 1000
/** Bytes that wait for the client at most, before the stream ends: the client resumes it. */
const MAX_WAITING = 8 * 1024 * 1024

/**
 * Sends each request that ends as a server-sent event, after the one named by `Last-Event-ID` or from the next on, and
 * each change, as an event without an id. A comment counts requests that the journal has forgotten. Ends when the journal
 * is closed, and when 8 MiB wait for a slow client, which resumes it.
 */
export function streamRequests(
  journal: Journal,
  request: FastifyRequest,
  reply: FastifyReply,
  changesAfter?: number
) {
  const { raw } = reply
  const lastEventId = request.headers['last-event-id']
  const isReplay = /^\d+$/.test(String(lastEventId))
  /** The end sequence of the last request that was sent. An id from an earlier run of the server resumes with all. */
  let sent = isReplay ? Number(lastEventId) : journal.endedCount
  if (sent > journal.endedCount) sent = 0
  reply.hijack()
  raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    // The server ends the stream when it closes, and then need not wait for the client to disconnect.
    connection: 'close'
  })
  const heartbeat = setInterval(() => write(':\n\n'), HEARTBEAT_INTERVAL)
  raw.once('close', stop)
  journal.listeners.add(send)
  // With the id to resume after, should the connection be cut before the first request.
  write(`: the requests of this environment, as they are answered\nid: ${sent}\n\n`)
  const ended = isReplay ? journal.requests().filter(({ endSequence }) => endSequence > sent) : []
  for (const entry of ended.sort((one, other) => one.endSequence - other.endSequence))
    send({ entry })
  if (changesAfter !== undefined)
    for (const change of journal.changes(changesAfter)) send({ change })
  if (journal.closed) end()

  function send({ entry, change }: JournalEvent): void {
    // A write would be an error.
    if (raw.writableEnded || raw.destroyed) return
    if (change) write(`event: change\ndata: ${JSON.stringify(change)}\n\n`)
    else if (!entry) end()
    else if (entry.endSequence > 0) {
      const left = entry.endSequence - sent - 1
      const comment =
        left > 0 ? `: ${left} requests before this one are no longer in the journal\n\n` : ''
      sent = entry.endSequence
      write(
        `${comment}id: ${sent}\nevent: request\ndata: ${JSON.stringify(journal.describe(entry))}\n\n`
      )
    }
  }

  function write(text: string): void {
    raw.write(text)
    if (raw.writableLength > MAX_WAITING) end()
  }

  function end(): void {
    stop()
    raw.end()
    // The client may still be reading.
    setTimeout(() => raw.destroy(), CLOSE_TIMEOUT).unref()
  }

  function stop(): void {
    clearInterval(heartbeat)
    journal.listeners.delete(send)
  }
}
