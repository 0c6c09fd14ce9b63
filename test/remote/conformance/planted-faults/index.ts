import { EFFECT_FAULTS } from './effects.js'
import { LIST_FAULTS } from './lists.js'
import type { PlantedFault } from './planted-fault.js'
import { SHAPE_FAULTS } from './shapes.js'

/** The faults that the conformance cases must detect. Each fault breaks one rule. */
export const PLANTED_FAULTS: readonly PlantedFault[] = [
  ...SHAPE_FAULTS,
  ...LIST_FAULTS,
  ...EFFECT_FAULTS
]
