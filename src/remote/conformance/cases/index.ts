import { ASSUMPTION_IDS, describeAssumption, valuesOf } from '../../../domain/assumptions.js'
import { assumptionProbes } from '../../probes/index.js'
import type { ConformanceCase } from '../case.js'
import { AUTH_CASES, MALFORMED_CASES, STEP_CASES } from './auth-and-steps.js'
import { FILTER_CASES } from './filters.js'
import { IDEMPOTENCY_CASES } from './idempotency.js'
import { PAGING_CASES } from './paging.js'
import { PRIMARY_CASES } from './primary.js'
import { RESPONSE_CASES } from './responses.js'

/**
 * One case for each assumption. It passes if the target's behavior matches one of the assumption's
 * values.
 */
const ASSUMPTION_CASES = ASSUMPTION_IDS.map((assumption): ConformanceCase => {
  const { description, values } = describeAssumption(assumption)
  const meanings = valuesOf(assumption).map((value) => (values as Record<string, string>)[value])
  return {
    id: `live.${assumption}`,
    rule: `${description} Either ${meanings.join('; or ')}.`,
    basis: { assumption },
    run: assumptionProbes[assumption].detect
  }
})

/**
 * All cases, in the order they run. Malformed requests come last because they may crash
 * the target.
 */
export const CASES: readonly ConformanceCase[] = [
  ...RESPONSE_CASES,
  ...AUTH_CASES,
  ...PAGING_CASES,
  ...FILTER_CASES,
  ...STEP_CASES,
  ...PRIMARY_CASES,
  ...IDEMPOTENCY_CASES,
  ...ASSUMPTION_CASES,
  ...MALFORMED_CASES
]
