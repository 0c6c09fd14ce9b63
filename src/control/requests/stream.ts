import type { FastifyReply, FastifyRequest } from 'fastify'
import type { EndedRequest, Journal } from './service.js'

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
  const send = ({ id, request: recorded }: EndedRequest) => {
    raw.write(`id: ${id}\nevent: request\ndata: ${JSON.stringify(recorded)}\n\n`)
    if (raw.writableLength > MAX_UNREAD) raw.destroy()
  }
  if (Number.isInteger(lastEventId)) for (const ended of journal.endedAfter(lastEventId)) send(ended)
  const heartbeat = setInterval(() => void raw.write(':\n\n'), HEARTBEAT_INTERVAL)
  const stopSending = journal.onRequestEnd(send)
  const stopWaiting = journal.onClose(() => {
    raw.end()
    setTimeout(() => raw.destroy(), CLOSE_TIMEOUT).unref()
  })
  raw.once('close', () => {
    clearInterval(heartbeat)
    stopSending()
    stopWaiting()
  })
}
