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

/** An error that an operation responds with. */
export interface OperationError {
  status: ErrorStatus
  /** Distinguishes errors with the same status. An error without a code covers the rest. */
  code?: ErrorCode
  /** The assumption, and its value, without which this error does not occur. */
  under?: readonly [AssumptionId, string]
  /** A path that the default seed rejects with this error. */
  example?: string
}

/**
 * A mocked operation. Its route, the OpenAPI document, the journal, faults and coverage all use
 * this one description.
 */
export interface Operation extends OperationSummary {
  id: OperationId
  method: 'GET' | 'POST'
  /** The path with its parameters as `:name`. */
  url: string
  /** The schema of the body of a 200. */
  response: TSchema
  /** Every error except 500. */
  errors: readonly OperationError[]
  /** Whether an idempotency key has an effect. */
  idempotent?: boolean
  /** Whether the response is one object, which the assumption `envelope` can put under `data`. */
  enveloped?: boolean
  /** Requests that succeed with the default seed. */
  examples: {
    params?: Record<string, string>
    query?: Record<string, string | number | readonly string[]>
    idempotencyKey?: string
  }
}

/** Returns the operation unchanged, with the most precise type. */
export const defineOperation = <const Defined extends Operation>(operation: Defined): Defined =>
  operation

/** Returns the errors that an operation can respond with under the assumptions, except 500. */
export const errorsFor = ({ errors }: Operation, assumptions: Assumptions): OperationError[] =>
  errors.filter(({ under }) => under === undefined || assumptions[under[0]] === under[1])

/** Returns the names that are not parameters of the operation: all of them without an operation. */
export function unknownParameters(
  names: readonly string[],
  operation: Pick<OperationSummary, 'querystring'> | undefined
): string[] {
  const parameters = operation?.querystring?.properties ?? {}
  return names.filter((name) => !Object.hasOwn(parameters, name))
}
