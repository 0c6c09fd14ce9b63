import type { TObject, TSchema } from '@sinclair/typebox'
import type { AssumptionId, Assumptions } from '../domain/assumptions.js'
import type { OperationId } from '../domain/enums.js'
import type { ErrorCode } from '../domain/errors.js'

export type ErrorStatus = 400 | 401 | 403 | 404 | 409 | 413 | 422 | 500

export interface OperationSummary {
  id: string
  summary: string
  description?: string
  tag: string
  params?: TObject
  querystring?: TObject
}

/** An error response of an operation. */
export interface OperationError {
  status: ErrorStatus
  /**
   * Distinguishes errors with the same status. An entry without a code describes all errors whose
   * code no other entry has.
   */
  code?: ErrorCode
  /** An assumption and its value. The error occurs only if the assumption has this value. */
  under?: readonly [AssumptionId, string]
  /** The schema that describes the body if an assumption, `under`, adds fields to it. */
  extendedBody?: { schema: TSchema; under: readonly [AssumptionId, string] }
  /** A path that gets this error with the default seed. */
  example?: string
}

/**
 * Describes a mocked operation. Its route, the OpenAPI document, the journal, faults and coverage
 * all use this description.
 */
export interface Operation extends OperationSummary {
  id: OperationId
  method: 'GET' | 'POST'
  /** The path, with parameters in the form `:name`. */
  url: string
  /** The schema of the response body for status 200. */
  response: TSchema
  /** All documented errors except status 500. */
  errors: readonly OperationError[]
  /** Whether the operation supports idempotency keys. */
  idempotent?: boolean
  /**
   * Whether the response is a single object, which the assumption `envelope` can wrap in `data`.
   */
  enveloped?: boolean
  /** Values for a request that succeeds with the default seed. */
  examples: {
    params?: Record<string, string>
    query?: Record<string, string | number | readonly string[]>
    idempotencyKey?: string
  }
}

/** Returns the operation unchanged. TypeScript infers the narrowest type for it. */
export const defineOperation = <const Defined extends Operation>(operation: Defined): Defined =>
  operation

/** Returns the errors that can occur with these assumptions, except status 500. */
export const errorsFor = ({ errors }: Operation, assumptions: Assumptions): OperationError[] =>
  errors.filter(({ under }) => under === undefined || assumptions[under[0]] === under[1])

/**
 * Returns the names that aren't query parameters of the operation. Without an operation, returns
 * all names.
 */
export function unknownParameters(
  names: readonly string[],
  operation: Pick<OperationSummary, 'querystring'> | undefined
): string[] {
  const parameters = operation?.querystring?.properties ?? {}
  return names.filter((name) => !Object.hasOwn(parameters, name))
}
