import { type Static, Type } from '@sinclair/typebox'
import { PROFILES } from '../domain/assumptions.js'
import {
  dateTime,
  namedEnum,
  namedObject,
  ref,
  strictObject,
  stringEnum
} from '../schema/typebox.js'

export const ProfileName = namedEnum(
  'Profile',
  'Which positions the environment takes on open questions',
  PROFILES
)

export const Snapshot = namedObject('Snapshot', 'A named state of the environment', {
  name: Type.String({ description: 'Name that it was taken under' }),
  createdAt: dateTime('When it was taken'),
  size: strictObject(
    {
      integrations: Type.Integer({ description: 'Number of integrations' }),
      subscribers: Type.Integer({ description: 'Number of subscribers' }),
      workflows: Type.Integer({ description: 'Number of workflows' }),
      messages: Type.Integer({ description: 'Number of messages' }),
      idempotencyKeys: Type.Integer({ description: 'Number of stored idempotency keys' })
    },
    { description: 'How many of each it holds' }
  )
})
export type Snapshot = Static<typeof Snapshot>

const VALUE = 'as JSON, the first 200 characters; absent where there is none, *** for a secret'
export const FieldChange = namedObject(
  'FieldChange',
  'A field of a record that differs from the snapshot',
  {
    id: Type.String({ description: 'The record, by what a seed calls it' }),
    field: Type.String({ description: 'Name of the field' }),
    before: Type.Optional(Type.String({ description: `Its value in the snapshot, ${VALUE}` })),
    after: Type.Optional(Type.String({ description: `Its present value, ${VALUE}` }))
  }
)
export type FieldChange = Static<typeof FieldChange>

const listed = {
  count: Type.Integer({ description: 'How many' }),
  ids: Type.Array(Type.String(), {
    description: 'The first of them, 20 at most, by what a seed calls them'
  })
}
const differingRecords = (description: string) => strictObject(listed, { description })
const FIELDS = 'The fields that differ, of those that are named; absent of idempotency keys'

export const RecordDiff = namedObject('RecordDiff', 'What the present state has over a snapshot', {
  added: differingRecords('Those that the snapshot has not'),
  removed: differingRecords('Those that only the snapshot has'),
  changed: strictObject(
    {
      ...listed,
      fields: Type.Optional(Type.Array(ref(FieldChange), { description: FIELDS }))
    },
    { description: 'Those that are another in the snapshot' }
  )
})
export type RecordDiff = Static<typeof RecordDiff>

export const EnvironmentDiff = namedObject(
  'EnvironmentDiff',
  'How the present state differs from a snapshot',
  {
    integrations: ref(RecordDiff, 'Integrations, by their identifiers'),
    subscribers: ref(RecordDiff, 'Subscribers, by their `subscriberId`'),
    workflows: ref(RecordDiff, 'Workflows with their steps, by their identifiers'),
    messages: ref(RecordDiff, 'Messages, by their ids'),
    idempotencyKeys: ref(RecordDiff, 'Stored idempotency keys'),
    settings: Type.Array(Type.String(), {
      description: 'Those of `profile`, `clock`, `randomSeed` and `assumptions.<id>` that differ'
    })
  }
)
export type EnvironmentDiff = Static<typeof EnvironmentDiff>

/** How far a clock may be moved, in milliseconds: 5,000 years, so that every year keeps four digits. */
export const MAX_OFFSET = 5000 * 365 * 24 * 60 * 60 * 1000

const mode = <const Mode extends string>(name: Mode) =>
  stringEnum([name], { description: `Always \`${name}\`` })

const AT = Type.String({ description: 'The time, ISO 8601' })
const OFFSET = { format: 'int64', minimum: -MAX_OFFSET, maximum: MAX_OFFSET }
const BY = Type.Integer({ ...OFFSET, description: 'Milliseconds, negative for the past' })

export const ClockSetting = Type.Union(
  [
    strictObject({ mode: mode('wall') }, { description: "The machine's own time" }),
    strictObject(
      { mode: mode('fixed'), at: AT },
      { description: 'The clock is stopped at a time' }
    ),
    strictObject(
      { mode: mode('offset'), by: BY },
      { description: "The machine's own time, shifted" }
    )
  ],
  { $id: 'ClockSetting', description: 'Which time the environment has' }
)
export type ClockSetting = Static<typeof ClockSetting>
