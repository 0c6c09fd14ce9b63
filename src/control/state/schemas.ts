import { Kind, type Static, Type } from '@sinclair/typebox'
import { RESET_PARTS } from '../../core/enums.js'
import { freeObject, strictObject, stringEnum } from '../../core/typebox.js'

const SEED_MODES = ['merge', 'replace'] as const

export const SeedQuery = strictObject({
  mode: stringEnum(SEED_MODES, {
    default: 'merge',
    description: 'merge: add to what is there; replace: become what the seed describes, also for later resets'
  })
})

export const SeedDocument = freeObject('A seed with one environment')

/** Published as the object that it describes, and taken as any text: the reader of seeds knows lines and columns. */
export const SeedText = Type.Unsafe<string>({ ...SeedDocument, [Kind]: 'Any' })

export const SeedLoaded = strictObject({ mode: stringEnum(SEED_MODES) })

const Parts = Type.Array(stringEnum(RESET_PARTS), { minItems: 1, description: 'What to reset; everything if left out' })

export const ResetRequest = strictObject(
  { parts: Type.Optional(Parts) },
  { $id: 'ResetRequest', description: 'What to reset; data is the records, the profile and the assumptions' }
)

export const ResetDone = strictObject(
  {
    parts: Type.Array(stringEnum(RESET_PARTS)),
    duration: Type.Number({ minimum: 0, description: 'How long it took, in milliseconds' })
  },
  { $id: 'ResetDone', description: 'What was reset' }
)
export type ResetDone = Static<typeof ResetDone>
