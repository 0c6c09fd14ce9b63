/** The HTTP status for each error code. Only `http/` uses the statuses. */
export const STATUS_BY_CODE = {
  unauthenticated: 401,
  forbidden: 403,
  'not-found': 404,
  'bad-request': 400,
  invalid: 422,
  'key-reused': 422,
  'key-in-use': 409,
  exists: 409,
  'unsupported-encoding': 415,
  'expectation-failed': 417,
  'not-forwarded': 424,
  'method-not-allowed': 405,
  'not-mocked': 404,
  'stub-failed': 500,
  'not-implemented': 501,
  'data-lost': 503
} as const
export type ErrorCode = keyof typeof STATUS_BY_CODE

/** Maps each invalid field of a request to its problems and the value that was sent. */
export type FieldErrors = Record<string, { messages: string[]; value?: unknown }>

export interface ErrorDetails {
  /**
   * A readable explanation: why the request was rejected and how to fix it. Sent as
   * `x-mock-reason`.
   */
  reason: string
  /** All invalid fields. */
  errors?: FieldErrors
  /**
   * Additional top-level fields of the error body. Only set if Novu sends such fields with this
   * error.
   */
  facts?: Record<string, string>
  /** The field `ctx` of the error body. Default: the same fields as in `facts`. */
  ctx?: Record<string, unknown>
  headers?: Record<string, string>
  /** The level of the log line about the rejection. Default: info. */
  logLevel?: 'warn'
}

/**
 * Returns an empty record without a prototype, because a client may send a field named `__proto__`.
 */
export const createFieldErrors = (): FieldErrors => Object.create(null)

/**
 * An error whose message may be sent to the client. Any other error becomes a 500 without details.
 */
export class DomainError extends Error {
  override readonly name = 'DomainError'
  readonly code: ErrorCode
  readonly details: ErrorDetails

  constructor(code: ErrorCode, message: string, details: ErrorDetails) {
    super(message)
    this.code = code
    this.details = details
  }
}

/** Returns the error for invalid fields, with the message that Novu uses. */
export function invalidFields(errors: FieldErrors): DomainError {
  const messages = Object.values(errors).flatMap((field) => field.messages)
  return new DomainError('invalid', 'Validation Error', { reason: messages.join('; '), errors })
}

/**
 * Returns the error for a write that can't be saved because the data file was removed or replaced.
 */
export const dataLost = (reason: string) =>
  new DomainError('data-lost', 'The data file is lost', { reason })

/**
 * An error that ends a command or keeps the server from starting. Its message says how to fix the
 * problem and is printed without a stack trace.
 */
export class StartError extends Error {
  override readonly name = 'StartError'
}
