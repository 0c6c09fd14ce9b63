import { type Static, type StringOptions, Type } from '@sinclair/typebox'
import { assumptionIssue, overridesOf } from '../../domain/assumptions.js'
import { isoTime } from '../../domain/clock.js'
import { DURATION_PATTERN, parseDuration } from '../../domain/duration.js'
import { createFieldErrors, invalidFields } from '../../domain/errors.js'
import { CHOSEN_API_KEY_PATTERN, ID_PATTERN } from '../../domain/ids.js'
import { findLatencyProblem } from '../../domain/latency.js'
import { ClockSetting, ProfileName } from '../../environments/schemas.js'
import { checkRules } from '../../faults/rule-checks.js'
import { LatencyPreset, LatencySetting, MAX_RULES, NewFaultRule } from '../../faults/schemas.js'
import { type AddRoute, listOf } from '../../http/control-route.js'
import {
  dateTime,
  freeObject,
  namedObject,
  recordOf,
  ref,
  strictObject
} from '../../schema/typebox.js'
import type { TestService } from '../report/service.js'
import type { ControlServices } from '../services.js'
import { MAX_SEED, toClockSetting } from '../state/routes.js'

/** 30 days, in milliseconds. */
const MAX_TTL = 30 * 24 * 60 * 60 * 1000

const NAME =
  'Display name, unique; defaults to the name of the seed or the origin, with a number if it ' +
  'is taken'
const ASSUMPTIONS = 'Assumptions that differ from the profile, by id'
const CLOCK =
  'An ISO 8601 time that fixes the clock, or a setting; defaults to the clock of the origin or ' +
  'the seed'
const FAULTS = 'Fault rules that apply from the first request on'
const LATENCY =
  'Delay of the responses: the name of a preset, or a setting; defaults to the latency of the ' +
  'server'
const API_KEY =
  'The API key, unique: 16 characters, or 8 with a digit or hyphen; defaults to a new key'
const TTL =
  'Time without use after which the environment is removed, at most 30d: milliseconds, or a ' +
  'text such as 10m; defaults to never'
const Milliseconds = Type.Integer({ minimum: 1, maximum: MAX_TTL, format: 'int64' })
const ownKey = {
  minLength: 8,
  maxLength: 200,
  pattern: CHOSEN_API_KEY_PATTERN.source,
  writeOnly: true
}
const text = (description: string, limits: StringOptions = {}) =>
  Type.Optional(Type.String({ ...limits, description }))

export const NewEnvironment = namedObject(
  'NewEnvironment',
  'An environment to create: empty, seeded or forked',
  {
    name: text(NAME, { minLength: 1, maxLength: 200 }),
    organizationId: text('Owning organization; defaults to a new one', {
      pattern: ID_PATTERN.source
    }),
    from: text('Id or name of the environment to fork, with all its ids'),
    snapshot: text('Name of a snapshot of that environment, to fork the snapshot instead'),
    scenario: text(
      'Name of a built-in seed, such as failures: its first environment, without its keys'
    ),
    seed: Type.Optional(
      freeObject('A seed with one environment, or only its content; ids and keys are ignored')
    ),
    profile: Type.Optional(
      ref(ProfileName, 'Defaults to the profile of the forked environment or the seed')
    ),
    assumptions: Type.Optional(recordOf(Type.String(), ASSUMPTIONS, 100)),
    clock: Type.Optional(Type.Union([Type.String(), ref(ClockSetting)], { description: CLOCK })),
    faults: Type.Optional(
      Type.Array(ref(NewFaultRule), { maxItems: MAX_RULES, description: FAULTS })
    ),
    latency: Type.Optional(
      Type.Union([ref(LatencyPreset), ref(LatencySetting)], { description: LATENCY })
    ),
    apiKey: text(API_KEY, ownKey),
    ttl: Type.Optional(
      Type.Union([Milliseconds, Type.String({ pattern: DURATION_PATTERN })], { description: TTL })
    )
  }
)
export type NewEnvironment = Static<typeof NewEnvironment>

export const CreatedEnvironment = namedObject(
  'CreatedEnvironment',
  'A new environment and its API key',
  {
    environmentId: Type.String({ description: 'Identifier of the environment' }),
    organizationId: Type.String({ description: 'Owning organization' }),
    name: Type.String({ description: 'Display name' }),
    apiKey: Type.String({
      description: 'The API key of the environment. The server stores only its hash'
    }),
    profile: ref(ProfileName),
    unauthenticatedAfter: Type.Integer({
      format: 'int64',
      description: 'Sequence of the last unauthenticated request'
    })
  }
)
export type CreatedEnvironment = Static<typeof CreatedEnvironment>

const { apiKey: _key, unauthenticatedAfter: _after, ...identity } = CreatedEnvironment.properties

export const ListedEnvironment = namedObject(
  'ListedEnvironment',
  'An environment, without its keys',
  {
    ...identity,
    assumptions: recordOf(Type.String(), ASSUMPTIONS),
    createdAt: dateTime('Creation time'),
    ttl: Type.Optional(
      Type.Integer({
        format: 'int64',
        description: 'Milliseconds from the last use to the removal'
      })
    ),
    expiresAt: Type.Optional(
      dateTime("Removal time if the environment stays unused, by the machine's clock")
    )
  }
)
export type ListedEnvironment = Static<typeof ListedEnvironment>

const EnvironmentId = Type.String({
  description: 'The id, or the name if it is unique'
})

/** Creates, lists and removes environments. */
export function environmentRoutes(
  route: AddRoute<'server'>,
  options: ControlServices & { tests: TestService }
): void {
  const { environments, seeds, faults, latency, tests } = options
  route('POST', '/environments', 'createEnvironment', 'Create an environment', {
    description:
      'Creates an empty environment, one from a seed or scenario, or a fork. Creates nothing ' +
      'if any part of the request is invalid.',
    body: ref(NewEnvironment),
    bodyLimit: MAX_SEED,
    response: ref(CreatedEnvironment),
    status: 201,
    errors: [404, 409],
    handler: async ({ body }) => {
      const { faults: rules = [] } = body
      const requested = toCreateOptions(body)
      await checkRules(rules.map((rule, index) => [`faults[${index}].`, rule]))
      const { environment, apiKey } = await seeds.createEnvironment(requested)
      for (const rule of rules) faults.add(environment, rule)
      if (body.latency !== undefined) latency.setInitial(environment, body.latency)
      const { unauthenticatedAfter } = tests.begin(environment)
      const { id, organizationId, name, profile } = environment
      return { environmentId: id, organizationId, name, apiKey, profile, unauthenticatedAfter }
    }
  })

  route('GET', '/environments', 'listEnvironments', 'List environments, oldest first', {
    response: listOf('environments', ref(ListedEnvironment), 'All environments, oldest first'),
    handler: async () => ({
      environments: environments.list().map((environment): ListedEnvironment => {
        const { id, organizationId, name, profile, assumptions, createdAt, ttl } = environment
        const expiresAt = environments.expiresAt(environment)
        return {
          ...{ environmentId: id, organizationId, name, profile },
          assumptions: overridesOf(profile, assumptions),
          createdAt: isoTime(createdAt),
          ...(ttl !== null && { ttl }),
          ...(expiresAt !== undefined && { expiresAt: isoTime(expiresAt) })
        }
      })
    })
  })

  route('GET', '/environments/:id/keys', 'listApiKeys', 'List the API keys of an environment', {
    description:
      'Lists the keys that were set or used since the server started: keys are stored as hashes.',
    params: strictObject({ id: EnvironmentId }),
    response: listOf(
      'apiKeys',
      Type.String(),
      'The keys that the server knows; empty if it has only their hashes'
    ),
    handler: async ({ params }, reply) => {
      reply.header('cache-control', 'no-store')
      return { apiKeys: environments.apiKeysOf(environments.find(params.id)) }
    }
  })

  route(
    'DELETE',
    '/environments/:id',
    'removeEnvironment',
    'Remove an environment and all its data',
    {
      params: strictObject({ id: EnvironmentId }),
      handler: async ({ params }) => environments.remove(environments.find(params.id))
    }
  )
}

type CreateOptions = Parameters<ControlServices['seeds']['createEnvironment']>[0]

/**
 * Returns the requested environment with parsed durations and settings. Throws `invalid` for
 * contradictory or invalid fields.
 */
function toCreateOptions({ faults, latency, clock, ttl, ...rest }: NewEnvironment): CreateOptions {
  const { from, snapshot, scenario, seed, assumptions = {} } = rest
  const errors = createFieldErrors()
  const reject = (field: string, issue: string | false | undefined, value?: unknown) => {
    if (issue) errors[field] = { messages: [issue], value }
  }
  reject('snapshot', snapshot !== undefined && from === undefined && SNAPSHOT_OF_NONE)
  reject(
    'scenario',
    scenario !== undefined && (seed ?? from) !== undefined && ALL_OF_AN_ENVIRONMENT
  )
  for (const [id, value] of Object.entries(assumptions))
    reject(`assumptions.${id}`, assumptionIssue(id, value), value)
  reject('latency', latency !== undefined && findLatencyProblem(latency))
  const milliseconds = typeof ttl === 'string' ? parseDuration(ttl) : ttl
  const isPossible = (milliseconds ?? 1) >= 1 && (milliseconds ?? 1) <= MAX_TTL
  reject('ttl', !isPossible && 'ttl must be from 1ms to 30d', ttl)
  if (Object.keys(errors).length > 0) throw invalidFields(errors)
  return {
    ...rest,
    ...(milliseconds !== undefined && { ttl: milliseconds }),
    ...(clock !== undefined && { clock: toClockSetting('clock', clock) })
  }
}

const SNAPSHOT_OF_NONE = 'snapshot needs from: the environment that the snapshot was taken of'
const ALL_OF_AN_ENVIRONMENT =
  "scenario can't be combined with seed or from: load more with POST /_mock/seed"
