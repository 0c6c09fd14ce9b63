import { Readable } from 'node:stream'
import { Kind, type Static, Type } from '@sinclair/typebox'
import { errorCodes } from 'fastify'
import { isoTime } from '../../domain/clock.js'
import { RESET_PARTS } from '../../domain/enums.js'
import { invalidFields } from '../../domain/errors.js'
import { ClockSetting, EnvironmentDiff, MAX_OFFSET, Snapshot } from '../../environments/schemas.js'
import type { Environment } from '../../environments/service.js'
import { type AddRoute, listOf } from '../../http/control-route.js'
import { setReasonHeader } from '../../http/errors.js'
import { parseTimeField } from '../../http/validation.js'
import {
  dateTime,
  freeObject,
  namedEnum,
  namedObject,
  ref,
  strictObject,
  stringEnum
} from '../../schema/typebox.js'
import type { ControlServices } from '../services.js'

/** The body limit of requests that carry a seed, in bytes. */
export const MAX_SEED = 8 * 1024 * 1024
/**
 * The body limit for YAML, in bytes. It is lower because reading YAML takes fifty times as long as
 * reading JSON.
 */
const MAX_YAML = 2 * 1024 * 1024

const SEED_MODES = ['merge', 'replace'] as const
const MODE =
  '`merge` adds the seed to the current state; `replace` replaces the state and the baseline ' +
  'with the seed'
const SeedQuery = strictObject({
  mode: stringEnum(SEED_MODES, { default: 'merge', description: MODE }),
  scenario: Type.Optional(
    Type.String({ description: 'Name of a built-in seed to load instead of a body' })
  )
})

const SeedDocument = freeObject('A seed with one environment')
/**
 * The OpenAPI document describes this body as an object. The route itself accepts any text, so that
 * the seed reader can report the line and column of each issue.
 */
const SeedText = Type.Unsafe<string>({ ...SeedDocument, [Kind]: 'Any' })

export const ResetPart = namedEnum(
  'ResetPart',
  'A part of the state that a reset can restore',
  RESET_PARTS
)
export type ResetPart = Static<typeof ResetPart>

const DATA_PART = '`data` includes the records, the profile and the assumptions.'
const PARTS = `${DATA_PART} By default, a reset restores all parts`
const RESTORED_PARTS = `${DATA_PART} Defaults to \`data\`, \`clock\` and \`idempotency\``
const ResetRequest = namedObject('ResetRequest', 'The parts to reset', {
  parts: Type.Optional(Type.Array(ref(ResetPart), { minItems: 1, description: PARTS }))
})

const BASELINE = 'Also restore the baseline that the environment had when the snapshot was taken'
const RestoreRequest = namedObject('RestoreRequest', 'What to restore from a snapshot', {
  parts: Type.Optional(Type.Array(ref(ResetPart), { minItems: 1, description: RESTORED_PARTS })),
  baseline: Type.Optional(Type.Boolean({ description: BASELINE }))
})

export const ResetResult = namedObject('ResetResult', 'The result of a reset', {
  parts: Type.Array(ref(ResetPart), { description: 'The parts that were reset' }),
  duration: Type.Number({ minimum: 0, description: 'Duration of the reset, in milliseconds' })
})
export type ResetResult = Static<typeof ResetResult>

const SnapshotName = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'Name of the snapshot'
})

export const ClockState = namedObject(
  'ClockState',
  'The setting of the clock and the current time',
  {
    setting: ref(ClockSetting),
    now: dateTime('The current time of the environment')
  }
)
export type ClockState = Static<typeof ClockState>

const AdvanceRequest = namedObject('AdvanceRequest', 'How far to advance the clock', {
  by: Type.Integer({
    minimum: 1,
    maximum: MAX_OFFSET,
    format: 'int64',
    description: 'Milliseconds'
  })
})

/**
 * Adds the routes that export, load and reset the state of one environment and manage its
 * snapshots.
 */
export function stateRoutes(route: AddRoute, services: ControlServices): void {
  const { environments, seeds } = services
  route('GET', '/state', 'exportState', 'Export this environment as a seed', {
    description:
      'Returns JSON, or YAML if the `Accept` header requests it. An environment created from ' +
      'this seed returns the same responses, byte for byte. The seed leaves out stubs with ' +
      'functions, and the header `x-mock-reason` lists them.',
    response: SeedDocument,
    handler: async (request, reply) => {
      const { environment, headers } = request
      // If `Accept` names both formats, use the one that it names first.
      const format =
        /json|yaml|\*/i.exec(headers.accept ?? '')?.[0].toLowerCase() === 'yaml' ? 'yaml' : 'json'
      reply.type(`application/${format}; charset=utf-8`)
      const leftOut = environment.stubs.filter((stub) => stub.function !== undefined)
      if (leftOut.length > 0) setReasonHeader(reply, describeLeftOut(leftOut))
      // The response to HEAD has no body, so don't export anything.
      const pieces = request.method === 'HEAD' ? [] : seeds.export(environment, format)
      return reply.send(Readable.from(pieces, { objectMode: false }))
    }
  })

  route('POST', '/seed', 'loadSeed', 'Load a seed into this environment', {
    description:
      'Accepts JSON or YAML with one environment, or the name of a built-in seed. Loads ' +
      'nothing if the seed has an error.',
    querystring: SeedQuery,
    body: SeedText,
    bodyLimit: MAX_SEED,
    textBody: true,
    response: strictObject({
      mode: stringEnum(SEED_MODES, { description: 'The mode that was used' })
    }),
    handler: async ({ environment, body, query: { mode, scenario } }) => {
      if (scenario !== undefined && body.trim() !== '')
        throw invalidFields({ scenario: { messages: [SCENARIO_WITH_BODY] } })
      // Responds with 413, as Fastify does for a body that is too large.
      if (!/^\s*\{/.test(body) && Buffer.byteLength(body) > MAX_YAML)
        throw new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE()
      await seeds.load(environment, scenario === undefined ? { seed: body } : { scenario }, mode)
      return { mode }
    }
  })

  route('POST', '/reset', 'resetEnvironment', 'Reset this environment to its baseline', {
    description:
      'The baseline is the state after the environment was created or last seeded with ' +
      '`mode=replace`.',
    body: ref(ResetRequest),
    response: ref(ResetResult),
    handler: async ({ environment, body: { parts = [...RESET_PARTS] } }) =>
      timed(parts, () => environments.reset(environment, parts))
  })

  route('GET', '/diff', 'diffBaseline', 'Compare the current state with the baseline', {
    response: ref(EnvironmentDiff),
    handler: async ({ environment }) => environments.diffBaseline(environment, redactWith(services))
  })

  snapshotRoutes(route, services)
}

/** Returns a function that replaces the secrets in a text. */
function redactWith({ redactionOf }: ControlServices): (text: string) => string {
  const redaction = redactionOf()
  return (text) => redaction.redact(text)
}

/**
 * Adds the routes that list, take, restore, compare and remove the snapshots of one environment.
 */
function snapshotRoutes(route: AddRoute, services: ControlServices): void {
  const { environments } = services
  route('GET', '/snapshots', 'listSnapshots', 'List the snapshots', {
    response: listOf('snapshots', ref(Snapshot), 'All snapshots of the environment, oldest first'),
    handler: async ({ environment }) => ({ snapshots: environments.listSnapshots(environment) })
  })

  route('PUT', '/snapshots/:name', 'takeSnapshot', 'Take a snapshot', {
    description:
      'Stores the current state and the baseline under this name. Replaces any earlier snapshot ' +
      'with the same name.',
    params: strictObject({ name: SnapshotName }),
    response: ref(Snapshot),
    handler: async ({ environment, params }) => environments.takeSnapshot(environment, params.name)
  })

  route('POST', '/snapshots/:name/restore', 'restoreSnapshot', 'Restore a snapshot', {
    description:
      'Restores the data, the clock and the idempotency keys unless `parts` lists other parts.',
    params: strictObject({ name: SnapshotName }),
    body: ref(RestoreRequest),
    response: ref(ResetResult),
    handler: async ({ environment, params, body: { parts = DEFAULT_RESTORE_PARTS, baseline } }) =>
      timed(parts, () => environments.restore(environment, params.name, { parts, baseline }))
  })

  route(
    'GET',
    '/snapshots/:name/diff',
    'diffSnapshot',
    'Compare the current state with a snapshot',
    {
      params: strictObject({ name: SnapshotName }),
      response: ref(EnvironmentDiff),
      handler: async ({ environment, params }) =>
        environments.diffSnapshot(environment, params.name, redactWith(services))
    }
  )

  route('DELETE', '/snapshots/:name', 'removeSnapshot', 'Remove a snapshot', {
    params: strictObject({ name: SnapshotName }),
    handler: async ({ environment, params }) =>
      environments.removeSnapshot(environment, params.name)
  })
}

/**
 * The parts that a restore includes by default. Requests and faults are excluded, so that a test
 * can still verify its requests after restoring a snapshot.
 */
const DEFAULT_RESTORE_PARTS: ResetPart[] = ['data', 'clock', 'idempotency']

const SCENARIO_WITH_BODY =
  "`scenario` can't be combined with a seed in the body; load each with its own request"

function timed(parts: ResetPart[], reset: () => void): ResetResult {
  const started = performance.now()
  reset()
  return { parts, duration: Math.round((performance.now() - started) * 1000) / 1000 }
}

/** Adds the routes that return, set and advance the clock of one environment. */
export function clockRoutes(route: AddRoute, { environments }: ControlServices): void {
  route('GET', '/clock', 'getClock', 'Get the clock', {
    response: ref(ClockState),
    handler: async ({ environment }) => toClockState(environment)
  })

  route('PUT', '/clock', 'setClock', 'Set the clock', {
    body: ref(ClockSetting),
    response: ref(ClockState),
    handler: async ({ environment, body }) => {
      environments.changeSettings(environment, { clock: toClockSetting('', body) })
      return toClockState(environment)
    }
  })

  route('POST', '/clock/advance', 'advanceClock', 'Advance the clock', {
    body: ref(AdvanceRequest),
    response: ref(ClockState),
    handler: async ({ environment, body }) => {
      environments.advanceClock(environment, body.by)
      return toClockState(environment)
    }
  })
}

/** Describes the stubs that an export doesn't contain. */
function describeLeftOut(stubs: Environment['stubs']): string {
  const names = stubs.map(({ method, path }) => `${method} ${path}`)
  return `the seed leaves out the stubs with functions: ${names.join(', ')}`
}

const toClockState = ({ clock, now }: Environment): ClockState => ({
  setting: clock,
  now: isoTime(now())
})

/**
 * Returns a clock setting with its time in UTC. A string becomes a fixed time. Throws `invalid` for
 * an invalid time.
 */
export function toClockSetting(field: string, clock: string | ClockSetting): ClockSetting {
  if (typeof clock === 'string') return { mode: 'fixed', at: isoTime(parseTimeField(field, clock)) }
  if (clock.mode !== 'fixed') return clock
  return {
    mode: 'fixed',
    at: isoTime(parseTimeField(field === '' ? 'at' : `${field}.at`, clock.at))
  }
}
