import { EFFECT_MUTANTS } from './effects.js'
import { LIST_MUTANTS } from './lists.js'
import type { Mutant } from './mutant.js'
import { SHAPE_MUTANTS } from './shapes.js'

/** The targets that the suite is judged by: each breaks one rule. */
export const MUTANTS: readonly Mutant[] = [...SHAPE_MUTANTS, ...LIST_MUTANTS, ...EFFECT_MUTANTS]
