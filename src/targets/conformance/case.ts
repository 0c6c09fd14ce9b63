import type { AssumptionId } from '../../core/assumptions.js'
import type { Position } from '../positions.js'
import type { Subject } from './subject.js'

/**
 * `wire`: the shape of every answer. `behaviour`: filters, pages, lookup, refusals. `effects`: set-primary and idempotency
 * keys. `live`: for each row of the register of assumptions, that the target takes one of its positions.
 */
export const TIERS = ['wire', 'behaviour', 'effects', 'live'] as const
export type Tier = (typeof TIERS)[number]

/** What a case rests on: words of the contract, what the reference settles where the contract is silent, or a row. */
export type Basis = { contract: string } | { settled: string } | { assumption: AssumptionId }

/** What a target must have for a case, so that it can be judged. */
export const NEEDS = {
  messages: 'a message',
  contexts: 'a message with a context',
  step: 'a workflow step',
  changes: '`--allow-changes`',
  integration: '`--allow-changes`, and an integration',
  pair: '`--allow-changes`, and two integrations of one channel',
  listing: 'a target that answers `GET /v1/integrations`'
} as const
export type Need = keyof typeof NEEDS

/** A rule and how it is judged. It stands alone: it asks by HTTP, knows no data, and needs no case before it. */
export interface ConformanceCase {
  id: string
  tier: Tier
  /** What must hold. */
  rule: string
  basis: Basis
  needs: readonly Need[]
  /**
   * Rejects with `Failure` when the rule is broken, and with `Skipped` when that can't be told here. Resolves with the
   * position that the target takes, of a case that is about a row of the register.
   */
  run(subject: Subject): Promise<Position> | Promise<void>
}

export function contract(words: string): Basis {
  return { contract: words }
}

export function settled(words: string): Basis {
  return { settled: words }
}
