import type { FastifyReply, FastifyRequest } from 'fastify'
import type { JournalEntry } from './entry.js'
import type { Journal } from './service.js'

const HEARTBEAT_INTERVAL = 15_000
const CLOSE_TIMEOUT = 1000

/**
 * Sends each request that ends as a server-sent event, until the client disconnects or the journal is closed. Begins
 * after the request named by `Last-Event-ID`, or with the next one. It writes as fast as the client reads: what the
 * journal has forgotten meanwhile is left out, and a comment says how many requests that are.
 */
export function streamRequests(journal: Journal, request: FastifyRequest, reply: FastifyReply): void {
  const { raw } = reply
  /** The end sequence of the last request that was sent. */
  let sent = journal.endedCount
  /** Those that the client has not read yet, newest first, and the end sequence of the first of them. */
  let waiting: JournalEntry[] = []
  let last = 0
  reply.hijack()
  raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    // The server ends the stream when it closes, and then need not wait for the client to disconnect.
    connection: 'close'
  })
  const heartbeat = setInterval(() => !raw.writableNeedDrain && raw.write(':\n\n'), HEARTBEAT_INTERVAL)
  raw.on('drain', sendWaiting)
  raw.once('close', () => {
    clearInterval(heartbeat)
    journal.listeners.delete(onChange)
  })
  const lastEventId = Number(request.headers['last-event-id'] || Number.NaN)
  if (Number.isInteger(lastEventId)) {
    // An id from an earlier run of the server resumes with all requests.
    sent = lastEventId > sent ? 0 : Math.max(0, lastEventId)
  }
  // With the id to resume after, should the connection be cut before the first request.
  raw.write(`: the requests of this environment, as they are answered\nid: ${sent}\n\n`)
  if (Number.isInteger(lastEventId)) sendWaiting()
  journal.listeners.add(onChange)
  if (journal.closed) onChange()

  function onChange(entry?: JournalEntry): void {
    if (!entry) {
      raw.end()
      setTimeout(() => raw.destroy(), CLOSE_TIMEOUT).unref()
    } else if (entry.endSequence > 0 && !raw.writableNeedDrain) send(entry)
  }

  function sendWaiting(): void {
    while (!raw.writableNeedDrain) {
      const entry = waiting.pop()
      if (entry) {
        // Else it was used again for a later request.
        if (entry.endSequence > sent && entry.endSequence <= last) send(entry)
        continue
      }
      waiting = journal.endedAfter(sent).reverse()
      last = waiting[0]?.endSequence ?? 0
      if (waiting.length === 0) return
    }
  }

  function send(entry: JournalEntry): void {
    const { endSequence } = entry
    const left = endSequence - sent - 1
    const comment = left > 0 ? `: ${left} requests before this one are no longer in the journal\n\n` : ''
    sent = endSequence
    raw.write(`${comment}id: ${endSequence}\nevent: request\ndata: ${JSON.stringify(entry.toRecordedRequest())}\n\n`)
  }
}
