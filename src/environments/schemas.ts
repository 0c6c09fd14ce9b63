import { type Static, Type } from '@sinclair/typebox'
import { PROFILES } from '../core/assumptions.js'
import type { ClockSetting as Setting } from '../core/clock.js'
import { dateTime, namedEnum, namedObject, strictObject, stringEnum } from '../core/typebox.js'

export const ProfileName = namedEnum('Profile', 'Which positions the environment takes on open questions', PROFILES)

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

/** How far a clock may be moved, in milliseconds: 5,000 years, so that every year keeps four digits. */
export const MAX_OFFSET = 5000 * 365 * 24 * 60 * 60 * 1000

export const ClockSetting = Type.Unsafe<Setting>(
  Type.Union(
    [
      strictObject(
        { mode: stringEnum(['wall'], { description: 'Always `wall`' }) },
        { description: "The machine's own time" }
      ),
      strictObject(
        {
          mode: stringEnum(['fixed'], { description: 'Always `fixed`' }),
          at: Type.String({ description: 'The time, ISO 8601' })
        },
        { description: 'The clock is stopped at a time' }
      ),
      strictObject(
        {
          mode: stringEnum(['offset'], { description: 'Always `offset`' }),
          by: Type.Integer({
            format: 'int64',
            minimum: -MAX_OFFSET,
            maximum: MAX_OFFSET,
            description: 'Milliseconds, negative for the past'
          })
        },
        { description: "The machine's own time, shifted" }
      )
    ],
    { $id: 'ClockSetting', description: 'Which time the environment has' }
  )
)
export type ClockSetting = Setting
