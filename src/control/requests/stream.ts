import { clearTimeout, setTimeout } from 'node:timers'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { JournalEntry } from './entry.js'
import { createLimit } from './rate-limit.js'
import type { Journal } from './service.js'

const HEARTBEAT_INTERVAL = 15_000
const CLOSE_TIMEOUT = 1000
/** How long requests are gathered for a client that wants so many a second. */
const BATCH_INTERVAL = 100

export interface StreamOptions {
  /** How many requests to send a second at most, the newest ones, and a twelfth while more come; all if undefined. */
  rate?: number
  /** Sequence of the change to begin after; with the next one if undefined. */
  changesAfter?: number
}

/**
 * Sends each request that ends as a server-sent event, until the client disconnects or the journal is closed. Begins
 * after the request named by `Last-Event-ID`, or with the next one. It writes as fast as the client reads: what the
 * journal has forgotten meanwhile is left out, and what goes beyond the rate, and a comment says how many requests that
 * are. Sends each change of the environment too, as an event without an id.
 */
export function streamRequests(
  journal: Journal,
  request: FastifyRequest,
  reply: FastifyReply,
  { rate, changesAfter }: StreamOptions
): void {
  const { raw } = reply
  const lastEventId = Number(request.headers['last-event-id'] || Number.NaN)
  const isReplay = Number.isInteger(lastEventId)
  const newest = rate === undefined ? (entries: JournalEntry[]) => entries : createLimit<JournalEntry>(rate, isReplay)
  let batch: NodeJS.Timeout | undefined
  /** The end sequence of the last request that was sent. */
  let sent = journal.endedCount
  /** The sequence of the last change that was sent. */
  let sentChange = changesAfter ?? journal.changes.last
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
  raw.on('drain', sendMore)
  raw.once('close', stop)
  if (isReplay) {
    // An id from an earlier run of the server resumes with all requests.
    sent = lastEventId > sent ? 0 : Math.max(0, lastEventId)
  }
  // With the id to resume after, should the connection be cut before the first request.
  raw.write(`: the requests of this environment, as they are answered\nid: ${sent}\n\n`)
  if (isReplay) sendWaiting()
  sendChanges()
  journal.listeners.add(onRequest)
  journal.changes.listeners.add(sendChanges)
  if (journal.closed) onRequest()

  function onRequest(entry?: JournalEntry): void {
    if (!entry) {
      // What has been gathered until now.
      if (batch) sendWaiting()
      // Before the end, after which a write is an error, while the client may still be reading.
      stop()
      raw.end()
      setTimeout(() => raw.destroy(), CLOSE_TIMEOUT).unref()
    } else if (entry.endSequence > 0 && !raw.writableNeedDrain) {
      if (rate === undefined) send(entry)
      else batch ??= setTimeout(sendBatch, BATCH_INTERVAL)
    }
  }

  function stop(): void {
    clearInterval(heartbeat)
    clearTimeout(batch)
    journal.listeners.delete(onRequest)
    journal.changes.listeners.delete(sendChanges)
    raw.off('drain', sendMore)
  }

  function sendMore(): void {
    sendChanges()
    sendWaiting()
  }

  function sendBatch(): void {
    batch = undefined
    raw.cork()
    sendWaiting()
    raw.uncork()
  }

  function sendWaiting(): void {
    while (!raw.writableNeedDrain) {
      const entry = waiting.pop()
      if (entry) {
        // Else it was used again for a later request.
        if (entry.endSequence > sent && entry.endSequence <= last) send(entry)
        continue
      }
      const ended = journal.endedAfter(sent)
      waiting = newest(ended).reverse()
      last = waiting[0]?.endSequence ?? 0
      if (waiting.length > 0) continue
      if (ended.length > 0) batch ??= setTimeout(sendBatch, BATCH_INTERVAL)
      return
    }
  }

  function sendChanges(): void {
    for (const change of journal.changes.list(sentChange)) {
      if (raw.writableNeedDrain) return
      sentChange = change.sequence
      raw.write(`event: change\ndata: ${JSON.stringify(change)}\n\n`)
    }
  }

  function send(entry: JournalEntry): void {
    const { endSequence } = entry
    const left = endSequence - sent - 1
    const comment =
      left > 0 ? `: ${left} requests before this one ${rate === undefined ? FORGOTTEN : LEFT_OUT}\n\n` : ''
    sent = endSequence
    raw.write(`${comment}id: ${endSequence}\nevent: request\ndata: ${JSON.stringify(entry.toRecordedRequest())}\n\n`)
  }
}

const FORGOTTEN = 'are no longer in the journal'
const LEFT_OUT = 'are no longer in the journal, or were more than the rate'
