import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { isScalar, Scalar, visit, Document as YamlDocument } from 'yaml'
import { assumptionComplaint } from '../../core/assumptions.js'
import { isoTime, parseTime } from '../../core/clock.js'
import { RESET_PARTS, type ResetPart } from '../../core/enums.js'
import { DomainError, type FieldErrors, invalidFields } from '../../core/errors.js'
import { freeObject, ref, strictObject, stringEnum } from '../../core/typebox.js'
import { findIssues } from '../../core/validation.js'
import {
  AdvanceRequest,
  ClockSetting,
  ClockState,
  EnvironmentListed,
  EnvironmentMade,
  NewEnvironment,
  RandomSetting,
  ResetDone,
  ResetRequest,
  Snapshot,
  SnapshotName
} from '../../environments/schemas.js'
import type { Environment, EnvironmentService } from '../../environments/service.js'
import { bodyText, controlSchema, readBody } from '../../http/control-operation.js'
import { JSON_TYPE } from '../../http/errors.js'
import { type Query, readQuery } from '../../http/query-string.js'
import { placeOf, SeedError } from '../../seeds/errors.js'
import { loadGenerator, needsGenerator } from '../../seeds/generate/load.js'
import type { SeedService } from '../../seeds/service.js'

interface Options {
  environments: EnvironmentService
  seeds: SeedService
}

/** The requests that carry a seed may be larger than others. */
const MAX_SEED = 64 * 1024 * 1024

const SNAPSHOT_OF_NOTHING = { snapshot: { messages: ['snapshot is one of an environment: say which in from'] } }

/** Making, listing and removing environments: touches all of them, so it is not for every caller. */
export const environmentRoutes: FastifyPluginAsyncTypebox<Options> = async (app, { environments, seeds }) => {
  app.post(
    '/environments',
    {
      bodyLimit: MAX_SEED,
      schema: controlSchema({
        operationId: 'makeEnvironment',
        summary: 'Make an environment',
        description:
          'Empty, from a seed, or as a fork of another or of a snapshot of it, with all its ids. The key is told here only.',
        tag: 'Environments',
        access: 'server',
        body: ref(NewEnvironment),
        answer: ref(EnvironmentMade),
        status: 201,
        refusals: [400, 403, 404]
      })
    },
    async (request, reply) => {
      const wanted = readBody(request, NewEnvironment)
      refuseUnknownAssumptions(wanted.assumptions)
      if (wanted.snapshot !== undefined && wanted.from === undefined) throw invalidFields(SNAPSHOT_OF_NOTHING)
      if (needsGenerator(wanted.seed)) await loadGenerator()
      const { environment, apiKey } = refusingSeeds(() => seeds.make(wanted))
      return reply.code(201).type(JSON_TYPE).send(made(environment, apiKey))
    }
  )

  app.get(
    '/environments',
    {
      schema: controlSchema({
        operationId: 'listEnvironments',
        summary: 'The environments, in the order of their making',
        tag: 'Environments',
        access: 'server',
        answer: strictObject({ environments: Type.Array(ref(EnvironmentListed)) }),
        refusals: [403]
      })
    },
    async (_request, reply) => reply.type(JSON_TYPE).send({ environments: environments.list().map(listed) })
  )

  app.delete(
    '/environments/:id',
    {
      schema: controlSchema({
        operationId: 'removeEnvironment',
        summary: 'Remove an environment with all its rows',
        tag: 'Environments',
        access: 'server',
        params: strictObject({ id: Type.String({ description: 'Id, or name if only one has it' }) }),
        refusals: [400, 403, 404]
      })
    },
    async (request, reply) => {
      environments.remove(environments.find((request.params as { id: string }).id))
      return reply.code(204).send()
    }
  )
}

const SeedQuery = strictObject({
  mode: Type.Unsafe<'merge' | 'replace'>({
    ...stringEnum(['merge', 'replace'], {
      description: 'merge: add to what is there; replace: be what the seed describes, which a reset then goes back to'
    }),
    default: 'merge'
  })
})

const SnapshotParams = strictObject({ name: SnapshotName })

/** The state of one environment: read, written, kept, set back. */
export const stateRoutes: FastifyPluginAsyncTypebox<Options> = async (app, { environments, seeds }) => {
  app.get(
    '/state',
    {
      schema: controlSchema({
        operationId: 'exportState',
        summary: 'This environment as a seed',
        description: 'In JSON, or in YAML where Accept asks for it. Loading it gives the same answers, byte for byte.',
        tag: 'State',
        answer: freeObject('A seed with one environment')
      })
    },
    async (request, reply) => {
      const seed = seeds.export(request.environment)
      if (!wantsYaml(request.headers.accept)) return reply.type(JSON_TYPE).send(seed)
      return reply.type('application/yaml; charset=utf-8').send(asYaml(seed))
    }
  )

  app.post(
    '/seed',
    {
      bodyLimit: MAX_SEED,
      schema: controlSchema({
        operationId: 'loadSeed',
        summary: 'Add a seed to this environment, or replace it by one',
        description:
          'JSON or YAML with one environment, whose own name, ids and keys are left aside. It is checked whole, and nothing is applied if it has a mistake.',
        tag: 'State',
        querystring: SeedQuery,
        body: freeObject('A seed with one environment'),
        answer: strictObject({ mode: stringEnum(['merge', 'replace']) }),
        refusals: [422]
      })
    },
    async (request, reply) => {
      const { mode } = readQuery(request.query as Query, SeedQuery) as typeof SeedQuery.static
      if (needsGenerator(bodyText(request))) await loadGenerator()
      refusingSeeds(() => seeds.load(request.environment, bodyText(request), mode))
      return reply.type(JSON_TYPE).send({ mode })
    }
  )

  app.post(
    '/reset',
    {
      schema: controlSchema({
        operationId: 'resetEnvironment',
        summary: 'Back to the baseline: as it was made or seeded',
        tag: 'State',
        body: ref(ResetRequest),
        answer: ref(ResetDone)
      })
    },
    async (request, reply) => {
      const { parts = [...RESET_PARTS] } = readBody(request, ResetRequest)
      const done = timed(parts, () => environments.reset(request.environment, parts))
      return reply.type(JSON_TYPE).send(done)
    }
  )

  app.get(
    '/snapshots',
    {
      schema: controlSchema({
        operationId: 'listSnapshots',
        summary: 'The named states that are kept',
        tag: 'State',
        answer: strictObject({ snapshots: Type.Array(ref(Snapshot)) })
      })
    },
    async (request, reply) => reply.type(JSON_TYPE).send({ snapshots: environments.listSnapshots(request.environment) })
  )

  app.put(
    '/snapshots/:name',
    {
      schema: controlSchema({
        operationId: 'keepSnapshot',
        summary: 'Keep the present state under a name',
        tag: 'State',
        params: SnapshotParams,
        answer: ref(Snapshot)
      })
    },
    async (request, reply) =>
      reply.type(JSON_TYPE).send(environments.snapshot(request.environment, snapshotName(request)))
  )

  app.post(
    '/snapshots/:name/restore',
    {
      schema: controlSchema({
        operationId: 'restoreSnapshot',
        summary: 'Back to a named state',
        description:
          'Data, clock and idempotency keys, unless parts are chosen. To have it in a new environment, make that with from and snapshot.',
        tag: 'State',
        params: SnapshotParams,
        body: ref(ResetRequest),
        answer: ref(ResetDone),
        refusals: [404]
      })
    },
    async (request, reply) => {
      const { parts = RESTORED } = readBody(request, ResetRequest)
      const name = snapshotName(request)
      return reply.type(JSON_TYPE).send(timed(parts, () => environments.restore(request.environment, name, parts)))
    }
  )

  app.delete(
    '/snapshots/:name',
    {
      schema: controlSchema({
        operationId: 'removeSnapshot',
        summary: 'Forget a named state',
        tag: 'State',
        params: SnapshotParams,
        refusals: [404]
      })
    },
    async (request, reply) => {
      environments.removeSnapshot(request.environment, snapshotName(request))
      return reply.code(204).send()
    }
  )
}

/** Time and chance in one environment. */
export const clockRoutes: FastifyPluginAsyncTypebox<Pick<Options, 'environments'>> = async (app, { environments }) => {
  app.get(
    '/clock',
    {
      schema: controlSchema({
        operationId: 'readClock',
        summary: 'How time goes, and what it is',
        tag: 'Clock and chance',
        answer: ref(ClockState)
      })
    },
    async ({ environment }, reply) => reply.type(JSON_TYPE).send(clockState(environment))
  )

  app.put(
    '/clock',
    {
      schema: controlSchema({
        operationId: 'setClock',
        summary: 'Let time stand still, be off, or go with the machine',
        tag: 'Clock and chance',
        body: ref(ClockSetting),
        answer: ref(ClockState)
      })
    },
    async (request, reply) => {
      const setting = readBody(request, ClockSetting)
      environments.setClock(request.environment, setting.mode === 'fixed' ? fixedAt(setting.at) : setting)
      return reply.type(JSON_TYPE).send(clockState(request.environment))
    }
  )

  app.post(
    '/clock/advance',
    {
      schema: controlSchema({
        operationId: 'advanceClock',
        summary: 'Move time on',
        tag: 'Clock and chance',
        body: ref(AdvanceRequest),
        answer: ref(ClockState)
      })
    },
    async (request, reply) => {
      environments.advanceClock(request.environment, readBody(request, AdvanceRequest).by)
      return reply.type(JSON_TYPE).send(clockState(request.environment))
    }
  )

  app.get(
    '/chance',
    {
      schema: controlSchema({
        operationId: 'readChance',
        summary: 'Whether chance repeats itself',
        tag: 'Clock and chance',
        answer: ref(RandomSetting)
      })
    },
    async ({ environment }, reply) => reply.type(JSON_TYPE).send({ randomSeed: environment.randomSeed })
  )

  app.put(
    '/chance',
    {
      schema: controlSchema({
        operationId: 'setChance',
        summary: 'Start chance anew, from a seed or unforeseeable',
        tag: 'Clock and chance',
        body: ref(RandomSetting),
        answer: ref(RandomSetting)
      })
    },
    async (request, reply) => {
      environments.setRandomSeed(request.environment, readBody(request, RandomSetting).randomSeed)
      return reply.type(JSON_TYPE).send({ randomSeed: request.environment.randomSeed })
    }
  )
}

/** A restore is in the course of a test, whose requests are still to be looked at. */
const RESTORED: ResetPart[] = ['data', 'clock', 'idempotency']

function snapshotName({ params }: FastifyRequest): string {
  const { name } = params as { name: string }
  if (findIssues(SnapshotName, name).length === 0) return name
  throw invalidFields({ name: { messages: ['name must have 1 to 200 characters'], value: name } })
}

/** Each value spelled out where it stands, and nothing that a reader could take for more than a name. */
function asYaml(seed: object): string {
  const document = new YamlDocument(seed, { aliasDuplicateObjects: false })
  visit(document, {
    // Bare, it would merge what it holds into what it is in.
    Pair(_place, { key }) {
      if (isScalar(key) && key.value === '<<') key.type = Scalar.QUOTE_DOUBLE
    }
  })
  return document.toString()
}

/** What Accept names first counts. */
function wantsYaml(accept: string | undefined): boolean {
  return /json|yaml|\*/i.exec(accept ?? '')?.[0].toLowerCase() === 'yaml'
}

function made({ id, organizationId, name, profile }: Environment, apiKey: string): EnvironmentMade {
  return { environmentId: id, organizationId, name, apiKey, profile }
}

function listed({ id, organizationId, name, profile, createdAt }: Environment): EnvironmentListed {
  return { environmentId: id, organizationId, name, profile, createdAt: isoTime(createdAt) }
}

function clockState({ clock, now }: Environment): { setting: ClockSetting; now: string } {
  return { setting: clock, now: isoTime(now()) }
}

function fixedAt(time: string): ClockSetting {
  const at = parseTime(time)
  if (at !== undefined) return { mode: 'fixed', at: isoTime(at) }
  throw invalidFields({ at: { messages: ['at must be a time in ISO 8601, with its zone'], value: time } })
}

function timed(parts: ResetPart[], work: () => void): ResetDone {
  const started = performance.now()
  work()
  return { parts, duration: Math.round((performance.now() - started) * 1000) / 1000 }
}

/** A bad seed is the caller's: each mistake is told under its path in the seed. */
function refusingSeeds<Result>(work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof SeedError)) throw error
    const errors: FieldErrors = {}
    for (const mistake of error.mistakes) {
      const { path, message } = mistake
      errors[path || 'seed'] = {
        messages: [...(errors[path || 'seed']?.messages ?? []), `${placeOf(mistake)} ${message}`]
      }
    }
    throw new DomainError('invalid', 'Validation Error', { reason: error.message.replaceAll('\n', '; '), errors })
  }
}

function refuseUnknownAssumptions(assumptions: Record<string, string> | undefined): void {
  const errors: FieldErrors = {}
  for (const [id, value] of Object.entries(assumptions ?? {})) {
    const complaint = assumptionComplaint(id, value)
    if (complaint) errors[`assumptions.${id}`] = { messages: [complaint], value }
  }
  if (Object.keys(errors).length > 0) throw invalidFields(errors)
}
