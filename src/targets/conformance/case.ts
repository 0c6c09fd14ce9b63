import type { AssumptionId, Profile } from '../../core/assumptions.js'
import type { Subject } from './subject.js'

/**
 * `wire`: the shape of every answer. `behaviour`: filters, pages, lookup, refusals. `effects`: set-primary and idempotency
 * keys. `live`: for each row of the register of assumptions, that the target takes one of its positions.
 */
export const TIERS = ['wire', 'behaviour', 'effects', 'live'] as const
export type Tier = (typeof TIERS)[number]

/**
 * What a case rests on: words of the contract, what the reference settles where the contract is silent, or a row. Only
 * what breaks the contract is a failure; the others are notes, unless the target is to be of a profile. What is settled
 * `strictly` is a failure of the profile `document` only.
 */
export type Basis = { contract: string } | { settled: string; strictly?: true } | { assumption: AssumptionId }

/** A rule and how it is judged. It stands alone: it asks by HTTP, knows no data, and needs no case before it. */
export interface ConformanceCase {
  id: string
  tier: Tier
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

export interface CaseResult {
  id: string
  tier: Tier
  rule: string
  basis: Basis
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

export function contract(words: string): Basis {
  return { contract: words }
}

export function settled(words: string): Basis {
  return { settled: words }
}

/** A case that `casesIn` gives its tier. */
export type UnfiledCase = Omit<ConformanceCase, 'tier'>

export function casesIn(tier: Tier, cases: readonly UnfiledCase[]): ConformanceCase[] {
  return cases.map((each) => ({ tier, ...each }))
}
