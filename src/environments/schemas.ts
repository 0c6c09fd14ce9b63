import { type Static, Type } from '@sinclair/typebox'
import { PROFILES } from '../domain/assumptions.js'
import {
  dateTime,
  namedEnum,
  namedObject,
  recordOf,
  ref,
  strictObject,
  stringEnum
} from '../schema/typebox.js'

/** The name of an environment that was created without a name. */
export const UNNAMED = 'Unnamed'

export const ProfileName = namedEnum(
  'Profile',
  "The default values of the environment's assumptions",
  PROFILES
)

export const Snapshot = namedObject('Snapshot', 'A saved state of an environment', {
  name: Type.String({ description: 'The name of the snapshot' }),
  createdAt: dateTime('When the snapshot was taken'),
  size: strictObject(
    {
      integrations: Type.Integer({ description: 'Number of integrations' }),
      subscribers: Type.Integer({ description: 'Number of subscribers' }),
      workflows: Type.Integer({ description: 'Number of workflows' }),
      messages: Type.Integer({ description: 'Number of messages' }),
      idempotencyKeys: Type.Integer({ description: 'Number of stored idempotency keys' })
    },
    { description: 'Number of records of each kind' }
  )
})
export type Snapshot = Static<typeof Snapshot>

const JSON_VALUE =
  'as JSON, cut to 200 characters plus `…`. Absent if the field is missing. Secrets are shown as ' +
  '`***`'

export const FieldChange = namedObject(
  'FieldChange',
  'A field of a record that differs between the earlier and the current state',
  {
    id: Type.String({ description: "The record's `identifier`, `subscriberId` or `_id`" }),
    field: Type.String({ description: 'Path of the field, such as `controlValues.subject`' }),
    step: Type.Optional(
      Type.String({ description: 'Name of the workflow step that contains the field' })
    ),
    before: Type.Optional(Type.String({ description: `Earlier value, ${JSON_VALUE}` })),
    after: Type.Optional(Type.String({ description: `Current value, ${JSON_VALUE}` }))
  }
)
export type FieldChange = Static<typeof FieldChange>

const counted = {
  count: Type.Integer({ description: 'Number of records' }),
  ids: Type.Array(Type.String(), {
    description: 'Identifiers of the first 20 of these records, as in a seed'
  })
}

export const RecordDiff = namedObject('RecordDiff', 'How the records of one kind changed', {
  compared: Type.Optional(
    Type.Integer({
      description:
        'Number of current records that were compared. For messages, these are the newest. ' +
        'Absent if all records were compared'
    })
  ),
  added: strictObject(counted, { description: 'Records that exist only in the current state' }),
  removed: strictObject(counted, { description: 'Records that exist only in the earlier state' }),
  changed: strictObject(
    {
      ...counted,
      fields: Type.Optional(
        Type.Array(ref(FieldChange), {
          description: 'Changed fields of the listed records. Absent for idempotency keys'
        })
      )
    },
    { description: 'Records that differ between the earlier and the current state' }
  ),
  labels: Type.Optional(
    recordOf(
      Type.String(),
      'Descriptions of the listed records, by identifier. A message is described by its channel ' +
        'and its subject or text, any other record by its name. Absent if no record has a ' +
        'description'
    )
  )
})
export type RecordDiff = Static<typeof RecordDiff>

export const EnvironmentDiff = namedObject(
  'EnvironmentDiff',
  'How the current state differs from an earlier state: the baseline or a snapshot',
  {
    integrations: ref(RecordDiff, 'Integrations, identified by `identifier`'),
    subscribers: ref(RecordDiff, 'Subscribers, identified by `subscriberId`'),
    workflows: ref(RecordDiff, 'Workflows with their steps, identified by `identifier`'),
    messages: ref(RecordDiff, 'Messages, identified by `_id`'),
    idempotencyKeys: ref(RecordDiff, 'Stored idempotency keys'),
    settings: Type.Array(Type.String(), {
      description:
        'The settings that differ: `profile`, `clock`, `randomSeed`, `assumptions.<id>` or ' +
        '`stubs.<METHOD> <path>`'
    })
  }
)
export type EnvironmentDiff = Static<typeof EnvironmentDiff>

/**
 * The maximum offset of a clock in either direction, and the maximum that one request can advance
 * it: 5,000 years, in milliseconds.
 */
export const MAX_OFFSET = 5000 * 365 * 24 * 60 * 60 * 1000

const clockMode = <const Mode extends string>(name: Mode) =>
  stringEnum([name], { description: `Always \`${name}\`` })

const wallMode = strictObject({ mode: clockMode('wall') }, { description: "The machine's time" })
const fixedMode = strictObject(
  { mode: clockMode('fixed'), at: Type.String({ description: 'The time, in ISO 8601' }) },
  { description: 'A clock that always returns the same time' }
)
const offsetMode = strictObject(
  {
    mode: clockMode('offset'),
    by: Type.Integer({
      format: 'int64',
      minimum: -MAX_OFFSET,
      maximum: MAX_OFFSET,
      description: "Milliseconds to add to the machine's time. A negative value sets the clock back"
    })
  },
  { description: "The machine's time, shifted by an offset" }
)

export const ClockSetting = Type.Union([wallMode, fixedMode, offsetMode], {
  $id: 'ClockSetting',
  description: 'The clock of the environment'
})
export type ClockSetting = Static<typeof ClockSetting>

/** Returns a text, which may be JSON, with all secrets replaced. */
export type Redact = (text: string) => string
