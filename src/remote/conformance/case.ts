import type { AssumptionId, Profile } from '../../domain/assumptions.js'
import type { ServiceUnderTest } from '../service-under-test.js'

/**
 * The source of a rule: the API reference, a behavior that only the mock defines, or an assumption.
 * Breaking a rule of the API reference is always a failure. Breaking any other rule is a failure if
 * the run requires a profile, and is only noted otherwise. Breaking a rule marked `strictly` is a
 * failure only if the run requires the profile `document`.
 */
export type Basis =
  | { apiReference: string }
  | { behavior: string; strictly?: true }
  | { assumption: AssumptionId }

/**
 * A rule and the code that checks it. The code only uses HTTP, and doesn't depend on specific data
 * or on other cases.
 */
export interface ConformanceCase {
  /** A topic and a name within the topic, such as `paging.length`. */
  id: string
  /** The rule in plain sentences, as reports show it. */
  rule: string
  basis: Basis
  /** Leaves the case out unless the run requires the profile `document`. */
  documentOnly?: true
  /**
   * Rejects with `Failure` if the target breaks the rule, and with `Skipped` if the rule can't be
   * checked on this target. A case about an assumption resolves to the profile that the target
   * behaves like.
   */
  run(service: ServiceUnderTest): Promise<Profile> | Promise<void>
}

export interface CaseResult extends Pick<ConformanceCase, 'id' | 'rule' | 'basis'> {
  /**
   * `noted` means that the target differs from the mock in behavior that the API reference doesn't
   * define.
   */
  outcome: 'passed' | 'failed' | 'noted' | 'skipped'
  /** The problem, or why the case was skipped. */
  reason?: string
  /** Command-line flags that may let a skipped case run. */
  flags?: string
  /** curl commands that show the problem. The last one gets the wrong response. */
  requests?: string[]
  /** The profile that the target behaves like, if the case is about an assumption. */
  profile?: Profile
  milliseconds: number
}

export const apiReference = (quote: string): Basis => ({ apiReference: quote })
export const behavior = (topic: string): Basis => ({ behavior: topic })
