import { Type } from '@sinclair/typebox'
import { FILTER_JOINS, FILTER_OPERATORS, FILTER_SUBJECTS, FILTER_TYPES } from './enums.js'
import { namedObject, ref, stringEnum } from './typebox.js'

const FieldFilterPart = namedObject('FieldFilterPart', 'One comparison of a filter', {
  field: Type.String({ description: 'Name of the field to compare' }),
  value: Type.String({ description: 'Value to compare it with' }),
  operator: stringEnum(FILTER_OPERATORS, { description: 'Operator of the comparison' }),
  on: stringEnum(FILTER_SUBJECTS, { description: 'Object that has the field' })
})

/** A condition of an integration, or of a step of a message's workflow. */
export const StepFilter = namedObject('StepFilter', 'A condition made of comparisons', {
  isNegated: Type.Boolean({ description: 'Whether the condition is negated' }),
  type: stringEnum(FILTER_TYPES),
  value: stringEnum(FILTER_JOINS, { description: 'Whether all comparisons must be true or any' }),
  children: Type.Array(ref(FieldFilterPart), { description: 'The comparisons', minItems: 0 })
})
