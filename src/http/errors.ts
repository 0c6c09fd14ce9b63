import { randomUUID } from 'node:crypto'
import { type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { type Static, Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Assumptions } from '../domain/assumptions.js'
import { type Clock, isoTime } from '../domain/clock.js'
import { DomainError, type ErrorCode, type ErrorDetails, STATUS_BY_CODE } from '../domain/errors.js'
import type { Random } from '../domain/random.js'
import { dateTime, namedObject, recordOf, strictObject } from '../schema/typebox.js'
import { logFailure, logFault, logRejection } from './log.js'
import { redactedTarget } from './target.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** Why it was rejected, if a service or a hook has rejected it. */
    errorCode: ErrorCode | undefined
  }
}

/** The body of every error. */
export const ErrorBody = namedObject('ErrorBody', 'Why a request was rejected', {
  statusCode: Type.Integer({ description: 'The HTTP status' }),
  timestamp: dateTime('When it happened, in UTC'),
  path: Type.String({ description: 'Path and query string of the request, without the host' }),
  message: Type.String({ description: 'What is wrong' }),
  error: Type.String({ description: "The status's name" }),
  ctx: recordOf(Type.Unknown(), 'Facts about the error, often none'),
  errors: Type.Optional(
    recordOf(
      strictObject({
        messages: Type.Array(Type.String(), { description: 'What is wrong with the field' }),
        value: Type.Optional(Type.Unknown({ description: 'The value that was sent' }))
      }),
      'The invalid fields, on 422 only'
    )
  ),
  errorId: Type.Optional(
    Type.String({ description: 'Identifies the error in the log, on 500 only' })
  ),
  stepId: Type.Optional(Type.String({ description: 'The step that was requested' })),
  workflowId: Type.Optional(Type.String({ description: 'The workflow that was requested' }))
})
export type ErrorBody = Static<typeof ErrorBody>

export const JSON_TYPE = 'application/json; charset=utf-8'

/** All that an error answer is made of. */
export interface ErrorResponse extends ErrorDetails {
  status: number
  message: string
  errorId?: string
  /** Which fault it is, if it was injected. */
  fault?: string
  /** Sent in place of the error body. */
  body?: unknown
}

/** What an error answer takes from the environment of its request, or else from the server. */
export interface ErrorSources {
  now: Clock
  assumptions?: Assumptions
}

/** Returns the status and body of an error, as they are sent and, under an idempotency key, stored. */
export function storedErrorResponse(error: DomainError, path: string, sources: ErrorSources) {
  const response = domainErrorResponse(error)
  return { status: response.status, body: Buffer.from(errorJson(response, path, sources)) }
}

/** Returns the handler of all errors, with the time, the assumptions and the ids of the request they answer. */
export function errorHandler(
  sources: (request: FastifyRequest) => ErrorSources & { random: Pick<Random, 'uuid'> },
  dataFile: string | undefined
) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const source = sources(request)
    if (error instanceof DomainError) request.errorCode = error.code
    sendErrorResponse(reply, toErrorResponse(error, source.random.uuid, dataFile), source, error)
  }
}

/** Answers with an error. Nothing else writes an error body, but for what is rejected on the bare socket. */
export function sendErrorResponse(
  reply: FastifyReply,
  response: ErrorResponse,
  from: ErrorSources,
  error?: unknown
) {
  const { status, reason, headers = {}, body, errorId } = response
  if (response.fault !== undefined) logFault(reply, response.fault, status, errorId)
  else if (errorId || (error && status === 507))
    logFailure(reply, status, { err: error, errorId, reason })
  else logRejection(reply, status, reason)

  // No hook has run when the path can't be decoded.
  if (!reply.raw.hasHeader('x-request-id')) reply.header('x-request-id', reply.request.id)
  // Fastify would close the connection while the client still sends its body, and the answer would be lost.
  if (status === 413) reply.removeHeader('connection')
  if (status === 401) reply.header('WWW-Authenticate', 'ApiKey')
  // What exists already would be rejected again.
  if (RETRIED.includes(status) && reply.request.errorCode !== 'exists')
    reply.header('Retry-After', '1')
  reply.headers(headers)
  setReasonHeader(reply, reason)
  const type = headers['content-type'] ?? JSON_TYPE
  const own = typeof body === 'string' && !/json/i.test(type) ? body : JSON.stringify(body)
  const text = own ?? errorJson(response, reply.request.url, from)
  reply.code(status).type(type).send(Buffer.from(text))
}

/** The statuses on which clients send a request again. */
const RETRIED = [409, 429, 503]

function toErrorResponse(
  error: unknown,
  uuid: () => string,
  dataFile: string | undefined
): ErrorResponse {
  if (error instanceof DomainError) return domainErrorResponse(error)
  const {
    statusCode: status,
    code,
    message
  } = error as { statusCode?: unknown; code?: unknown; message?: unknown }
  if (/^SQLITE_(FULL|READONLY|IOERR(?!_(SHORT_)?READ))/.test(String(code))) return NOT_WRITTEN
  if (code === 'SQLITE_TOOBIG')
    return { status: 400, message: 'Response too large', reason: TOO_LARGE }
  if (
    typeof status === 'number' &&
    status >= 400 &&
    status < 500 &&
    /^(FST_|ECONNRESET$)/.test(String(code))
  ) {
    return {
      status,
      message: String(message),
      reason: String(message),
      ...FRAMEWORK_ERRORS[String(code)]
    }
  }
  const isDamaged = /^SQLITE_(CORRUPT|NOTADB|IOERR)/.test(String(code))
  const reason = isDamaged ? `the data file ${dataFile} ${DAMAGED}` : OF_OURS
  return { status: 500, message: SERVER_ERROR, reason, errorId: uuid() }
}

function domainErrorResponse({ code, message, details }: DomainError): ErrorResponse {
  return { status: STATUS_BY_CODE[code], message, ...details }
}

const OF_OURS = 'an error of notification-mock itself: its log has a line with this errorId'
const TOO_LARGE = 'the response would have a gigabyte or more: ask for fewer messages with limit'
const DAMAGED =
  'is damaged: stop the server, then put back a copy, or name another file with --data'
const NOT_WRITTEN: ErrorResponse = {
  status: 507,
  message: 'Insufficient storage, the data could not be written',
  reason:
    'the disk of the data file is full or fails, or may not be written to: the log has more; nothing was changed'
}

export const SERVER_ERROR = 'Internal server error, look for the errorId in the log'

/** Better words for what Fastify refuses. */
const FRAMEWORK_ERRORS: Record<string, Partial<ErrorResponse>> = {
  FST_ERR_BAD_URL: {
    message: 'Malformed path',
    reason:
      'the path has a percent sign that is not followed by two hex digits of UTF-8: encode it as %25'
  },
  FST_ERR_CTP_BODY_TOO_LARGE: {
    reason:
      'a body may have up to 1 MiB, and a seed 8 MiB of JSON or 2 MiB of YAML: give a larger seed as a file at the start, with --seed, and add many messages with `generate:` in a seed file'
  },
  // Nobody gets this answer, but the journal has it.
  ECONNRESET: {
    message: 'Request aborted',
    reason: 'the connection was closed before the end of the body'
  }
}

/** Returns the error body as JSON. */
export function errorJson(
  response: ErrorResponse,
  path: string,
  { now, assumptions }: ErrorSources
): string {
  const { status, message, errors, facts, ctx, errorId } = response
  const error = STATUS_CODES[status] ?? 'Error'
  const isTold = errorId !== undefined || Object.keys(errors ?? {}).length > 0
  const isException = assumptions?.['error-context'] === 'exception' && !isTold
  return JSON.stringify({
    statusCode: status,
    timestamp: isoTime(now()),
    path: redactedTarget(path),
    message,
    error,
    ctx: ctx ?? facts ?? (isException ? { error, statusCode: status } : {}),
    errors,
    errorId,
    ...facts
  })
}

const MAX_REASON = 1000

/**
 * Sets `x-mock-reason`: which check rejected the request and how to pass it, before what it says already. For people; the
 * words may change.
 */
export function setReasonHeader(reply: FastifyReply, reason: string): void {
  const given = reply.getHeader('x-mock-reason')
  reply.header('x-mock-reason', headerText(given === undefined ? reason : `${reason}; ${given}`))
}

/** Text as a header can carry it: what is not printable ASCII is percent-encoded, and the length is bounded. */
export function headerText(text: string): string {
  const printable = text.toWellFormed().replace(/[^\x20-\x7e]+/g, encodeURIComponent)
  return printable.length > MAX_REASON ? `${printable.slice(0, MAX_REASON - 3)}...` : printable
}

/**
 * Answers what Node refuses before there is a request (a bad request line, headers too large, a request that never
 * ends) with the same body, written straight to the socket. Requests that came before on the connection are answered
 * first.
 */
export function rejectMalformedRequest(
  error: NodeJS.ErrnoException,
  socket: Socket,
  clock: Clock
): void {
  // Node tells of every further packet too.
  if (rejected.has(socket)) return
  rejected.add(socket)
  const { reason } = error as { reason?: string }
  const malformed = {
    status: 400,
    message: 'Malformed HTTP request',
    reason: `what was sent is not a well-formed HTTP request${reason ? `: ${reason}` : ''}`
  }
  rejectInTurn(
    socket,
    CLIENT_ERRORS[error.code ?? ''] ?? malformed,
    clock,
    error.code === TIMED_OUT
  )
}

const TIMED_OUT = 'ERR_HTTP_REQUEST_TIMEOUT'

const rejected = new WeakSet<Socket>()

/**
 * Answers with an error body on a bare socket, behind the answers to the requests that are read to their end, and closes
 * it: not before the client has closed its side, or has been silent for two seconds, as closing on a client that is still
 * sending takes the answer away from it.
 */
export function rejectInTurn(
  socket: Socket,
  response: ErrorResponse,
  clock: Clock,
  atOnce = false
): void {
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
