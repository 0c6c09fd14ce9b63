import type { Profile } from '../../domain/assumptions.js'
import { isObject } from '../../schema/validation.js'
import { stepPath } from '../paths.js'
import {
  ContractViolation,
  Failure,
  messageOf,
  type RequestOptions,
  type TargetResponse
} from '../response-checks.js'
import type { ServiceUnderTest } from '../service-under-test.js'

/** A field, or the status, that differs between the responses of two servers. */
export interface ObservedDifference {
  operation: 'list' | 'step' | 'set-primary' | 'none'
  query: URLSearchParams
  statuses: number[]
  /** The bodies of both responses, without their envelopes. */
  bodies: Record<string, unknown>[]
  difference: { field: string; target?: unknown; ours?: unknown }
}

/** The values that only one of two OpenAPI documents allows. */
export interface DocumentChange {
  published?: unknown
  ours?: unknown
}

/** How an assumption shows in the responses of a target. */
export interface AssumptionProbe {
  /**
   * Returns the profile whose value of the assumption the target has. Rejects with `Failure` if the
   * target has neither value, and with `Skipped` if its data can't show it.
   */
  detect(service: ServiceUnderTest): Promise<Profile>
  /** Returns whether the assumption explains a difference between two responses. */
  explainsResponse?(observed: ObservedDifference): boolean
  /**
   * Returns whether the assumption explains why a part (`status 404`) of an operation
   * (`GET /v1/messages`) differs between two OpenAPI documents.
   */
  explainsDocument?(operation: string, part: string, change: DocumentChange): boolean
}

/**
 * Explains responses to an operation if one has this status and the other has one of the others.
 */
export const explainStatuses =
  (operation: ObservedDifference['operation'], status: number, ...others: number[]) =>
  (observed: Pick<ObservedDifference, 'operation' | 'statuses'>) =>
    observed.operation === operation &&
    observed.statuses.includes(status) &&
    others.some((other) => observed.statuses.includes(other))

/** Explains a difference of documents by its operation and part. */
export const explainPart =
  (operation: RegExp, part: RegExp) => (differingOperation: string, differingPart: string) =>
    operation.test(differingOperation) && part.test(differingPart)

export const isEmpty = (value: unknown) => isObject(value) && Object.keys(value).length === 0

/** Returns whether exactly one of the responses has the field. */
export const isOnOneSide = ({ target, ours }: ObservedDifference['difference']) =>
  (target === undefined) !== (ours === undefined)

/** A status, and a pattern for the message or a check of the body. */
type ExpectedResponse = readonly [status: number, body?: RegExp | ((body: unknown) => boolean)]
export type ExpectedResponses = Partial<Record<Profile, ExpectedResponse>>

interface MatchOptions {
  /**
   * Whether the API reference allows other 200 responses. If not, one is a `ContractViolation`.
   */
  mayBe200?: boolean
}

/** Returns the profile whose expected response it is. Throws `Failure` if there is none. */
export function matchProfile(
  response: TargetResponse,
  expected: ExpectedResponses,
  { mayBe200 = false }: MatchOptions = {}
): Profile {
  for (const [profile, expectedResponse] of Object.entries(expected)) {
    if (isExpected(response, expectedResponse)) return profile as Profile
  }
  const statuses = [...new Set(Object.values(expected).map(([status]) => status))]
  const reason = statuses.includes(response.status)
    ? `status ${response.status} with an undocumented body`
    : `status ${response.status}, expected ${statuses.join(' or ')}`
  if (response.status === 200 && !mayBe200) throw new ContractViolation(reason, response)
  throw unexpectedResponse(reason, response)
}

function isExpected(response: TargetResponse, [status, body]: ExpectedResponse): boolean {
  if (response.status !== status) return false
  if (body instanceof RegExp) return body.test(String(messageOf(response)))
  return body?.(response.body) ?? true
}

/** Returns a probe that detects the value with one request. */
export const detectByRequest =
  (path: string, expected: ExpectedResponses, options?: RequestOptions) =>
  async ({ send }: Pick<ServiceUnderTest, 'send'>) =>
    matchProfile(await send(path, options), expected)

export const isEmptyPage = (body: unknown): boolean =>
  isObject(body) && Array.isArray(body.data) && body.data.length === 0 && body.hasMore === false

/** Returns the failure of a target that has none of the values of an assumption. */
export const unexpectedResponse = (problem: string, response?: TargetResponse) =>
  new Failure(`no known value of the assumption: ${problem}`, response)

/** Requests a known step, or a step with another id of its workflow. */
export async function requestStep(
  { send, steps }: ServiceUnderTest,
  otherStepId?: string
): Promise<TargetResponse> {
  const [first] = await steps()
  const { workflowId = '', stepId = '' } = first ?? {}
  return send(stepPath(workflowId, otherStepId ?? stepId))
}
