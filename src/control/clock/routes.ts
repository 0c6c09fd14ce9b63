import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { isoTime, parseTime } from '../../core/clock.js'
import { invalidFields } from '../../core/errors.js'
import { ref } from '../../core/typebox.js'
import { ClockSetting } from '../../environments/schemas.js'
import type { Environment, EnvironmentService } from '../../environments/service.js'
import { controlRoutes } from '../../http/control-route.js'
import { AdvanceRequest, ClockState, RandomSetting } from './schemas.js'

const route = controlRoutes({ tag: 'Clock' })

/** Time and random values in one environment. */
export const clockRoutes: FastifyPluginAsyncTypebox<{ environments: EnvironmentService }> = async (
  app,
  { environments }
) => {
  app.route({
    ...route('GET', '/clock', { id: 'readClock', summary: 'Get the clock', response: ref(ClockState) }),
    handler: async ({ environment }) => toClockState(environment)
  })

  app.route({
    ...route('PUT', '/clock', {
      id: 'setClock',
      summary: 'Set the clock',
      description: 'Stop it at a time, shift it, or let it follow the machine again.',
      body: ref(ClockSetting),
      response: ref(ClockState)
    }),
    handler: async ({ environment, body }) => {
      environments.change(environment, {
        clock: body.mode === 'fixed' ? { mode: 'fixed', at: toIsoTime(body.at) } : body
      })
      return toClockState(environment)
    }
  })

  app.route({
    ...route('POST', '/clock/advance', {
      id: 'advanceClock',
      summary: 'Advance the clock',
      body: ref(AdvanceRequest),
      response: ref(ClockState)
    }),
    handler: async ({ environment, body }) => {
      environments.advanceClock(environment, body.by)
      return toClockState(environment)
    }
  })

  app.route({
    ...route('GET', '/chance', {
      id: 'readChance',
      summary: 'Get the seed of random values',
      response: ref(RandomSetting)
    }),
    handler: async ({ environment }) => ({ randomSeed: environment.randomSeed })
  })

  app.route({
    ...route('PUT', '/chance', {
      id: 'setChance',
      summary: 'Set the seed of random values',
      description: 'Ids, keys and the choices of fault rules then repeat themselves, until it is set to null.',
      body: ref(RandomSetting),
      response: ref(RandomSetting)
    }),
    handler: async ({ environment, body }) => {
      environments.change(environment, { randomSeed: body.randomSeed })
      return { randomSeed: environment.randomSeed }
    }
  })
}

function toClockState({ clock, now }: Environment): ClockState {
  return { setting: clock, now: isoTime(now()) }
}

function toIsoTime(text: string): string {
  const time = parseTime(text)
  if (time !== undefined) return isoTime(time)
  throw invalidFields({ at: { messages: ['at must be a time in ISO 8601, with its zone'], value: text } })
}
