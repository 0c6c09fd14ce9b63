import { type Static, type StringOptions, Type } from '@sinclair/typebox'
import { assumptionIssue, overridesOf } from '../../domain/assumptions.js'
import { isoTime } from '../../domain/clock.js'
import { DURATION_PATTERN, parseDuration } from '../../domain/duration.js'
import { createFieldErrors, invalidFields } from '../../domain/errors.js'
import { CHOSEN_API_KEY_PATTERN, ID_PATTERN } from '../../domain/ids.js'
import { findLatencyProblem } from '../../domain/latency.js'
import { mergeStubs, STUB_SETS } from '../../domain/stub.js'
import { ClockSetting, ProfileName } from '../../environments/schemas.js'
import type { Environment } from '../../environments/service.js'
import { checkRules } from '../../faults/rule-checks.js'
import { LatencyPreset, LatencySetting, MAX_RULES, NewFaultRule } from '../../faults/schemas.js'
import { type AddRoute, listOf } from '../../http/control-route.js'
import {
  dateTime,
  freeObject,
  namedObject,
  recordOf,
  ref,
  strictObject,
  stringEnum
} from '../../schema/typebox.js'
import { readStubSet } from '../../stubs/built-in.js'
import { TestDescription } from '../report/schemas.js'
import type { TestService } from '../report/service.js'
import type { ControlServices } from '../services.js'
import { MAX_SEED, toClockSetting } from '../state/routes.js'

type ListServices = Pick<ControlServices, 'environments' | 'replays'> & { tests: TestService }

/** The longest `ttl`: 30 days, in milliseconds. */
const MAX_TTL = 30 * 24 * 60 * 60 * 1000

const NAME =
  'Unique display name. Defaults to the name in the seed or, for a fork, to the name of the ' +
  'forked environment followed by `fork`. If the default name is taken, a number is added'
const ASSUMPTIONS = 'Values of the assumptions that differ from the profile, by assumption id'
const CLOCK =
  'An ISO 8601 time to stop the clock at, or a clock setting. Defaults to the clock of the ' +
  'forked environment or the seed'
const FAULTS = 'Fault rules that apply from the first request on'
const LATENCY =
  'The name of a latency preset, or a latency setting. Defaults to the latency of the server'
const API_KEY =
  'A unique API key of at least 16 characters, or at least 8 if it has a digit or a hyphen. ' +
  'Defaults to a new key'
const REMOVED = 'Whether to include removed environments whose tests are still in the report'
const TTL =
  'How long the environment may be unused before it is removed: milliseconds, or a duration such ' +
  'as `10m`. At most 30 days. By default, the environment is never removed'
const Milliseconds = Type.Integer({ minimum: 1, maximum: MAX_TTL, format: 'int64' })
const keyLimits = {
  minLength: 8,
  maxLength: 200,
  pattern: CHOSEN_API_KEY_PATTERN.source,
  writeOnly: true
}
const text = (description: string, limits: StringOptions = {}) =>
  Type.Optional(Type.String({ ...limits, description }))

export const NewEnvironment = namedObject(
  'NewEnvironment',
  'An environment to create: empty, from a seed, or a fork of another environment',
  {
    name: text(NAME, { minLength: 1, maxLength: 200 }),
    organizationId: text('Id of the owning organization; defaults to a new id', {
      pattern: ID_PATTERN.source
    }),
    from: text('Id or name of the environment to fork. All records keep their ids'),
    snapshot: text('Name of a snapshot of `from` to fork instead of its current state'),
    scenario: text(
      'Name of a built-in seed, such as `failures`. Uses its first environment, but not its ' +
        'API keys'
    ),
    seed: Type.Optional(
      freeObject(
        'A seed with one environment, or only the contents of an environment. Environment ids ' +
          'and API keys in the seed are ignored'
      )
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
    stubs: Type.Optional(
      stringEnum(STUB_SETS, {
        description:
          'A built-in set of stubs to add. Stubs of the seed or of the forked environment take ' +
          'precedence'
      })
    ),
    apiKey: text(API_KEY, keyLimits),
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
    organizationId: Type.String({ description: 'Id of the owning organization' }),
    name: Type.String({ description: 'Display name' }),
    apiKey: Type.String({
      description: 'The API key of the environment. The server stores only its hash'
    }),
    profile: ref(ProfileName),
    unauthenticatedAfter: Type.Integer({
      format: 'int64',
      description:
        'Sequence number of the last unauthenticated request before the environment was created'
    })
  }
)
export type CreatedEnvironment = Static<typeof CreatedEnvironment>

const { apiKey: _key, unauthenticatedAfter: _after, ...identity } = CreatedEnvironment.properties

const { title, file, outcome } = TestDescription.properties
export const ListedTest = namedObject('ListedTest', 'The test that an environment belongs to', {
  title,
  file,
  outcome
})
export type ListedTest = Static<typeof ListedTest>

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
        description: 'How long the environment may be unused before it is removed, in milliseconds'
      })
    ),
    expiresAt: Type.Optional(dateTime("When the environment expires, by the machine's clock")),
    reopenedTest: Type.Optional(
      Type.String({
        description: 'Title of the test that `notification-mock open` reopened in this environment'
      })
    ),
    test: Type.Optional(ref(ListedTest)),
    removed: Type.Optional(
      Type.Literal(true, { description: 'Present if the environment was removed' })
    )
  }
)
export type ListedEnvironment = Static<typeof ListedEnvironment>

const EnvironmentId = Type.String({
  description: 'Id of the environment, or its name if the name is unique'
})

/** Adds the routes that create, list and remove environments, and list their API keys. */
export function environmentRoutes(
  route: AddRoute<'server'>,
  options: ControlServices & { tests: TestService }
): void {
  const { environments, seeds, faults, latency, tests } = options
  route('POST', '/environments', 'createEnvironment', 'Create an environment', {
    description:
      'Creates an empty environment, an environment from a seed or scenario, or a fork. ' +
      'Creates nothing if any part of the request is invalid.',
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
    querystring: strictObject({
      removed: stringEnum(['exclude', 'include'], { default: 'exclude', description: REMOVED })
    }),
    response: listOf('environments', ref(ListedEnvironment), 'All environments, oldest first'),
    handler: async ({ query }) => {
      const removed = query.removed === 'include' ? tests.removedEnvironments() : []
      const all = [...environments.list(), ...removed].sort((one, other) => one.key - other.key)
      return { environments: all.map((environment) => toListed(options, environment)) }
    }
  })

  route('GET', '/environments/:id/keys', 'listApiKeys', 'List the API keys of an environment', {
    description:
      'The server stores only hashes of keys, so it can list only the keys that were set or ' +
      'used since it started.',
    params: strictObject({ id: EnvironmentId }),
    response: listOf(
      'apiKeys',
      Type.String(),
      'The keys in plain text; empty if the server has only hashes'
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

function toListed(
  { environments, replays, tests }: ListServices,
  environment: Environment
): ListedEnvironment {
  const { id, organizationId, name, profile, assumptions, createdAt, ttl, isRemoved } = environment
  const expiresAt = isRemoved ? undefined : environments.expiresAt(environment)
  const reopenedTest = replays.find(environment)?.test.title
  const test = tests.descriptionOf(environment)
  return {
    ...{ environmentId: id, organizationId, name, profile },
    assumptions: overridesOf(profile, assumptions),
    createdAt: isoTime(createdAt),
    ...(ttl !== null && { ttl }),
    ...(expiresAt !== undefined && { expiresAt: isoTime(expiresAt) }),
    ...(reopenedTest !== undefined && { reopenedTest }),
    ...(test && { test: toListedTest(test) }),
    ...(isRemoved && { removed: true })
  }
}

function toListedTest({ title, file, outcome }: TestDescription): ListedTest {
  return {
    ...(title !== undefined && { title }),
    ...(file !== undefined && { file }),
    ...(outcome !== undefined && { outcome })
  }
}

type CreateOptions = Parameters<ControlServices['seeds']['createEnvironment']>[0]

/**
 * Returns the options for creating the requested environment, with durations and clock settings
 * parsed. Throws `invalid` for invalid fields and for fields that can't be combined.
 */
function toCreateOptions({
  faults,
  latency,
  clock,
  ttl,
  stubs,
  ...rest
}: NewEnvironment): CreateOptions {
  const { from, name, snapshot, scenario, seed, assumptions = {} } = rest
  const errors = createFieldErrors()
  const reject = (field: string, issue: string | false | undefined, value?: unknown) => {
    if (issue) errors[field] = { messages: [issue], value }
  }
  reject('snapshot', snapshot !== undefined && from === undefined && SNAPSHOT_WITHOUT_FROM)
  reject(
    'scenario',
    scenario !== undefined && (seed ?? from) !== undefined && SCENARIO_WITH_OTHER_SOURCE
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
    // The name can be a test's title that was cut in the middle of an emoji. SQLite can't store
    // half an emoji.
    ...(name !== undefined && { name: name.toWellFormed() }),
    ...(stubs && { stubs: mergeStubs([], readStubSet(stubs)) }),
    ...(milliseconds !== undefined && { ttl: milliseconds }),
    ...(clock !== undefined && { clock: toClockSetting('clock', clock) })
  }
}

const SNAPSHOT_WITHOUT_FROM =
  'snapshot needs the field `from`, the environment that has the snapshot'
const SCENARIO_WITH_OTHER_SOURCE =
  "scenario can't be combined with `seed` or `from`; create the environment without `scenario`, " +
  'then load the built-in seed with POST /_mock/seed?scenario=<name>'
