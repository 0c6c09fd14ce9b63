import { type Static, Type } from '@sinclair/typebox'
import { PROFILES } from '../core/assumptions.js'
import { RESET_PARTS } from '../core/enums.js'
import { freeObject, recordOf, ref, strictObject, stringEnum } from '../core/typebox.js'

const Name = Type.String({ minLength: 1, maxLength: 200 })

export const SnapshotName = Type.String({ minLength: 1, maxLength: 200, description: 'Name of the snapshot' })

export const NewEnvironment = strictObject(
  {
    name: Type.Optional(Name),
    organizationId: Type.Optional(Type.String({ pattern: '^[0-9a-f]{24}$', description: 'A new one, if left out' })),
    from: Type.Optional(Type.String({ description: 'Id or name of the environment to fork, with all its ids' })),
    snapshot: Type.Optional(Type.String({ description: 'With from: as it was when this snapshot was taken' })),
    seed: Type.Optional(
      freeObject('A seed with one environment, in the format of the seed files; its ids and keys are left aside')
    ),
    profile: Type.Optional(stringEnum(PROFILES, { description: "That of the fork's origin or the seed, if left out" })),
    assumptions: Type.Optional(recordOf(Type.String(), 'Overrides of single rows of the assumption register'))
  },
  { $id: 'NewEnvironment', description: 'Empty, from a seed, or as a fork of another' }
)
export type NewEnvironment = Static<typeof NewEnvironment>

export const EnvironmentMade = strictObject(
  {
    environmentId: Type.String(),
    organizationId: Type.String(),
    name: Type.String(),
    apiKey: Type.String({ description: 'Told here and never again' }),
    profile: stringEnum(PROFILES)
  },
  { $id: 'EnvironmentMade', description: 'A new environment, and the key to it' }
)
export type EnvironmentMade = Static<typeof EnvironmentMade>

export const EnvironmentListed = strictObject(
  {
    environmentId: Type.String(),
    organizationId: Type.String(),
    name: Type.String(),
    profile: stringEnum(PROFILES),
    createdAt: Type.String()
  },
  { $id: 'EnvironmentListed', description: 'An environment; its keys are not told' }
)
export type EnvironmentListed = Static<typeof EnvironmentListed>

export const ResetRequest = strictObject(
  {
    parts: Type.Optional(Type.Array(stringEnum(RESET_PARTS), { minItems: 1, description: 'What to set back' }))
  },
  { $id: 'ResetRequest', description: 'What to set back; data is the rows, the profile and the assumptions' }
)
export type ResetRequest = Static<typeof ResetRequest>

export const ResetDone = strictObject(
  {
    parts: Type.Array(stringEnum(RESET_PARTS)),
    duration: Type.Number({ minimum: 0, description: 'Milliseconds that it took' })
  },
  { $id: 'ResetDone', description: 'What was set back' }
)
export type ResetDone = Static<typeof ResetDone>

export const Snapshot = strictObject(
  {
    name: Type.String(),
    createdAt: Type.String(),
    size: strictObject(
      {
        integrations: Type.Integer(),
        subscribers: Type.Integer(),
        workflows: Type.Integer(),
        messages: Type.Integer(),
        idempotencyKeys: Type.Integer()
      },
      { description: 'How many of each it holds' }
    )
  },
  { $id: 'Snapshot', description: 'A named state of the environment' }
)
export type Snapshot = Static<typeof Snapshot>

/** 5,000 years, which leaves every time a year of four digits. */
const FARTHEST = 5000 * 365 * 24 * 60 * 60 * 1000

export const ClockSetting = Type.Unsafe<
  { mode: 'wall' } | { mode: 'fixed'; at: string } | { mode: 'offset'; by: number }
>(
  Type.Union(
    [
      strictObject({ mode: stringEnum(['wall']) }, { description: "The machine's own time" }),
      strictObject(
        { mode: stringEnum(['fixed']), at: Type.String({ description: 'ISO 8601' }) },
        { description: 'Time stands still' }
      ),
      strictObject(
        {
          mode: stringEnum(['offset']),
          by: Type.Integer({
            minimum: -FARTHEST,
            maximum: FARTHEST,
            description: 'Milliseconds; negative for the past'
          })
        },
        { description: "So far from the machine's own time" }
      )
    ],
    { $id: 'ClockSetting', description: 'How the time of the environment goes' }
  )
)
export type ClockSetting = Static<typeof ClockSetting>

export const ClockState = strictObject(
  { setting: ref(ClockSetting), now: Type.String() },
  { $id: 'ClockState', description: 'How time goes, and what it is' }
)

export const AdvanceRequest = strictObject(
  { by: Type.Integer({ minimum: 1, maximum: FARTHEST, description: 'Milliseconds' }) },
  { $id: 'AdvanceRequest', description: 'How far to move the clock on' }
)

export const RandomSetting = strictObject(
  {
    randomSeed: Type.Unsafe<number | null>({
      type: ['integer', 'null'],
      minimum: 0,
      maximum: 4294967295,
      description: 'What chance is made from, so that it repeats itself; null: unforeseeable'
    })
  },
  { $id: 'RandomSetting', description: 'Whether chance repeats itself' }
)
export type RandomSetting = Static<typeof RandomSetting>

export const environmentSchemas = [
  NewEnvironment,
  EnvironmentMade,
  EnvironmentListed,
  ResetRequest,
  ResetDone,
  Snapshot,
  ClockSetting,
  ClockState,
  AdvanceRequest,
  RandomSetting
]
