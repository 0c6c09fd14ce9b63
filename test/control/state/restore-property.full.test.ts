import fc from 'fast-check'
import { expect, test } from 'vitest'
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
const RUNS = 1000
const ALL = [...RESET_PARTS]

const TEXT = { identifier: 'text', providerId: 'ses', channel: 'sms' as const }
const SEED = { ...SHOP, integrations: [...SHOP.integrations, TEXT] }

/**
 * The model of a state: its export and, for each idempotency key, the integration and the stored
 * response.
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
  snapshots: Map<string, State>
}

/** Performs a step on an environment, and returns the state that is expected afterwards. */
type Step = (mock: TestMock, model: Model, models: Model[]) => State | Promise<State>

const name = fc.constantFrom('s1', 's2')
const parts = fc.oneof(fc.constant<ResetPart[]>(ALL), fc.subarray<ResetPart>(ALL, { minLength: 1 }))
const identifier = fc.constantFrom('main', 'other', 'text', 'added', 'gone')
const key = fc.option(fc.constantFrom('k1', 'k2', 'k3'), { nil: undefined })
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.tuple(identifier, key).map(([id, under]) => setPrimary(id, under)) },
  { weight: 1, arbitrary: fc.nat({ max: 9 }).map(merge) },
  { weight: 3, arbitrary: name.map(snapshot) },
  { weight: 3, arbitrary: fc.tuple(name, parts).map(([from, chosen]) => restore(from, chosen)) },
  { weight: 2, arbitrary: parts.map(reset) },
  { weight: 1, arbitrary: fc.option(name, { nil: undefined }).map(fork) }
)
const sequences = fc.array(fc.tuple(fc.nat({ max: 3 }), step), { minLength: 1, maxLength: 14 })

test(`restores exactly the saved states after each of ${RUNS} random sequences of steps`, {
  timeout: 300_000
}, async () => {
  const mock = await useMock({ clock: () => NOW, seed: { environments: [] } })
  const nothing = rowCounts(mock.db)
  await fc.assert(
    fc.asyncProperty(sequences, async (sequence) => {
      const { environment } = await mock.services.seeds.createEnvironment({ seed: seedOf(SEED) })
      const models = [newModel(mock, environment, new Map())]
      try {
        for (const [at, take] of sequence) {
          const model = models[at % models.length] as Model
          model.state = await take(mock, model, models)
          expectStates(mock, models)
        }
        expectConsistentDatasets(mock.db)
        checkRestores(mock, models)
        expectConsistentDatasets(mock.db)
      } finally {
        for (const { real } of models) mock.services.environments.remove(real)
      }
      expect(rowCounts(mock.db)).toEqual(nothing)
    }),
    { numRuns: RUNS }
  )
})

/** Restores every saved state twice, and checks its data and stored responses each time. */
function checkRestores(mock: TestMock, models: readonly Model[]): void {
  const { environments } = mock.services
  for (const model of models) {
    const saved = [...model.snapshots, [undefined, model.baseline] as const]
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

function exportedOf({ services }: TestMock, environment: Environment): SeededEnvironment {
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
  const run = () => ({
    status: 200,
    body: Buffer.from(services.integrations.setPrimary(environment, identifier).integration)
  })
  try {
    if (under === '') return { response: run().body.toString(), isReplayed: false }
    const request = { target: `POST /${identifier}`, body: Buffer.alloc(0) }
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
    const isNew = under !== '' && !known && response !== 'not-found'
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

function snapshot(as: string): Step {
  return ({ services }, { real, state, snapshots }) => {
    services.environments.takeSnapshot(real, as)
    snapshots.set(as, state)
    return state
  }
}

function restore(from: string, chosen: ResetPart[]): Step {
  return ({ services }, { real, state, snapshots }) => {
    const restoring = () => services.environments.restore(real, from, { parts: chosen })
    const saved = snapshots.get(from)
    if (saved) restoring()
    else expect(restoring).toThrow('not found')
    return saved ? setBack(state, saved, chosen) : state
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
    const origin = from === undefined ? state : snapshots.get(from)
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
