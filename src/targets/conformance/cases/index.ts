import type { ConformanceCase } from '../case.js'
import { AUTH } from './auth.js'
import { CONTEXT_FILTERS } from './contexts.js'
import { ERRORS } from './errors.js'
import { FILTERS } from './filters.js'
import { IDEMPOTENCY } from './idempotency.js'
import { LIVE } from './live.js'
import { PAGING } from './paging.js'
import { PRIMARY } from './primary.js'
import { STEPS } from './steps.js'
import { WIRE } from './wire.js'

/** All cases. */
export const CASES: readonly ConformanceCase[] = [
  ...WIRE,
  ...ERRORS,
  ...AUTH,
  ...PAGING,
  ...FILTERS,
  ...CONTEXT_FILTERS,
  ...STEPS,
  ...PRIMARY,
  ...IDEMPOTENCY,
  ...LIVE
]
