import { randomUUID } from 'node:crypto'
import { type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '../domain/clock.js'
import { type ErrorResponse, errorJson, headerText, JSON_TYPE } from './errors.js'

const TIMED_OUT = 'ERR_HTTP_REQUEST_TIMEOUT'

const RESPONSES: Record<string, ErrorResponse> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    message: 'Request header fields too large',
    reason: 'the request line and the headers must not exceed 256 KiB in total'
  },
  [TIMED_OUT]: {
    status: 408,
    message: 'Request timeout',
    reason: 'the client did not send the whole request within the time set by --request-timeout'
  }
}

/** A rejected socket is closed after this many milliseconds without data from the client. */
const LINGER = 2000

/**
 * Sockets that already got an error response. Node reports another error for each packet that
 * follows, but the client must get only one response.
 */
const rejected = new WeakSet<Socket>()

/**
 * Responds to a request that is malformed, has oversized headers or takes too long to arrive.
 * Earlier requests on the connection get their responses first.
 */
export function rejectMalformedRequest(
  error: NodeJS.ErrnoException & { reason?: string },
  socket: Socket,
  clock: Clock
): void {
  if (rejected.has(socket)) return
  rejected.add(socket)
  const code = error.code ?? ''
  const response = RESPONSES[code] ?? malformedRequest(error.reason)
  // After a timeout, close the socket at once, so that the rest of the request isn't read as a new
  // request.
  rejectOnSocket(socket, response, clock, { closeImmediately: code === TIMED_OUT })
}

function malformedRequest(detail: string | undefined): ErrorResponse {
  return {
    status: 400,
    message: 'Malformed HTTP request',
    reason: `the request is not well-formed HTTP${detail ? `: ${detail}` : ''}`
  }
}

/**
 * Writes an error response to the socket after the responses to all complete requests. Then keeps
 * the socket open until the client closes its side or sends nothing for two seconds, because a
 * client that is still sending could otherwise lose the response. With `closeImmediately`, closes
 * the socket as soon as the response is written.
 */
export function rejectOnSocket(
  socket: Socket,
  response: ErrorResponse,
  clock: Clock,
  { closeImmediately = false } = {}
): void {
  // After CONNECT, a socket has no other error listener. An unhandled error would end the process.
  socket.on('error', () => socket.destroy())

  function rejectNext(): void {
    const pending = pendingResponse(socket)
    if (pending?.req.complete) {
      pending.once('finish', rejectNext)
      return
    }
    socket.setTimeout(LINGER, () => socket.destroy())
    if (socket.writable) socket.end(toHttpText(response, clock)).resume()
    if (closeImmediately) socket.destroySoon()
  }

  rejectNext()
}

/**
 * Returns the response that Node is currently sending on the socket. Node has no public API for
 * this.
 */
function pendingResponse(socket: Socket & { _httpMessage?: ServerResponse }) {
  return socket._httpMessage
}

function toHttpText(response: ErrorResponse, clock: Clock): string {
  const body = errorJson(response, '', { now: clock })
  const head = [
    `HTTP/1.1 ${response.status} ${STATUS_CODES[response.status]}`,
    `x-request-id: ${randomUUID()}`,
    `content-type: ${JSON_TYPE}`,
    `content-length: ${Buffer.byteLength(body)}`,
    `x-mock-reason: ${headerText(response.reason)}`,
    'connection: close'
  ]
  return `${head.join('\r\n')}\r\n\r\n${body}`
}
