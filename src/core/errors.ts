/**
 * Why a request is refused, in the service's own terms. Which HTTP status each becomes is the business of
 * `http/errors.ts` alone.
 */
export type ErrorCode =
  | 'unauthenticated'
  | 'forbidden'
  | 'not-found'
  | 'bad-request'
  | 'invalid'
  | 'key-reused'
  | 'key-in-use'
  | 'taken'
  | 'expectation-failed'
  | 'method-not-allowed'
  | 'not-served'

/** The bad fields of a request: what is wrong with each, and what was sent. */
export type FieldErrors = Record<string, { messages: string[]; value?: unknown }>

export interface ErrorDetails {
  /** Which check refused and what would satisfy it: for the person reading, sent as `x-mock-reason`. */
  reason: string
  /** One entry a bad field, all of them at once. */
  errors?: FieldErrors
  /** Named facts that the answer carries beside the message, where the deployed service does so. */
  facts?: Record<string, string>
  /** What the answer's `ctx` holds, where that is more than the facts. */
  ctx?: Record<string, unknown>
}

/**
 * A refusal that the caller should hear about, in words that are safe to show.
 *
 * Services throw it. Anything else that is thrown is a fault of ours: logged whole, shown as nothing.
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

/** A refusal of fields, worded as the deployed service words it: the particulars stand in `errors`. */
export function invalidFields(errors: FieldErrors): DomainError {
  const reason = Object.values(errors)
    .flatMap((field) => field.messages)
    .join('; ')
  return new DomainError('invalid', 'Validation Error', { reason, errors })
}

/** A command or start that can't go on, with the remedy in the message: printed as one line, never as a stack. */
export class StartError extends Error {
  override readonly name = 'StartError'
}
