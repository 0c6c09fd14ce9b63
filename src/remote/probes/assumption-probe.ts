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

/** A difference between the responses of two servers: in a field or in the status. */
export interface ObservedDifference {
  operation: 'list' | 'step' | 'set-primary' | 'none'
  query: URLSearchParams
  statuses: number[]
  /** The bodies of both responses, without their envelopes. */
  bodies: Record<string, unknown>[]
  difference: { field: string; target?: unknown; ours?: unknown }
}

/**
 * Detects which value of an assumption describes a target, and recognizes the differences that the
 * assumption explains.
 */
export interface AssumptionProbe {
  /**
   * Resolves to the profile that the target behaves like. Rejects with `Failure` if it behaves like
   * none of the profiles, and with `Skipped` if the target's data isn't sufficient to detect the
   * profile.
   */
  detect(service: ServiceUnderTest): Promise<Profile>
  /** Returns whether the assumption explains a difference between two responses. */
  explainsResponse?(observed: ObservedDifference): boolean
}

/**
 * Creates an `explainsResponse` function. It returns true if one response to the operation has
 * `status` and the other has one of `others`.
 */
export const explainStatuses =
  (operation: ObservedDifference['operation'], status: number, ...others: number[]) =>
  (observed: Pick<ObservedDifference, 'operation' | 'statuses'>) =>
    observed.operation === operation &&
    observed.statuses.includes(status) &&
    others.some((other) => observed.statuses.includes(other))

export const isEmpty = (value: unknown) => isObject(value) && Object.keys(value).length === 0

/** Returns whether exactly one of the responses has the field. */
export const isOnOneSide = ({ target, ours }: ObservedDifference['difference']) =>
  (target === undefined) !== (ours === undefined)

/**
 * The expected status, optionally with a pattern for the error message or with a function that
 * checks the body.
 */
type ExpectedResponse = readonly [status: number, body?: RegExp | ((body: unknown) => boolean)]
export type ExpectedResponses = Partial<Record<Profile, ExpectedResponse>>

interface MatchOptions {
  /**
   * Whether the API reference allows a 200 for the request. If it doesn't, an unexpected 200 is a
   * `ContractViolation`.
   */
  mayBe200?: boolean
}

/** Returns the profile whose expected response matches. Throws `Failure` if none matches. */
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

/** Creates a `detect` function that sends one request. */
export const detectByRequest =
  (path: string, expected: ExpectedResponses, options?: RequestOptions) =>
  async ({ send }: Pick<ServiceUnderTest, 'send'>) =>
    matchProfile(await send(path, options), expected)

export const isEmptyPage = (body: unknown): boolean =>
  isObject(body) && Array.isArray(body.data) && body.data.length === 0 && body.hasMore === false

/** Creates the failure for a target whose behavior fits no known value of an assumption. */
export const unexpectedResponse = (problem: string, response?: TargetResponse) =>
  new Failure(`the behavior fits no known value of the assumption: ${problem}`, response)

/** Requests the first known step, or the step `otherStepId` of the same workflow. */
export async function requestStep(
  { send, steps }: ServiceUnderTest,
  otherStepId?: string
): Promise<TargetResponse> {
  const [first] = await steps()
  const { workflowId = '', stepId = '' } = first ?? {}
  return send(stepPath(workflowId, otherStepId ?? stepId))
}
