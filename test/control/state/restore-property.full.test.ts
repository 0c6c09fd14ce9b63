import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ClockSetting } from '../../../src/core/clock.js'
import { RESET_PARTS, type ResetPart } from '../../../src/core/enums.js'
import { DomainError } from '../../../src/core/errors.js'
import type { Environment } from '../../../src/environments/service.js'
import { type GivenMock, givenMock } from '../../support/mock.js'
import { expectSound, plainCall, rowCounts, type SeededEnvironment } from '../environments/environment-client.js'

const NOW = Date.parse('2026-02-18T10:00:00.000Z')
const HOUR = 60 * 60 * 1000

const IDENTIFIERS = ['a', 'b', 'c', 'd', 'e'] as const
const KEYS = ['k1', 'k2', 'k3'] as const
const NAMES = ['s1', 's2'] as const

const SEED = {
  name: 'Origin',
  integrations: IDENTIFIERS.slice(0, 4).map((identifier, place) => ({
    identifier,
    providerId: 'ses',
    channel: place < 3 ? 'email' : 'sms',
    active: place === 0,
    primary: place === 0
  })),
  subscribers: [{ subscriberId: 'user' }],
  workflows: [{ identifier: 'order', steps: [{ stepId: 'mail', type: 'email' }] }],
  messages: [{ channel: 'email', subscriberId: 'user', workflow: 'order' }, { channel: 'sms' }]
}

/** A setting that a replace changes, of no effect here. */
const SETTINGS = { 'auth-scheme-case': 'exact' }

/** `at` chooses among the environments there are. */
type Step = { at: number } & (
  | { do: 'set-primary'; identifier: string; key: string | undefined }
  | { do: 'merge' | 'replace'; number: number }
  | { do: 'snapshot' | 'remove-snapshot'; name: string }
  | { do: 'restore'; name: string; parts: ResetPart[] }
  | { do: 'reset'; parts: ResetPart[] }
  | { do: 'fork'; snapshot: string | undefined }
  | { do: 'clock'; setting: ClockSetting }
  | { do: 'advance'; by: number }
  | { do: 'remove' }
)

const at = fc.nat({ max: 3 })
const name = fc.constantFrom(...NAMES)
const parts = fc.oneof(
  { weight: 2, arbitrary: fc.constant<ResetPart[]>([...RESET_PARTS]) },
  { weight: 1, arbitrary: fc.subarray<ResetPart>([...RESET_PARTS], { minLength: 1 }) }
)
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      at,
      do: fc.constant('set-primary' as const),
      identifier: fc.constantFrom(...IDENTIFIERS),
      key: fc.option(fc.constantFrom(...KEYS), { nil: undefined })
    })
  },
  {
    weight: 2,
    arbitrary: fc.record({ at, do: fc.constantFrom('merge' as const, 'replace' as const), number: fc.nat({ max: 9 }) })
  },
  { weight: 3, arbitrary: fc.record({ at, do: fc.constant('snapshot' as const), name }) },
  { weight: 1, arbitrary: fc.record({ at, do: fc.constant('remove-snapshot' as const), name }) },
  { weight: 3, arbitrary: fc.record({ at, do: fc.constant('restore' as const), name, parts }) },
  { weight: 2, arbitrary: fc.record({ at, do: fc.constant('reset' as const), parts }) },
  {
    weight: 1,
    arbitrary: fc.record({ at, do: fc.constant('fork' as const), snapshot: fc.option(name, { nil: undefined }) })
  },
  {
    weight: 1,
    arbitrary: fc.record({
      at,
      do: fc.constant('clock' as const),
      setting: fc.constantFrom<ClockSetting>(
        { mode: 'wall' },
        { mode: 'offset', by: HOUR },
        { mode: 'fixed', at: '2026-02-18T12:00:00.000Z' }
      )
    })
  },
  {
    weight: 1,
    arbitrary: fc.record({ at, do: fc.constant('advance' as const), by: fc.integer({ min: 1, max: HOUR }) })
  },
  { weight: 1, arbitrary: fc.record({ at, do: fc.constant('remove' as const) }) }
)
const steps = fc.array(step, { minLength: 1, maxLength: 14 })

/** What the model knows of a state: the export, and under each key the integration it was used for and the answer. */
interface State {
  exported: SeededEnvironment
  keys: ReadonlyMap<string, { identifier: string; answer: string }>
}

/** An environment as it has to be. States are never changed, only put in place of one another. */
interface Model {
  real: Handle
  state: State
  baseline: State
  snapshots: Map<string, State>
}

/** The environment, through whatever it is reached. */
interface Handle {
  id: string
  organizationId: string
  setPrimary(identifier: string, key: string | undefined): Promise<{ status: number; body: string; replayed: boolean }>
  load(mode: 'merge' | 'replace', seed: object): Promise<void>
  snapshot(name: string): Promise<void>
  removeSnapshot(name: string): Promise<void>
  restore(name: string, parts: ResetPart[]): Promise<void>
  reset(parts: ResetPart[]): Promise<void>
  fork(snapshot: string | undefined): Promise<Handle>
  clock(setting: ClockSetting): Promise<void>
  advance(by: number): Promise<void>
  remove(): Promise<void>
  exported(): Promise<SeededEnvironment>
}

const RUNS_BY_SERVICE = 1000
const RUNS_BY_HTTP = 30

test(`after each of ${RUNS_BY_SERVICE} random sequences a restore gives back exactly what was kept`, {
  timeout: 300_000
}, async () => {
  const mock = await givenMock({ clock: () => NOW, seed: { environments: [] } })
  await checked(
    mock,
    async () =>
      serviceHandle(
        mock,
        (await mock.services.seeds.createEnvironment({ seed: { environments: [SEED] } })).environment
      ),
    RUNS_BY_SERVICE
  )
})

test(`and so it does over HTTP, ${RUNS_BY_HTTP} times`, { timeout: 300_000 }, async () => {
  const mock = await givenMock({ clock: () => NOW, seed: { environments: [] } })
  await checked(mock, () => madeOverHttp(mock, { seed: { environments: [SEED] } }), RUNS_BY_HTTP)
})

async function checked(mock: GivenMock, make: () => Handle | Promise<Handle>, numRuns: number): Promise<void> {
  const nothing = rowCounts(mock.db)
  await fc.assert(
    fc.asyncProperty(steps, async (sequence) => {
      const models = [await newModel(await make())]
      try {
        for (const each of sequence) {
          await take(each, models)
          for (const { real, state } of models) expect(await real.exported()).toEqual(state.exported)
        }
        expectSound(mock.db)
        await checkRestores(models)
        expectSound(mock.db)
      } finally {
        for (const { real } of models) await real.remove()
      }
      expect(rowCounts(mock.db)).toEqual(nothing)
    }),
    { numRuns }
  )
}

/** Goes back to everything that was kept, and looks each time whether it is there, the stored answers too. */
async function checkRestores(models: readonly Model[]): Promise<void> {
  for (const model of models) {
    const kept = [...model.snapshots].map(([from, state]) => ({
      state,
      goBack: () => model.real.restore(from, [...RESET_PARTS])
    }))
    kept.push({ state: model.baseline, goBack: () => model.real.reset([...RESET_PARTS]) })
    for (const { state, goBack } of [...kept, ...kept]) {
      await goBack()
      model.state = state
      for (const { real, state: expected } of models) expect(await real.exported()).toEqual(expected.exported)
      for (const [key, { identifier, answer }] of state.keys) {
        expect(await model.real.setPrimary(identifier, key)).toMatchObject({ body: answer, replayed: true })
      }
    }
  }
}

async function newModel(real: Handle): Promise<Model> {
  const state: State = { exported: await real.exported(), keys: new Map() }
  return { real, state, baseline: state, snapshots: new Map() }
}

async function take(each: Step, models: Model[]): Promise<void> {
  const model = models[each.at % models.length]
  if (!model) return
  const { real, state, snapshots } = model
  const { exported, keys } = state
  switch (each.do) {
    case 'set-primary': {
      const answer = await real.setPrimary(each.identifier, each.key)
      const known = each.key === undefined ? undefined : keys.get(each.key)
      if (known && known.identifier !== each.identifier) {
        expect(answer.status).toBe(422)
      } else if (known) {
        expect(answer).toMatchObject({ body: known.answer, replayed: true })
      } else {
        const after = withPrimary(exported, each.identifier)
        expect(answer).toMatchObject({ status: after ? 200 : 404, replayed: false })
        model.state = {
          exported: after ?? exported,
          keys:
            each.key === undefined
              ? keys
              : new Map(keys).set(each.key, { identifier: each.identifier, answer: answer.body })
        }
      }
      return
    }
    case 'merge': {
      const integration = { identifier: 'e', providerId: `p${each.number}`, channel: 'chat' }
      await real.load('merge', {
        integrations: [integration],
        messages: [{ channel: 'push', subject: `${each.number}` }]
      })
      const after = await real.exported()
      expect(after.integrations?.at(-1)).toMatchObject(integration)
      expect(after.messages?.slice(0, -1)).toEqual(exported.messages)
      expect(after.messages?.at(-1)).toMatchObject({ channel: 'push', subject: `${each.number}` })
      expect({ ...after, integrations: [], messages: [] }).toEqual({ ...exported, integrations: [], messages: [] })
      const others = (of: SeededEnvironment) => of.integrations?.filter(({ identifier }) => identifier !== 'e')
      expect(others(after)).toEqual(others(exported))
      model.state = { exported: after, keys }
      return
    }
    case 'replace': {
      await real.load('replace', {
        ...SEED,
        assumptions: SETTINGS,
        messages: [{ channel: 'chat', subject: `${each.number}` }]
      })
      const after = await real.exported()
      expect(after).toMatchObject({
        assumptions: SETTINGS,
        messages: [{ subject: `${each.number}` }],
        workflows: [{ identifier: 'order' }]
      })
      expect(after.clock).toBeUndefined()
      model.state = { exported: after, keys: new Map() }
      model.baseline = model.state
      return
    }
    case 'snapshot':
      await real.snapshot(each.name)
      snapshots.set(each.name, state)
      return
    case 'remove-snapshot':
      if (snapshots.delete(each.name)) await real.removeSnapshot(each.name)
      else await expect(real.removeSnapshot(each.name)).rejects.toThrow('not found')
      return
    case 'restore': {
      const kept = snapshots.get(each.name)
      if (kept) await real.restore(each.name, each.parts)
      else await expect(real.restore(each.name, each.parts)).rejects.toThrow('not found')
      if (kept) model.state = setBack(state, kept, each.parts)
      return
    }
    case 'reset':
      await real.reset(each.parts)
      model.state = setBack(state, model.baseline, each.parts)
      return
    case 'fork': {
      const from = each.snapshot === undefined ? state : snapshots.get(each.snapshot)
      if (models.length > 3 || !from) return
      const fork = await real.fork(each.snapshot)
      const rewritten = (text: string) =>
        text.replaceAll(real.id, fork.id).replaceAll(real.organizationId, fork.organizationId)
      // A number follows where that name is taken.
      const { name: forkName } = await fork.exported()
      expect(forkName.replace(/ \d+$/, '')).toBe(`${from.exported.name} fork`)
      const own: State = {
        exported: { ...from.exported, name: forkName },
        keys: new Map(
          [...from.keys].map(([key, { identifier, answer }]) => [key, { identifier, answer: rewritten(answer) }])
        )
      }
      models.push({ real: fork, state: own, baseline: own, snapshots: new Map() })
      return
    }
    case 'clock':
      await real.clock(each.setting)
      model.state = { exported: withClock(exported, each.setting), keys }
      return
    case 'advance': {
      await real.advance(each.by)
      const { clock = { mode: 'wall' } } = exported
      const later: ClockSetting =
        clock.mode === 'fixed'
          ? { mode: 'fixed', at: new Date(Date.parse(clock.at) + each.by).toISOString() }
          : { mode: 'offset', by: (clock.mode === 'offset' ? clock.by : 0) + each.by }
      model.state = { exported: withClock(exported, later), keys }
      return
    }
    case 'remove':
      if (models.length === 1) return
      await real.remove()
      models.splice(models.indexOf(model), 1)
  }
}

/** The rule of set-primary, once more; undefined: there is no such integration. */
function withPrimary(exported: SeededEnvironment, identifier: string): SeededEnvironment | undefined {
  const chosen = exported.integrations?.find((each) => each.identifier === identifier)
  if (!chosen) return undefined
  if (chosen.primary) return exported
  const integrations = exported.integrations?.map((each) => {
    if (each === chosen) return { ...each, active: true, primary: true, conditions: [] }
    return each.channel === chosen.channel ? { ...each, primary: false } : each
  })
  return { ...exported, ...(integrations && { integrations }) }
}

function withClock({ clock: _clock, ...exported }: SeededEnvironment, setting: ClockSetting): SeededEnvironment {
  return setting.mode === 'wall' ? exported : { ...exported, clock: setting }
}

function setBack(now: State, kept: State, chosen: readonly ResetPart[]): State {
  const data = chosen.includes('data') ? kept.exported : now.exported
  const time = chosen.includes('clock') ? kept.exported : now.exported
  const { randomSeed: _randomSeed, ...timeless } = withClock(data, { mode: 'wall' })
  return {
    exported: {
      ...timeless,
      ...(time.clock && { clock: time.clock }),
      ...(time.randomSeed !== undefined && { randomSeed: time.randomSeed })
    },
    keys: chosen.includes('idempotency') ? kept.keys : now.keys
  }
}

function serviceHandle({ services }: GivenMock, environment: Environment): Handle {
  const { environments, seeds, integrations, idempotency } = services
  const { id, organizationId } = environment
  return {
    id,
    organizationId,
    async setPrimary(identifier, key) {
      const run = () => answered(() => integrations.setPrimary(environment, identifier))
      if (key === undefined) return { ...shown(run()), replayed: false }
      const request = { target: `POST /${identifier}`, body: Buffer.alloc(0) }
      try {
        const outcome = idempotency.once(environment, key, request, run)
        return { ...shown(outcome), replayed: outcome.replayOf !== undefined }
      } catch (error) {
        if (error instanceof DomainError && error.code === 'key-reused')
          return { status: 422, body: '', replayed: false }
        throw error
      }
    },
    load: (mode, seed) => seeds.load(environment, { seed: seedText(seed) }, mode),
    snapshot: async (as) => void environments.snapshot(environment, as),
    removeSnapshot: async (as) => environments.removeSnapshot(environment, as),
    restore: async (from, chosen) => environments.restore(environment, from, chosen),
    reset: async (chosen) => environments.reset(environment, chosen),
    fork: async (snapshot) => {
      const wanted = { from: id, ...(snapshot !== undefined && { snapshot }) }
      return serviceHandle({ services } as GivenMock, (await seeds.createEnvironment(wanted)).environment)
    },
    clock: async (setting) => environments.change(environment, { clock: setting }),
    advance: async (by) => environments.advanceClock(environment, by),
    remove: async () => environments.remove(environment),
    exported: async () => JSON.parse([...seeds.export(environment, 'json')].join('')).environments[0]
  }
}

function answered(run: () => string): { status: number; body: Buffer } {
  try {
    return { status: 200, body: Buffer.from(run()) }
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    return { status: 404, body: Buffer.from(error.message) }
  }
}

function shown({ status, body }: { status: number; body: Buffer }) {
  return { status, body: body.toString() }
}

async function madeOverHttp(mock: GivenMock, wanted: object): Promise<Handle> {
  const made = await fetch(`${mock.url}/_mock/environments`, { method: 'POST', body: JSON.stringify(wanted) })
  expect(made.status).toBe(201)
  const {
    environmentId: id,
    organizationId,
    apiKey
  } = (await made.json()) as Record<'environmentId' | 'organizationId' | 'apiKey', string>
  const call = async (method: string, path: string, body?: unknown) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const answer = await plainCall(mock, path, apiKey, { method, ...(text !== undefined && { body: text }) })
    if (answer.status >= 400) throw new Error(answer.text)
    return answer.text
  }
  return {
    id,
    organizationId,
    async setPrimary(identifier, key) {
      const headers: Record<string, string> = key === undefined ? {} : { 'idempotency-key': key }
      const path = `/v1/integrations/${identifier}/set-primary`
      const { status, text, headers: sent } = await plainCall(mock, path, apiKey, { method: 'POST', headers })
      return { status, body: text, replayed: sent.has('idempotency-replay') }
    },
    load: async (mode, seed) => void (await call('POST', `/_mock/seed?mode=${mode}`, seedText(seed))),
    snapshot: async (as) => void (await call('PUT', `/_mock/snapshots/${as}`)),
    removeSnapshot: async (as) => void (await call('DELETE', `/_mock/snapshots/${as}`)),
    restore: async (from, chosen) => void (await call('POST', `/_mock/snapshots/${from}/restore`, { parts: chosen })),
    reset: async (chosen) => void (await call('POST', '/_mock/reset', { parts: chosen })),
    fork: (snapshot) => madeOverHttp(mock, { from: id, ...(snapshot !== undefined && { snapshot }) }),
    clock: async (setting) => void (await call('PUT', '/_mock/clock', setting)),
    advance: async (by) => void (await call('POST', '/_mock/clock/advance', { by })),
    async remove() {
      expect((await fetch(`${mock.url}/_mock/environments/${id}`, { method: 'DELETE' })).status).toBe(204)
    },
    exported: async () => JSON.parse(await call('GET', '/_mock/state')).environments[0]
  }
}

function seedText(environment: object): string {
  return JSON.stringify({ environments: [{ name: 'x', ...environment }] })
}
