import { ASSUMPTION_IDS, describeAssumption, valuesOf } from '../../../domain/assumptions.js'
import { ROWS } from '../../probes.js'
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
    const { description, values } = describeAssumption(assumption)
    const sides = valuesOf(assumption).map(
      (position) => (values as Record<string, string>)[position]
    )
    const rule = `${description} Either ${sides.join('; or ')}.`
    return { id: `live.${assumption}`, rule, basis: { assumption }, run: ROWS[assumption].probe }
  }),
  ...MALFORMED
]
