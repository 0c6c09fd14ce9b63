import { STATUS_CODES } from 'node:http'
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
    /** The code of the `DomainError` that rejected the request, if any. */
    errorCode: ErrorCode | undefined
  }
}

const ERROR_FIELDS = {
  statusCode: Type.Integer({ description: 'HTTP status code' }),
  timestamp: dateTime('When the error occurred, in UTC'),
  path: Type.String({ description: 'Path and query string of the request, without the host' }),
  message: Type.String({ description: 'What is wrong' }),
  error: Type.String({ description: 'Name of the status, such as `Not Found`' }),
  ctx: recordOf(Type.Unknown(), 'Details about the error; often empty')
}

const workflowId = Type.Optional(Type.String({ description: 'The `workflowId` of the request' }))

/** The body of every error that has no schema of its own. */
export const ErrorBody = namedObject('ErrorBody', 'The body of an error response', {
  ...ERROR_FIELDS,
  errorId: Type.Optional(
    Type.String({ description: 'Identifies the error in the log; only with status 500' })
  )
})
export type ErrorBody = Static<typeof ErrorBody>

/** The body of every error with status 422. */
export const ValidationErrorBody = namedObject(
  'ValidationErrorBody',
  'The body of an error response with status 422',
  {
    ...ERROR_FIELDS,
    errors: Type.Optional(
      recordOf(
        strictObject({
          messages: Type.Array(Type.String(), { description: 'What is wrong with the field' }),
          value: Type.Optional(Type.Unknown({ description: 'The value that was sent' }))
        }),
        'Invalid fields by name'
      )
    )
  }
)

export const WorkflowErrorBody = namedObject(
  'WorkflowErrorBody',
  'The body of an error response about an unknown workflow',
  { ...ERROR_FIELDS, workflowId }
)

export const StepErrorBody = namedObject(
  'StepErrorBody',
  'The body of an error response about an unknown step',
  {
    ...ERROR_FIELDS,
    stepId: Type.Optional(Type.String({ description: 'The `stepId` of the request' })),
    workflowId
  }
)

export const JSON_TYPE = 'application/json; charset=utf-8'

export interface ErrorResponse extends ErrorDetails {
  status: number
  message: string
  errorId?: string
  /** The id of the fault, if the error was injected. */
  fault?: string
  /** If set, this body is sent instead of the usual error body. */
  body?: unknown
}

/**
 * The clock and assumptions that determine an error body. They come from the request's environment,
 * or from the server if the request has no environment.
 */
export interface ErrorSources {
  now: Clock
  assumptions?: Assumptions
}

/** Returns the status and body of an error, to be stored with an idempotency key. */
export function storedErrorResponse(error: DomainError, path: string, sources: ErrorSources) {
  const response = domainErrorResponse(error)
  return { status: response.status, body: Buffer.from(errorJson(response, path, sources)) }
}

/**
 * Returns Fastify's error handler. `dataFile` is the path to mention in errors about the data file.
 */
export function errorHandler(
  sourcesOf: (request: FastifyRequest) => ErrorSources & { random: Pick<Random, 'uuid'> },
  dataFile: string | undefined
) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const sources = sourcesOf(request)
    if (error instanceof DomainError) request.errorCode = error.code
    const response = toErrorResponse(error, sources.random.uuid, dataFile)
    sendErrorResponse(reply, response, sources, error)
  }
}

/** Statuses for which a client should repeat the request. */
const RETRYABLE = [409, 429, 503]

/**
 * Sends and logs an error. Every error response is sent by this function or by `rejectOnSocket`.
 */
export function sendErrorResponse(
  reply: FastifyReply,
  response: ErrorResponse,
  sources: ErrorSources,
  error?: unknown
) {
  const { status, reason, headers = {} } = response
  logError(reply, response, error)
  // If the path can't be decoded, the hook that sets `x-request-id` hasn't run, so set it here.
  if (!reply.raw.hasHeader('x-request-id')) reply.header('x-request-id', reply.request.id)
  // Fastify adds `connection: close`. Keep the connection open instead, because closing it while
  // the client is still sending would lose the response.
  if (status === 413) reply.removeHeader('connection')
  if (status === 401) reply.header('WWW-Authenticate', 'ApiKey')
  // An error with the code `exists` has status 409 too, but the repeated request would also fail.
  const isRetryable = RETRYABLE.includes(status) && reply.request.errorCode !== 'exists'
  if (isRetryable) reply.header('Retry-After', '1')
  reply.headers(headers)
  setReasonHeader(reply, reason)
  const type = headers['content-type'] ?? JSON_TYPE
  const text = bodyText(response, type) ?? errorJson(response, reply.request.originalUrl, sources)
  reply.code(status).type(type).send(Buffer.from(text))
}

/** Returns the fault's body as text, or undefined if the fault defines no body. */
function bodyText({ body }: ErrorResponse, type: string): string | undefined {
  const isPlainText = typeof body === 'string' && !/json/i.test(type)
  return isPlainText ? body : JSON.stringify(body)
}

function logError(reply: FastifyReply, response: ErrorResponse, error: unknown): void {
  const { status, reason, fault, errorId, logLevel } = response
  const isOwnFailure = errorId !== undefined || (error !== undefined && status === 507)
  if (fault !== undefined) logFault(reply, fault, status, errorId)
  else if (isOwnFailure) logFailure(reply, status, { err: error, errorId, reason })
  else logRejection(reply, status, reason, logLevel)
}

const NOT_WRITTEN: ErrorResponse = {
  status: 507,
  message: 'Insufficient storage, the data could not be written',
  reason:
    "the data file's disk is full, failing or read-only; nothing was changed; " +
    'see the log for details'
}

const TOO_LARGE: ErrorResponse = {
  status: 400,
  message: 'Response too large',
  reason: 'the response would exceed one gigabyte: request fewer messages by lowering the limit'
}

export const SERVER_ERROR = 'Internal server error, look for the errorId in the log'

const INTERNAL_REASON = 'this is a bug in notification-mock; look for the errorId in its log'

function toErrorResponse(
  error: unknown,
  uuid: () => string,
  dataFile: string | undefined
): ErrorResponse {
  if (error instanceof DomainError) return domainErrorResponse(error)
  const code = String((error as { code?: unknown }).code)
  if (/^SQLITE_(FULL|READONLY|IOERR(?!_(SHORT_)?READ))/.test(code)) return NOT_WRITTEN
  if (code === 'SQLITE_TOOBIG') return TOO_LARGE
  const isDamaged = /^SQLITE_(CORRUPT|NOTADB|IOERR)/.test(code)
  return (
    frameworkErrorResponse(error, code) ?? {
      status: 500,
      message: SERVER_ERROR,
      reason: isDamaged ? damagedReason(dataFile) : INTERNAL_REASON,
      errorId: uuid()
    }
  )
}

function domainErrorResponse({ code, message, details }: DomainError): ErrorResponse {
  return { status: STATUS_BY_CODE[code], message, ...details }
}

function damagedReason(dataFile: string | undefined): string {
  return (
    `the data file ${dataFile} is damaged: stop the server, ` +
    'then restore a backup or choose another file with --data'
  )
}

/** Returns the error response if Fastify itself rejected the request; otherwise undefined. */
function frameworkErrorResponse(error: unknown, code: string): ErrorResponse | undefined {
  const { statusCode: status, message } = error as { statusCode?: unknown; message?: unknown }
  if (!/^(FST_|ECONNRESET$)/.test(code)) return undefined
  if (typeof status !== 'number' || status < 400 || status >= 500) return undefined
  return { status, message: String(message), reason: String(message), ...FRAMEWORK_ERRORS[code] }
}

/** Clearer messages and reasons for Fastify's errors. */
const FRAMEWORK_ERRORS: Record<string, Partial<ErrorResponse>> = {
  FST_ERR_BAD_URL: {
    message: 'Malformed path',
    reason: 'the path has a percent sign that does not start a UTF-8 character: encode it as %25'
  },
  FST_ERR_CTP_BODY_TOO_LARGE: {
    reason:
      'bodies are limited to 1 MiB, and seeds to 8 MiB of JSON or 2 MiB of YAML; ' +
      'start the server with --seed to load a larger seed from a file, ' +
      'or use `generate:` in a seed file to add many messages'
  },
  // The client has closed the connection, so only the journal shows this response.
  ECONNRESET: {
    message: 'Request aborted',
    reason: 'the connection was closed before the whole body arrived'
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
  const hasDetails = errorId !== undefined || Object.keys(errors ?? {}).length > 0
  const isException = assumptions?.['error-context'] === 'exception' && !hasDetails
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
 * Adds a reason at the start of the header `x-mock-reason`. A reason says which check rejected the
 * request and how to pass that check. Reasons are meant for people, and their wording may change.
 */
export function setReasonHeader(reply: FastifyReply, reason: string): void {
  const previous = reply.getHeader('x-mock-reason')
  const reasons = previous === undefined ? reason : `${reason}; ${previous}`
  reply.header('x-mock-reason', headerText(reasons))
}

/**
 * Percent-encodes everything that isn't printable ASCII, and truncates the text to 1000 characters.
 */
export function headerText(text: string): string {
  const printable = text.toWellFormed().replace(/[^\x20-\x7e]+/g, encodeURIComponent)
  return printable.length > MAX_REASON ? `${printable.slice(0, MAX_REASON - 3)}...` : printable
}
