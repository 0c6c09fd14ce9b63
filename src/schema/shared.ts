import { type Static, Type } from '@sinclair/typebox'
import { CHANNELS } from '../domain/enums.js'
import { namedEnum, namedObject, ref, stringEnum } from './typebox.js'

export const Channel = namedEnum('Channel', 'A channel that delivers notifications', CHANNELS)

const FILTER_TYPES = [
  'BOOLEAN',
  'TEXT',
  'DATE',
  'NUMBER',
  'STATEMENT',
  'LIST',
  'MULTI_LIST',
  'GROUP'
] as const
const FilterType = namedEnum('FilterType', 'Type of a condition', FILTER_TYPES)

const ORDER_OPERATORS = [
  'LARGER',
  'SMALLER',
  'LARGER_EQUAL',
  'SMALLER_EQUAL',
  'EQUAL',
  'NOT_EQUAL'
] as const
const SET_OPERATORS = [
  'ALL_IN',
  'ANY_IN',
  'NOT_IN',
  'BETWEEN',
  'NOT_BETWEEN',
  'LIKE',
  'NOT_LIKE',
  'IN'
] as const
const OPERATORS = [...ORDER_OPERATORS, ...SET_OPERATORS] as const
const FilterOperator = namedEnum('FilterOperator', 'Operator of a comparison', OPERATORS)

const FieldFilterPart = namedObject('FieldFilterPartDto', 'A comparison in a condition', {
  field: Type.String({ description: 'Field to compare' }),
  value: Type.String({ description: 'Value to compare the field with' }),
  operator: ref(FilterOperator),
  on: stringEnum(['subscriber', 'payload'], { description: 'Object that contains the field' })
})

/** A condition of an integration, or of a step in a message's workflow. */
export const StepFilter = namedObject('StepFilterDto', 'A condition that consists of comparisons', {
  isNegated: Type.Boolean({ description: 'Whether the condition is negated' }),
  type: ref(FilterType),
  value: stringEnum(['AND', 'OR'], {
    description: 'Whether all comparisons must be true (`AND`) or any of them (`OR`)'
  }),
  children: Type.Array(ref(FieldFilterPart), {
    description: 'Comparisons of the condition',
    minItems: 0
  })
})

export const ChangedRecord = namedObject('ChangedRecord', 'A change that a request made', {
  kind: Type.String({
    description: 'Kind of record: `integration`, `message`, `fault`, `snapshot`, `clock`, …'
  }),
  id: Type.Optional(
    Type.String({
      description: 'Id of the record, or the name that identifies it in the request path'
    })
  ),
  name: Type.Optional(
    Type.String({ description: 'Display name of the record, or subject of a message' })
  ),
  channel: Type.Optional(Type.String({ description: 'Channel of the record' })),
  action: Type.String({
    description: 'What happened to the record: `added`, `changed`, `removed`, `became primary`, …'
  }),
  fields: Type.Optional(
    Type.Array(Type.String(), { description: 'Names of the fields that the request set' })
  )
})
export type ChangedRecord = Static<typeof ChangedRecord>
