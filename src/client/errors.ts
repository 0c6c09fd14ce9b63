/** What is wrong with a field of a request. */
export interface InvalidField {
  messages: string[]
  /** The value that was sent. */
  value?: unknown
}

/** Why the server did not do what it was asked for, or that none answered. */
export class MockError extends Error {
  override readonly name = 'MockError'
  /** The HTTP status; undefined when no answer came. */
  readonly status: number | undefined
  /** Which check rejected the request and how to pass it; also the message. */
  readonly reason: string
  /** What is wrong with the fields of the request, by their names. */
  readonly fields: Record<string, InvalidField>
  /** Facts about the error: of a failed verification, `nearest` has the requests that came closest. */
  readonly context: Record<string, unknown>

  constructor(reason: string, { status, fields = {}, context = {}, cause }: ErrorDetails = {}) {
    super(reason, cause === undefined ? undefined : { cause })
    this.status = status
    this.reason = reason
    this.fields = fields
    this.context = context
  }
}

type ErrorDetails = { [Name in 'status' | 'fields' | 'context' | 'cause']?: MockError[Name] | undefined }
