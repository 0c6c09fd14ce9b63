import { randomUUID } from 'node:crypto'
import { type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '../core/clock.js'
import { type ErrorResponse, errorJson, headerText, JSON_TYPE } from './errors.js'

/**
 * Answers what Node refuses before there is a request (a bad request line, headers too large, a request that never
 * ends) with the same body, written straight to the socket. Requests that came before on the connection are answered
 * first.
 */
export function rejectMalformedRequest(error: NodeJS.ErrnoException, socket: Socket, clock: Clock): void {
  // Node tells of every further packet too.
  if (rejected.has(socket)) return
  rejected.add(socket)
  const { reason } = error as { reason?: string }
  const malformed = {
    status: 400,
    message: 'Malformed HTTP request',
    reason: `what was sent is not a well-formed HTTP request${reason ? `: ${reason}` : ''}`
  }
  rejectInTurn(socket, CLIENT_ERRORS[error.code ?? ''] ?? malformed, clock, error.code === TIMED_OUT)
}

const TIMED_OUT = 'ERR_HTTP_REQUEST_TIMEOUT'

const rejected = new WeakSet<Socket>()

/**
 * Answers with an error body on a bare socket, behind the answers to the requests that are read to their end, and closes
 * it: not before the client has closed its side, or has been silent for two seconds, as closing on a client that is still
 * sending takes the answer away from it.
 */
export function rejectInTurn(socket: Socket, response: ErrorResponse, clock: Clock, atOnce = false): void {
  // A socket that asked for a tunnel has no other listener, and an error would end the process.
  socket.on('error', () => socket.destroy())
  proceed()

  function proceed(): void {
    // A socket knows the answer that it is sending.
    const { _httpMessage: answer } = socket as Socket & { _httpMessage?: ServerResponse }
    if (answer?.req.complete) return void answer.once('finish', proceed)
    socket.setTimeout(LINGER, () => socket.destroy())
    if (socket.writable) socket.end(textOf(response, clock)).resume()
    // The rest of a request that came too late must not be taken for one in time.
    if (atOnce) socket.destroySoon()
  }
}

function textOf(response: ErrorResponse, clock: Clock): string {
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

const LINGER = 2000

const CLIENT_ERRORS: Record<string, ErrorResponse> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    message: 'Request header fields too large',
    reason: 'request line and headers together may have 256 KiB'
  },
  [TIMED_OUT]: {
    status: 408,
    message: 'Request timeout',
    reason: 'the request was not sent to its end in the time that --request-timeout allows'
  }
}
