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

/** An error that an operation rejects with. */
export interface OperationError {
  status: ErrorStatus
  /** Tells apart the errors that have one status; the one without a code is any other. */
  code?: ErrorCode
  /** The position of an assumption that it needs, if it needs one. */
  under?: readonly [AssumptionId, string]
  /** A path of the default seed that is rejected with it. */
  example?: string
}

/** An operation of the service, described once for its route, the OpenAPI document, the journal, faults and coverage. */
export interface Operation extends OperationSummary {
  id: OperationId
  method: 'GET' | 'POST'
  /** Path with parameters as `:name`. */
  url: string
  /** Schema of the body of a 200. */
  response: TSchema
  /** What it rejects with, besides 500. */
  errors: readonly OperationError[]
  /** Whether an idempotency key has an effect. */
  idempotent?: boolean
  /** Whether it answers with a single object, which assumption `envelope` puts under `data`: see `enveloped`. */
  enveloped?: boolean
  /** Requests that the default seed can answer. */
  examples: {
    params?: Record<string, string>
    query?: Record<string, string | number | readonly string[]>
    idempotencyKey?: string
  }
}

/** Types the operation as precisely as it is written. */
export const defineOperation = <const Defined extends Operation>(operation: Defined): Defined =>
  operation

/** Returns the errors that an operation rejects with under these assumptions, besides 500. */
export const errorsFor = ({ errors }: Operation, assumptions: Assumptions): OperationError[] =>
  errors.filter(({ under }) => under === undefined || assumptions[under[0]] === under[1])

export type Described = { querystring?: TObject }

/** Returns the names of parameters that an operation does not read; all of them where no operation serves the request. */
export const unknownParameters = (
  names: readonly string[],
  operation: Described | undefined
): string[] =>
  names.filter((name) => !Object.hasOwn(operation?.querystring?.properties ?? {}, name))
