import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { isoTime, parseTime } from '../../core/clock.js'
import { invalidFields } from '../../core/errors.js'
import { ref } from '../../core/typebox.js'
import { ClockSetting } from '../../environments/schemas.js'
import type { Environment, EnvironmentService } from '../../environments/service.js'
import { controlRoute } from '../../http/control-route.js'
import { AdvanceRequest, ClockState, RandomSetting } from './schemas.js'

interface Options {
  environments: EnvironmentService
}

/** Time and random values in one environment. */
export const clockRoutes: FastifyPluginAsyncTypebox<Options> = async (app, { environments }) => {
  app.route({
    ...controlRoute({
      id: 'readClock',
      method: 'GET',
      url: '/clock',
      summary: 'Get the clock',
      tag: 'Clock',
      response: ref(ClockState)
    }),
    handler: ({ environment }) => toClockState(environment)
  })

  app.route({
    ...controlRoute({
      id: 'setClock',
      method: 'PUT',
      url: '/clock',
      summary: 'Set the clock',
      description: 'Stop it at a time, shift it, or let it follow the machine again.',
      tag: 'Clock',
      body: ref(ClockSetting),
      response: ref(ClockState)
    }),
    handler: ({ environment, body }) => {
      environments.setClock(environment, body.mode === 'fixed' ? { mode: 'fixed', at: toIsoTime(body.at) } : body)
      return toClockState(environment)
    }
  })

  app.route({
    ...controlRoute({
      id: 'advanceClock',
      method: 'POST',
      url: '/clock/advance',
      summary: 'Advance the clock',
      tag: 'Clock',
      body: ref(AdvanceRequest),
      response: ref(ClockState)
    }),
    handler: ({ environment, body }) => {
      environments.advanceClock(environment, body.by)
      return toClockState(environment)
    }
  })

  app.route({
    ...controlRoute({
      id: 'readChance',
      method: 'GET',
      url: '/chance',
      summary: 'Get the seed of random values',
      tag: 'Clock',
      response: ref(RandomSetting)
    }),
    handler: ({ environment }) => ({ randomSeed: environment.randomSeed })
  })

  app.route({
    ...controlRoute({
      id: 'setChance',
      method: 'PUT',
      url: '/chance',
      summary: 'Set the seed of random values',
      description: 'Ids, keys and the choices of fault rules then repeat themselves, until it is set to null.',
      tag: 'Clock',
      body: ref(RandomSetting),
      response: ref(RandomSetting)
    }),
    handler: ({ environment, body }) => {
      environments.setRandomSeed(environment, body.randomSeed)
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
