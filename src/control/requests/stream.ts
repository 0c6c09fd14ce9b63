import type { FastifyReply, FastifyRequest } from 'fastify'
import type { JournalEntry } from './entry.js'
import type { Journal } from './service.js'

const HEARTBEAT_INTERVAL = 15_000
const CLOSE_TIMEOUT = 1000

/** Unread bytes after which a client that does not read is disconnected; it can resume. */
const MAX_UNREAD = 16 * 1024 * 1024

/**
 * Sends each request that ends as a server-sent event, until the client disconnects or the journal is closed. Begins
 * after the request named by `Last-Event-ID`, or with the next one.
 */
export function streamRequests(journal: Journal, request: FastifyRequest, reply: FastifyReply): void {
  const { raw } = reply
  const lastEventId = Number(request.headers['last-event-id'] || Number.NaN)
  reply.hijack()
  raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    // The server ends the stream when it closes, and then need not wait for the client to disconnect.
    connection: 'close'
  })
  raw.write(': the requests of this environment, as they are answered\n\n')
  if (Number.isInteger(lastEventId)) journal.endedAfter(lastEventId).forEach(send)
  const heartbeat = setInterval(() => raw.write(':\n\n'), HEARTBEAT_INTERVAL)
  raw.once('close', () => {
    clearInterval(heartbeat)
    journal.listeners.delete(send)
  })
  journal.listeners.add(send)
  if (journal.closed) send()

  function send(entry?: JournalEntry): void {
    if (!entry) {
      raw.end()
      setTimeout(() => raw.destroy(), CLOSE_TIMEOUT).unref()
    } else if (entry.endSequence > 0) {
      raw.write(`id: ${entry.endSequence}\nevent: request\ndata: ${JSON.stringify(entry.toRecordedRequest())}\n\n`)
      if (raw.writableLength > MAX_UNREAD) raw.destroy()
    }
  }
}
