import { type Static, Type } from '@sinclair/typebox'
import { DURATION_PATTERN } from '../../core/duration.js'
import { CHOSEN_API_KEY_PATTERN, ID_PATTERN } from '../../core/ids.js'
import { dateTime, freeObject, namedObject, recordOf, ref } from '../../core/typebox.js'
import { ClockSetting, ProfileName } from '../../environments/schemas.js'
import { MAX_RULES, NewFaultRule } from '../faults/schemas.js'
import { LatencyPreset, LatencySetting } from '../latency/schemas.js'

/** In milliseconds: 30 days. */
export const MAX_TTL = 30 * 24 * 60 * 60 * 1000

/** More than there are, so that each that is misspelt is told. */
const MAX_ASSUMPTIONS = 100

export const NewEnvironment = namedObject('NewEnvironment', 'An environment to create: empty, seeded or forked', {
  name: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description:
        'Display name, that of no other environment; if left out, that of the seed or the origin, with a number if it is taken'
    })
  ),
  organizationId: Type.Optional(
    Type.String({ pattern: ID_PATTERN.source, description: 'A new organization if left out' })
  ),
  from: Type.Optional(Type.String({ description: 'Id or name of the environment to fork, with all its ids' })),
  snapshot: Type.Optional(Type.String({ description: 'Name of a snapshot of that environment to fork instead' })),
  scenario: Type.Optional(
    Type.String({ description: 'Name of a packaged seed, such as failures: its first environment, without its keys' })
  ),
  seed: Type.Optional(
    freeObject('A seed with one environment, or its content alone; ids and keys of the environment are ignored')
  ),
  profile: Type.Optional(ref(ProfileName, 'If left out, that of the forked environment or of the seed')),
  assumptions: Type.Optional(
    recordOf(Type.String(), 'Assumptions that differ from the profile, by their ids', MAX_ASSUMPTIONS)
  ),
  clock: Type.Optional(
    Type.Union([Type.String(), ref(ClockSetting)], {
      description:
        'A time in ISO 8601 to fix the clock at, or a setting; if left out, that of the origin or of the seed'
    })
  ),
  faults: Type.Optional(
    Type.Array(ref(NewFaultRule), {
      maxItems: MAX_RULES,
      description: 'Fault rules that it has from its first request on'
    })
  ),
  latency: Type.Optional(
    Type.Union([ref(LatencyPreset), ref(LatencySetting)], {
      description:
        'How much later its answers come: the name of a preset, or a setting; if left out, that of the server'
    })
  ),
  apiKey: Type.Optional(
    Type.String({
      maxLength: 200,
      minLength: 8,
      pattern: CHOSEN_API_KEY_PATTERN.source,
      writeOnly: true,
      description:
        'The key to it, that of no other environment: at least 16 characters, or at least 8 with a digit or hyphen in it; a new one if left out'
    })
  ),
  ttl: Type.Optional(
    Type.Union(
      [Type.Integer({ minimum: 1, maximum: MAX_TTL, format: 'int64' }), Type.String({ pattern: DURATION_PATTERN })],
      {
        description:
          'How long after its last use it is removed: milliseconds, or a text such as 30s, 10m, 1h; at most 30 days. It stays if left out'
      }
    )
  )
})
export type NewEnvironment = Static<typeof NewEnvironment>

const identity = {
  environmentId: Type.String({ description: 'Identifier of the environment' }),
  organizationId: Type.String({ description: 'Owning organization' }),
  name: Type.String({ description: 'Display name' })
}

export const CreatedEnvironment = namedObject('CreatedEnvironment', 'A new environment, and the key to it', {
  ...identity,
  apiKey: Type.String({ description: 'The key to the environment. It is stored as a hash alone' }),
  profile: ref(ProfileName)
})
export type CreatedEnvironment = Static<typeof CreatedEnvironment>

export const ListedEnvironment = namedObject('ListedEnvironment', 'An environment, without its keys', {
  ...identity,
  profile: ref(ProfileName),
  assumptions: recordOf(Type.String(), 'Assumptions that differ from the profile, by their ids'),
  createdAt: dateTime('When it was created'),
  ttl: Type.Optional(
    Type.Integer({ format: 'int64', description: 'Milliseconds after its last use that it is removed' })
  ),
  expiresAt: Type.Optional(dateTime("When it is removed unless it is used before, by the machine's clock"))
})
export type ListedEnvironment = Static<typeof ListedEnvironment>
