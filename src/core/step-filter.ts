import { Type } from '@sinclair/typebox'
import { namedObject, ref, stringEnum } from './typebox.js'

const FieldFilterPart = namedObject('FieldFilterPart', 'One comparison of a filter', {
  field: Type.String({ description: 'Name of the field to compare' }),
  value: Type.String({ description: 'Value to compare it with' }),
  operator: stringEnum(
    [
      'LARGER',
      'SMALLER',
      'LARGER_EQUAL',
      'SMALLER_EQUAL',
      'EQUAL',
      'NOT_EQUAL',
      'ALL_IN',
      'ANY_IN',
      'NOT_IN',
      'BETWEEN',
      'NOT_BETWEEN',
      'LIKE',
      'NOT_LIKE',
      'IN'
    ],
    { description: 'Operator of the comparison' }
  ),
  on: stringEnum(['subscriber', 'payload'], { description: 'Object that has the field' })
})

/** A condition of an integration, or of a step of a message's workflow. */
export const StepFilter = namedObject('StepFilter', 'A condition made of comparisons', {
  isNegated: Type.Boolean({ description: 'Whether the condition is negated' }),
  type: stringEnum(['BOOLEAN', 'TEXT', 'DATE', 'NUMBER', 'STATEMENT', 'LIST', 'MULTI_LIST', 'GROUP']),
  value: stringEnum(['AND', 'OR'], { description: 'Whether all comparisons must be true or any' }),
  children: Type.Array(ref(FieldFilterPart), { description: 'The comparisons', minItems: 0 })
})
