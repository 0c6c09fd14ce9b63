import type { AssumptionId, Profile } from '../../domain/assumptions.js'
import type { ServiceUnderTest } from '../service-under-test.js'

/**
 * Why a rule must hold: the API reference says so, or the mock's documented behavior does where the
 * API reference is silent, or it is an assumption. A broken rule is a failure if it is from the
 * API reference. Otherwise it is a note, unless the run requires a profile. With `strictly`, it is
 * a failure only in the profile `document`.
 */
export type Basis =
  | { apiReference: string }
  | { behavior: string; strictly?: true }
  | { assumption: AssumptionId }

/** A rule and its check. A case uses only HTTP, relies on no particular data and no other case. */
export interface ConformanceCase {
  /** A topic and a name within it: `paging.length`. */
  id: string
  /** What must hold. */
  rule: string
  basis: Basis
  /** Set if services are known to differ: the case runs only with the profile `document`. */
  documentOnly?: true
  /**
   * Rejects with `Failure` if the rule is broken, and with `Skipped` if it can't be checked here.
   * A case about an assumption resolves to the profile whose value the target has.
   */
  run(service: ServiceUnderTest): Promise<Profile> | Promise<void>
}

export interface CaseResult extends Pick<ConformanceCase, 'id' | 'rule' | 'basis'> {
  /** `noted`: the target differs where the API reference is silent. */
  outcome: 'passed' | 'failed' | 'noted' | 'skipped'
  /** The problem, or why the case was skipped. */
  reason?: string
  /** The flags that may let a skipped case run. */
  flags?: string
  /** curl commands that show the problem. The last one gets the wrong response. */
  requests?: string[]
  /** The profile whose value the target has, if the case is about an assumption. */
  profile?: Profile
  milliseconds: number
}

export const apiReference = (quote: string): Basis => ({ apiReference: quote })
export const behavior = (topic: string): Basis => ({ behavior: topic })
