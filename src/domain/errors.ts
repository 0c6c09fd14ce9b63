/** Why a request is rejected, with the HTTP status of each, which only `http/` looks at. */
export const STATUS_OF = {
  unauthenticated: 401,
  forbidden: 403,
  'not-found': 404,
  'bad-request': 400,
  invalid: 422,
  'key-reused': 422,
  'key-in-use': 409,
  exists: 409,
  'expectation-failed': 417,
  'method-not-allowed': 405,
  'not-served': 501,
  'data-lost': 503
} as const
export type ErrorCode = keyof typeof STATUS_OF

/** The invalid fields of a request: what is wrong with each, and what was sent. */
export type FieldErrors = Record<string, { messages: string[]; value?: unknown }>

export interface ErrorDetails {
  /** Which check rejected the request and how to pass it, for people to read. Sent as `x-mock-reason`. */
  reason: string
  /** One entry per invalid field, all of them at once. */
  errors?: FieldErrors
  /** Further top-level fields of the error body, where the deployed service has them. */
  facts?: Record<string, string>
  /** The `ctx` of the error body, if it differs from the facts. */
  ctx?: Record<string, unknown>
  headers?: Record<string, string>
}

/** Returns an empty record of errors. It has no prototype, as a client may name a field `toString` or `__proto__`. */
export const createFieldErrors = (): FieldErrors => Object.create(null)

/** An error that services throw for the caller, with words that are safe to show. Any other error becomes a bare 500. */
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

/** Returns the error for invalid fields, in the deployed service's words: the details are in `errors`. */
export function invalidFields(errors: FieldErrors): DomainError {
  const messages = Object.values(errors).flatMap((field) => field.messages)
  return new DomainError('invalid', 'Validation Error', { reason: messages.join('; '), errors })
}

/** Returns the error for what can't be done as the data file is not what it was. */
export const dataLost = (reason: string) =>
  new DomainError('data-lost', 'The data file is lost', { reason })

/** A command or start that can't go on. Its message says what to do, and is printed as one line without a stack. */
export class StartError extends Error {
  override readonly name = 'StartError'
}

/** Returns what `make` returns, or undefined when it throws. */
export function attempt<Value>(make: () => Value): Value | undefined {
  try {
    return make()
  } catch {
    return undefined
  }
}
