import { type Static, Type } from '@sinclair/typebox'
import { nullable, ref, strictObject } from '../../core/typebox.js'
import { ClockSetting, MAX_OFFSET } from '../../environments/schemas.js'

export const ClockState = strictObject(
  { setting: ref(ClockSetting), now: Type.String({ description: 'The time of the environment' }) },
  { $id: 'ClockState', description: 'The setting of the clock, and its time' }
)
export type ClockState = Static<typeof ClockState>

export const AdvanceRequest = strictObject(
  { by: Type.Integer({ minimum: 1, maximum: MAX_OFFSET, description: 'Milliseconds' }) },
  { $id: 'AdvanceRequest', description: 'How far to advance the clock' }
)

export const RandomSetting = strictObject(
  {
    randomSeed: nullable(
      Type.Integer({
        minimum: 0,
        maximum: 4294967295,
        description: 'Seed of the random values, which the same seed repeats; null: not repeatable'
      })
    )
  },
  { $id: 'RandomSetting', description: 'Where random values come from' }
)
