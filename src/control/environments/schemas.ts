import { type Static, Type } from '@sinclair/typebox'
import { PROFILES } from '../../core/assumptions.js'
import { ref, strictObject, stringEnum } from '../../core/typebox.js'

const identity = { environmentId: Type.String(), organizationId: Type.String(), name: Type.String() }

export const EnvironmentMade = strictObject(
  {
    ...identity,
    apiKey: Type.String({ description: 'The key to the environment. It is returned only here' }),
    profile: stringEnum(PROFILES)
  },
  { $id: 'EnvironmentMade', description: 'A new environment, and the key to it' }
)
export type EnvironmentMade = Static<typeof EnvironmentMade>

const EnvironmentListed = strictObject(
  { ...identity, profile: stringEnum(PROFILES), createdAt: Type.String() },
  { $id: 'EnvironmentListed', description: 'An environment, without its keys' }
)

export const EnvironmentList = strictObject({ environments: Type.Array(ref(EnvironmentListed)) })

export const EnvironmentParams = strictObject({
  id: Type.String({ description: 'The id, or the name if only one environment has it' })
})
