import { ASSUMPTION_IDS, type AssumptionId, assumptionRow, positionsOf } from '../../../core/assumptions.js'
import { ROWS } from '../../rows.js'
import type { ConformanceCase } from '../case.js'
import { ANSWERS } from './answers.js'
import { IDEMPOTENCY, PRIMARY } from './effects.js'
import { FILTERS } from './filters.js'
import { AUTH, MALFORMED, STEPS } from './lookup.js'
import { PAGING } from './paging.js'

/**
 * All cases, in their order; for each row of the register, one that the target takes one of its positions. Malformed
 * requests come last: a target may die of one, which must not take the others with it.
 */
export const CASES: readonly ConformanceCase[] = [
  ...ANSWERS,
  ...AUTH,
  ...PAGING,
  ...FILTERS,
  ...STEPS,
  ...PRIMARY,
  ...IDEMPOTENCY,
  ...ASSUMPTION_IDS.map((assumption): ConformanceCase => {
    const run: ConformanceCase['run'] = (subject) => ROWS[assumption].probe(subject)
    return { id: `live.${assumption}`, rule: rowSentence(assumption), basis: { assumption }, run }
  }),
  ...MALFORMED
]

function rowSentence(id: AssumptionId): string {
  const { sentence, values } = assumptionRow(id)
  const sides = positionsOf(id).map((position) => (values as Record<string, string>)[position])
  return `${sentence} Either ${sides.join('; or ')}.`
}
