import type { Readable } from 'node:stream'
import type { JournalEntry } from './entry.js'
import { keepResponseBody, MAX_REQUEST_BODY } from './plugin.js'
import { MAX_RESPONSE_BODY } from './response-store.js'

/**
 * Keeps the first 64 KiB of a request body in the entry while the body is streamed to its consumer.
 * If the client disconnects before it has sent 64 KiB or the whole body, the entry gets no body.
 */
export function recordRequestStream(body: Readable, entry: JournalEntry | null): void {
  observeStream(body, MAX_REQUEST_BODY, {
    onChunk(length) {
      if (isOpen(entry)) entry.bodyLength += length
    },
    onStart(start) {
      if (isOpen(entry)) entry.body = start
    }
  })
}

/** Keeps the first 16 KiB of a response body while the body is streamed to the client. */
export function recordResponseStream(body: Readable, entry: JournalEntry | null): void {
  observeStream(body, MAX_RESPONSE_BODY, {
    onChunk(length) {
      if (isOpen(entry)) entry.size += length
    },
    onStart(start) {
      if (isOpen(entry)) keepResponseBody(entry, start)
    }
  })
}

/**
 * Returns whether the request is still in progress. When it ends, the journal counts the entry's
 * bytes, so the entry mustn't change afterwards.
 */
const isOpen = (entry: JournalEntry | null): entry is JournalEntry => entry?.endSequence === 0

interface Observer {
  onChunk(length: number): void
  /**
   * Called once, with the first `max` bytes or with the whole body if it is shorter. Never called
   * for an empty body.
   */
  onStart(start: Buffer): void
}

/**
 * Reports a stream's chunks to the observer. The stream stays paused until its consumer starts it.
 * Piping it through a transform stream instead would buffer twice as much.
 */
function observeStream(stream: Readable, max: number, { onChunk, onStart }: Observer): void {
  let chunks: Buffer[] | undefined = []
  let length = 0

  function endStart(): void {
    if (!chunks) return
    if (length > 0) onStart(Buffer.concat(chunks, Math.min(length, max)))
    chunks = undefined
  }

  stream.pause()
  stream.on('data', (chunk: Buffer) => {
    onChunk(chunk.length)
    length += chunk.length
    chunks?.push(chunk)
    if (length >= max) endStart()
  })
  stream.once('end', endStart)
}
