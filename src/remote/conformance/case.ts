import type { AssumptionId, Profile } from '../../domain/assumptions.js'
import type { Subject } from '../service-under-test.js'

/**
 * What a case rests on: words of the contract, what the reference settles where the contract is silent, or a row. Only
 * what breaks the contract is a failure; the others are notes, unless the target is to be of a profile. What is settled
 * `strictly` is a failure of the profile `document` only.
 */
export type Basis =
  | { contract: string }
  | { settled: string; strictly?: true }
  | { assumption: AssumptionId }

/** A rule and how it is judged. It stands alone: it asks by HTTP, knows no data, and needs no case before it. */
export interface ConformanceCase {
  /** What it is about, and then what: `paging.length`. */
  id: string
  /** What must hold. */
  rule: string
  basis: Basis
  /** Services are known to differ here: it is judged only if the target is to be of the profile `document`. */
  documentOnly?: true
  /**
   * Rejects with `Failure` when the rule is broken, and with `Skipped` when that can't be told here. Resolves with the
   * position that the target takes, of a case that is about a row of the register.
   */
  run(subject: Subject): Promise<Profile> | Promise<void>
}

export interface CaseResult extends Pick<ConformanceCase, 'id' | 'rule' | 'basis'> {
  /** `noted`: it differs from the reference where the contract is silent. */
  outcome: 'passed' | 'failed' | 'noted' | 'skipped'
  /** What is wrong, or why it was skipped. */
  reason?: string
  /** The flags that may let a case be judged that was skipped. */
  flags?: string
  /** The requests that show what is wrong, as commands of curl; the last one is that whose answer was wrong. */
  requests?: string[]
  /** The position that the target takes, of a row of the register. */
  position?: Profile
  milliseconds: number
}

export const contract = (words: string): Basis => ({ contract: words })
export const settled = (words: string): Basis => ({ settled: words })
