import { randomUUID } from 'node:crypto'
import { type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { type Static, Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { type Clock, isoTime } from '../core/clock.js'
import { DomainError, type ErrorCode, type FieldErrors } from '../core/errors.js'
import { recordOf, strictObject } from '../core/typebox.js'
import { giveReason, headerText } from './reasons.js'
import { shownTarget } from './target.js'

/** Exhaustive on purpose: a new code does not compile until it has a status. */
const STATUS: Record<ErrorCode, number> = {
  unauthenticated: 401,
  forbidden: 403,
  'not-found': 404,
  'bad-request': 400,
  invalid: 422,
  'key-reused': 422,
  'key-in-use': 409,
  taken: 409,
  'expectation-failed': 417,
  'method-not-allowed': 405,
  'not-served': 501
}

/** The one body of every refusal. */
export const ErrorBody = strictObject(
  {
    statusCode: Type.Integer({ description: 'The HTTP status' }),
    timestamp: Type.String({ description: 'When, ISO 8601 in UTC' }),
    path: Type.String({ description: 'What was asked: path and query string, without the host' }),
    message: Type.String({ description: 'What is wrong' }),
    error: Type.String({ description: "The status's name" }),
    ctx: recordOf(Type.Unknown(), 'Facts about the refusal, often none'),
    errors: Type.Optional(
      recordOf(
        strictObject({
          messages: Type.Array(Type.String(), { description: 'What is wrong with the field' }),
          value: Type.Optional(Type.Unknown({ description: 'What was sent' }))
        }),
        'The bad fields, on 422 only'
      )
    ),
    errorId: Type.Optional(Type.String({ description: 'Stands in the log line too, on 500 only' })),
    stepId: Type.Optional(Type.String({ description: 'Which step was asked for' })),
    workflowId: Type.Optional(Type.String({ description: 'Which workflow was asked for' }))
  },
  {
    $id: 'ErrorBody',
    description: 'Why a request was refused',
    examples: [
      {
        statusCode: 404,
        timestamp: '2026-02-18T10:00:00.000Z',
        path: '/v1/integrations/66d5a0e97c9b1a0012ab3411/set-primary',
        message: 'Integration with id 66d5a0e97c9b1a0012ab3411 not found',
        error: 'Not Found',
        ctx: {}
      }
    ]
  }
)
export type ErrorBody = Static<typeof ErrorBody>

export const JSON_TYPE = 'application/json; charset=utf-8'

interface Fault {
  status: number
  message: string
  /** Sent as `x-mock-reason`. */
  reason: string
  errors?: FieldErrors
  facts?: Record<string, string>
  ctx?: Record<string, unknown>
  errorId?: string
  headers?: Record<string, string>
  /** In place of the error body. */
  body?: unknown
}

/** A refusal that a rule of the environment, or the request itself, asked for. */
export class InjectedFault extends Error {
  override readonly name = 'InjectedFault'
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: unknown

  constructor(
    id: string,
    status: number,
    { headers = {}, body }: { headers?: Record<string, string>; body?: unknown }
  ) {
    super(`injected by ${id === 'header' ? 'the header x-mock-fault' : `${id}, see GET /_mock/faults`}`)
    this.status = status
    this.headers = headers
    this.body = body
  }
}

/** The status and body of a refusal, as they are sent and, under an idempotency key, stored. */
export function refusalAnswer(refusal: DomainError, path: string, now: number): { status: number; body: Buffer } {
  const fault = faultOf(refusal)
  return { status: fault.status, body: Buffer.from(errorJson(fault, path, now)) }
}

/** Answers every refusal and every failure of the scope it is registered in: no one else writes an error body. */
export const errorAnswers = fp<{ clock: Clock }>(
  async (app, { clock }) => {
    app.setErrorHandler((error, request, reply) => answerError(error, request, reply, clock))
  },
  { name: 'error-answers' }
)

/** For errors that Fastify meets before a route is found, such as a path that can't be decoded. */
export function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply, clock: Clock): FastifyReply {
  const fault = faultOf(error, request.environment?.random.uuid)
  const now = request.environment?.now ?? clock
  if (fault.errorId) request.log.error({ err: error, errorId: fault.errorId }, 'request failed')
  else request.log.info({ statusCode: fault.status, reason: fault.reason }, 'request refused')

  // No hook has run where the path can't be decoded.
  if (!reply.raw.hasHeader('x-request-id')) reply.header('x-request-id', request.id)
  // Fastify would hang up on a client that is still sending its body, and so take the answer away from it.
  if (fault.status === 413) reply.removeHeader('connection')
  if (fault.status === 401) reply.header('WWW-Authenticate', 'ApiKey')
  if (fault.status === 409 || fault.status === 429 || fault.status === 503) reply.header('Retry-After', '1')
  if (fault.headers) reply.headers(fault.headers)
  giveReason(reply, fault.reason)
  const type = fault.headers?.['content-type'] ?? JSON_TYPE
  const body = fault.body === undefined ? errorJson(fault, request.url, now()) : bodyText(fault.body, type)
  return reply.code(fault.status).type(type).send(Buffer.from(body))
}

/** JSON, but for text that is said to be something else. */
function bodyText(body: unknown, type: string): string {
  return typeof body === 'string' && !/json/i.test(type) ? body : JSON.stringify(body)
}

function faultOf(error: unknown, uuid: () => string = randomUUID): Fault {
  if (error instanceof DomainError) {
    return { status: STATUS[error.code], message: error.message, ...error.details }
  }
  if (error instanceof InjectedFault) return injected(error, uuid)
  const { statusCode, code, message } = error as { statusCode?: unknown; code?: unknown; message?: unknown }
  if (code === 'ECONNRESET' && statusCode === 400) return ABANDONED
  if (typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500 && /^FST_/.test(String(code))) {
    return { status: statusCode, message: String(message), reason: String(message), ...FRAMEWORK_ERRORS[String(code)] }
  }
  return {
    status: 500,
    message: SERVER_FAULT,
    reason: 'a fault of notification-mock itself: its log has a line with this errorId',
    errorId: uuid()
  }
}

/** As the deployed service words it, where it is known to. */
function injected({ status, headers, body, message: reason }: InjectedFault, uuid: () => string): Fault {
  const sent = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  return {
    status,
    message: INJECTED_MESSAGES[status] ?? STATUS_CODES[status] ?? 'Error',
    reason,
    headers: { ...(status === 429 && RATE_LIMITED), ...sent },
    ...(body !== undefined && { body }),
    ...(status === 422 && { errors: {} }),
    ...(status === 500 && { errorId: uuid() })
  }
}

const SERVER_FAULT = 'Internal server error, look for the errorId in the log'
const INJECTED_MESSAGES: Record<number, string> = { 429: 'API rate limit exceeded', 500: SERVER_FAULT }

/** What the deployed service sends with a 429, with figures of ours. */
const RATE_LIMITED = {
  'ratelimit-limit': '60',
  'ratelimit-remaining': '0',
  'ratelimit-reset': '1',
  'ratelimit-policy': '60;w=1;burst=66;comment="token bucket";category="global";cost="single";serviceLevel="free"'
}

/** Better words for what Fastify refuses. */
const FRAMEWORK_ERRORS: Record<string, Partial<Fault>> = {
  FST_ERR_BAD_URL: {
    message: 'Malformed path',
    reason: 'the path has a percent sign that is not followed by two hex digits of UTF-8: encode it as %25'
  },
  FST_ERR_CTP_BODY_TOO_LARGE: {
    reason: 'the operations take no body; a body of up to 1 MiB is ignored, a larger one is refused'
  }
}

/** The connection was lost while the body was being read: there is nobody left to tell. */
const ABANDONED: Fault = {
  status: 400,
  message: 'Request aborted',
  reason: 'the connection was closed before the end of the body'
}

function errorJson({ status, message, errors, facts, ctx, errorId }: Fault, path: string, now: number): string {
  const body: ErrorBody = {
    statusCode: status,
    timestamp: isoTime(now),
    path: shownTarget(path),
    message,
    error: STATUS_CODES[status] ?? 'Error',
    ctx: ctx ?? facts ?? {},
    ...(errors && { errors }),
    ...(errorId && { errorId }),
    ...facts
  }
  return JSON.stringify(body)
}

/**
 * Answers what Node refuses before there is a request (a bad request line, headers too large, a request that never
 * ends) with the same body, written straight to the socket. Requests that came before on the connection are answered
 * first.
 */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket, clock: Clock): void {
  // Node tells of every further packet too.
  if (refused.has(socket)) return
  refused.add(socket)
  const { reason } = error as { reason?: string }
  const fault = CLIENT_ERRORS[error.code ?? ''] ?? {
    status: 400,
    message: 'Malformed HTTP request',
    reason: `what was sent is not a well-formed HTTP request${reason ? `: ${reason}` : ''}`
  }
  whenAnswered(socket, () => refuseSocket(socket, fault, clock))
}

const refused = new WeakSet<Socket>()

/** Waits for the answers to requests that are read to their end: a socket knows the one that it is sending. */
function whenAnswered(socket: Socket, proceed: () => void): void {
  const { _httpMessage: answer } = socket as Socket & { _httpMessage?: ServerResponse }
  if (answer?.req.complete) answer.once('finish', () => whenAnswered(socket, proceed))
  else proceed()
}

/**
 * Answers with an error body on a bare socket, and closes it: not before the client has closed its side, or has been
 * silent for two seconds, as closing on a client that is still sending takes the answer away from it.
 */
export function refuseSocket(socket: Socket, fault: Omit<Fault, 'errorId'>, clock: Clock): void {
  socket.setTimeout(LINGER, () => socket.destroy())
  // A socket that asked for a tunnel has no other listener, and an error would end the process.
  socket.on('error', () => socket.destroy())
  if (!socket.writable) return

  const body = errorJson(fault, '', clock())
  const head = [
    `HTTP/1.1 ${fault.status} ${STATUS_CODES[fault.status]}`,
    `x-request-id: ${randomUUID()}`,
    `content-type: ${JSON_TYPE}`,
    `content-length: ${Buffer.byteLength(body)}`,
    `x-mock-reason: ${headerText(fault.reason)}`,
    'connection: close'
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
  socket.resume()
}

const LINGER = 2000

const CLIENT_ERRORS: Record<string, Fault> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    message: 'Request header fields too large',
    reason: 'request line and headers together may have 256 KiB'
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    message: 'Request timeout',
    reason: 'the request was not sent to its end in time'
  }
}
