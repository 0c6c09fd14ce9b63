import { ASSUMPTION_IDS, type AssumptionId } from '../../../core/assumptions.js'
import type { ConformanceCase, Need } from '../case.js'
import { probe, rowSentence } from '../register.js'

const ROW_NEEDS: Partial<Record<AssumptionId, readonly Need[]>> = {
  envelope: ['step'],
  'unknown-step': ['step'],
  'control-values': ['step'],
  'foreign-integration': ['changes'],
  'primary-channels': ['integration'],
  credentials: ['integration'],
  'idempotency-match': ['changes']
}

/** One for each row of the register: the target takes one of its positions. */
export const LIVE: ConformanceCase[] = ASSUMPTION_IDS.map((assumption) => ({
  id: `live.${assumption}`,
  tier: 'live',
  rule: rowSentence(assumption),
  basis: { assumption },
  needs: ROW_NEEDS[assumption] ?? [],
  run: (subject) => probe(assumption, subject)
}))
