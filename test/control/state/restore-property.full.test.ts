import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PROFILES } from '../../../src/domain/assumptions.js'
import { RESET_PARTS, type ResetPart } from '../../../src/domain/enums.js'
import { DomainError } from '../../../src/domain/errors.js'
import type { Environment } from '../../../src/environments/service.js'
import { type TestMock, useMock } from '../../support/mock.js'
import { SHOP, seedOf } from '../../support/shop.js'
import {
  expectConsistentDatasets,
  rowCounts,
  type SeededEnvironment
} from '../environments/environment-client.js'

const NOW = Date.parse('2026-02-18T10:00:00.000Z')
/** Each sequence has 50 steps, so both profiles together take 1000 steps. */
const SEQUENCES = 10
const STEPS = 50
const ALL = [...RESET_PARTS]

const UNKNOWN_ID = 'f'.repeat(24)
const TEXT = { identifier: 'text', providerId: 'ses', channel: 'sms' as const }
const SEED = { ...SHOP, integrations: [...SHOP.integrations, TEXT] }

/**
 * The expected state of an environment: its export, and for each idempotency key, the integration's
 * identifier and the stored response.
 */
interface State {
  exported: SeededEnvironment
  keys: ReadonlyMap<string, { identifier: string; response: string }>
}

/** An environment and its expected states. States are immutable, so each step replaces them. */
interface Model {
  real: Environment
  state: State
  baseline: State
  snapshots: Map<string, SavedState>
}

/** A snapshot, and the baseline at the time of the snapshot. */
type SavedState = Pick<Model, 'state' | 'baseline'>

/** Performs a step on an environment. Returns the state that the environment must then have. */
type Step = (mock: TestMock, model: Model, models: Model[]) => State | Promise<State>

const name = fc.constantFrom('s1', 's2')
const parts = fc.oneof(fc.constant<ResetPart[]>(ALL), fc.subarray<ResetPart>(ALL, { minLength: 1 }))
const identifier = fc.constantFrom('main', 'other', 'text', 'added', 'gone')
const key = fc.option(fc.constantFrom('k1', 'k2', 'k3'), { nil: undefined })
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.tuple(identifier, key).map(([id, under]) => setPrimary(id, under)) },
  { weight: 1, arbitrary: fc.nat({ max: 9 }).map(merge) },
  { weight: 3, arbitrary: name.map(snapshot) },
  { weight: 1, arbitrary: fc.nat({ max: 9 }).map(replace) },
  { weight: 1, arbitrary: fc.nat({ max: 9 }).map(undoReplace) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(name, parts, fc.boolean())
      .map(([from, chosen, baseline]) => restore(from, { parts: chosen, baseline }))
  },
  { weight: 1, arbitrary: name.map(removeSnapshot) },
  { weight: 1, arbitrary: fc.constant(removeNewest()) },
  { weight: 2, arbitrary: parts.map(reset) },
  { weight: 1, arbitrary: fc.option(name, { nil: undefined }).map(fork) }
)
const sequences = fc.array(fc.tuple(fc.nat({ max: 3 }), step), {
  minLength: STEPS,
  maxLength: STEPS
})

test.each(PROFILES)(
  `in ${SEQUENCES} random sequences of ${STEPS} steps, every restore returns the saved state: %s`,
  async (profile) => {
    const mock = await useMock({ clock: () => NOW, seed: { environments: [] } })
    const nothing = rowCounts(mock.db)
    await fc.assert(
      fc.asyncProperty(sequences, async (sequence) => {
        const options = { seed: seedOf(SEED), profile }
        const { environment } = await mock.services.seeds.createEnvironment(options)
        const models = [newModel(mock, environment, new Map())]
        try {
          await takeSteps(mock, models, sequence)
          expectConsistentDatasets(mock.db)
          checkRestores(mock, models)
          expectConsistentDatasets(mock.db)
        } finally {
          for (const { real } of models) mock.services.environments.remove(real)
        }
        expect(rowCounts(mock.db)).toEqual(nothing)
      }),
      { numRuns: SEQUENCES }
    )
  }
)

async function takeSteps(
  mock: TestMock,
  models: Model[],
  sequence: readonly [number, Step][]
): Promise<void> {
  for (const [at, take] of sequence) {
    const model = models[at % models.length] as Model
    model.state = await take(mock, model, models)
    expectStates(mock, models)
  }
}

/** Restores every saved state twice, and checks its data and stored responses each time. */
function checkRestores(mock: TestMock, models: readonly Model[]): void {
  const { environments } = mock.services
  for (const model of models) {
    const snapshots = [...model.snapshots].map(([from, { state }]) => [from, state] as const)
    const saved = [...snapshots, [undefined, model.baseline] as const]
    for (const [from, state] of [...saved, ...saved]) {
      if (from === undefined) environments.reset(model.real, ALL)
      else environments.restore(model.real, from, { parts: ALL })
      model.state = state
      expectStates(mock, models)
      for (const [under, { identifier, response }] of state.keys) {
        expect(trySetPrimary(mock, model.real, identifier, under)).toEqual({
          response,
          isReplayed: true
        })
      }
    }
  }
}

function expectStates(mock: TestMock, models: readonly Model[]): void {
  for (const { real, state } of models) expect(exportedOf(mock, real)).toEqual(state.exported)
}

function newModel(mock: TestMock, real: Environment, keys: State['keys']): Model {
  const state = { exported: exportedOf(mock, real), keys }
  return { real, state, baseline: state, snapshots: new Map() }
}

function exportedOf(
  { services }: Pick<TestMock, 'services'>,
  environment: Environment
): SeededEnvironment {
  return JSON.parse([...services.seeds.export(environment, 'json')].join('')).environments[0]
}

/**
 * Makes an integration primary. Returns the response, or the error code if the change is rejected.
 */
function trySetPrimary(
  { services }: TestMock,
  environment: Environment,
  identifier: string,
  under: string
) {
  // The profile `live` finds integrations only by id.
  const { integrations = [] } = exportedOf({ services }, environment)
  const id = integrations.find((integration) => integration.identifier === identifier)?._id
  const run = () => ({
    status: 200,
    body: Buffer.from(services.integrations.setPrimary(environment, id ?? UNKNOWN_ID).integration)
  })
  try {
    if (under === '') return { response: run().body.toString(), isReplayed: false }
    const request = { target: `POST /${identifier}`, body: Buffer.from(identifier) }
    const { body, replayOf } = services.idempotency.once(environment, under, request, run)
    return { response: body.toString(), isReplayed: replayOf !== undefined }
  } catch (error) {
    if (error instanceof DomainError) return { response: error.code, isReplayed: false }
    throw error
  }
}

function setPrimary(identifier: string, under = ''): Step {
  return (mock, { real, state: { keys } }) => {
    const known = keys.get(under)
    const { response, isReplayed } = trySetPrimary(mock, real, identifier, under)
    expect(isReplayed).toBe(known?.identifier === identifier)
    // The profile `live` rejects chat integrations. Rejections aren't stored for idempotency keys.
    const isRejected = response === 'not-found' || response === 'bad-request'
    const isNew = under !== '' && !known && !isRejected
    return {
      exported: exportedOf(mock, real),
      keys: isNew ? new Map(keys).set(under, { identifier, response }) : keys
    }
  }
}

function merge(number: number): Step {
  return async (mock, { real, state: { keys } }) => {
    const integration = { identifier: 'added', providerId: `p${number}`, channel: 'chat' as const }
    const seed = seedOf({
      integrations: [integration],
      messages: [{ channel: 'push', subject: `${number}` }]
    })
    await mock.services.seeds.load(real, { seed }, 'merge')
    return { exported: exportedOf(mock, real), keys }
  }
}

/** Replaces the environment's state with a seed, which also becomes the baseline. */
async function loadInPlace(mock: TestMock, real: Environment, number: number): Promise<void> {
  const integration = { identifier: 'main', providerId: `p${number}`, channel: 'email' as const }
  const { profile } = exportedOf(mock, real)
  const seed = seedOf({ ...(profile && { profile }), integrations: [integration] })
  await mock.services.seeds.load(real, { seed }, 'replace')
}

function replace(number: number): Step {
  return async (mock, model) => {
    await loadInPlace(mock, model.real, number)
    model.baseline = { exported: exportedOf(mock, model.real), keys: new Map() }
    return model.baseline
  }
}

/** Loads a seed and undoes the load, as the inspector's Undo button does. */
function undoReplace(number: number): Step {
  return async (mock, { real, state }) => {
    const { environments } = mock.services
    environments.takeSnapshot(real, 'undo')
    await loadInPlace(mock, real, number)
    environments.restore(real, 'undo', {
      parts: ['data', 'clock', 'idempotency'],
      baseline: true
    })
    environments.removeSnapshot(real, 'undo')
    return state
  }
}

function snapshot(as: string): Step {
  return ({ services }, { real, state, baseline, snapshots }) => {
    services.environments.takeSnapshot(real, as)
    snapshots.set(as, { state, baseline })
    return state
  }
}

function restore(from: string, options: { parts: ResetPart[]; baseline: boolean }): Step {
  return ({ services }, model) => {
    const restoring = () => services.environments.restore(model.real, from, options)
    const saved = model.snapshots.get(from)
    if (!saved) {
      expect(restoring).toThrow('not found')
      return model.state
    }
    restoring()
    if (options.baseline) model.baseline = saved.baseline
    return setBack(model.state, saved.state, options.parts)
  }
}

function removeSnapshot(from: string): Step {
  return ({ services }, { real, state, snapshots }) => {
    if (snapshots.delete(from)) services.environments.removeSnapshot(real, from)
    return state
  }
}

/** Removes the newest environment, unless it is the only one. */
function removeNewest(): Step {
  return ({ services }, { state }, models) => {
    const removed = models.length > 1 ? models.pop() : undefined
    if (removed) services.environments.remove(removed.real)
    return state
  }
}

function reset(chosen: ResetPart[]): Step {
  return ({ services }, { real, state, baseline }) => {
    services.environments.reset(real, chosen)
    return setBack(state, baseline, chosen)
  }
}

function fork(from: string | undefined): Step {
  return async (mock, { real, state, snapshots }, models) => {
    const origin = from === undefined ? state : snapshots.get(from)?.state
    if (models.length > 3 || !origin) return state
    const options = { from: real.id, ...(from !== undefined && { snapshot: from }) }
    const { environment } = await mock.services.seeds.createEnvironment(options)
    const withOwnIds = (text: string) =>
      text
        .replaceAll(real.id, environment.id)
        .replaceAll(real.organizationId, environment.organizationId)
    const keys = [...origin.keys].map(
      ([under, stored]) => [under, { ...stored, response: withOwnIds(stored.response) }] as const
    )
    const forkModel = newModel(mock, environment, new Map(keys))
    // The fork's name ends with a number if the name was already taken.
    expect(forkModel.state.exported.name.replace(/ \d+$/, '')).toBe(`${origin.exported.name} fork`)
    expect(forkModel.state.exported).toEqual({ ...origin.exported, name: environment.name })
    models.push(forkModel)
    return state
  }
}

function setBack(now: State, saved: State, chosen: readonly ResetPart[]): State {
  const { exported } = chosen.includes('data') ? saved : now
  const { keys } = chosen.includes('idempotency') ? saved : now
  return { exported, keys }
}
