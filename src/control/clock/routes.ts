import { type Static, Type } from '@sinclair/typebox'
import type { FastifyPluginAsync } from 'fastify'
import { isoTime } from '../../core/clock.js'
import { dateTime, namedObject, nullable, ref } from '../../core/typebox.js'
import { ClockSetting, MAX_OFFSET } from '../../environments/schemas.js'
import type { Environment } from '../../environments/service.js'
import { controlRoutes } from '../../http/control-route.js'
import type { Services } from '../services.js'
import { toClockSetting } from './setting.js'

export const ClockState = namedObject('ClockState', 'The setting of the clock, and its time', {
  setting: ref(ClockSetting),
  now: dateTime('The time of the environment')
})
export type ClockState = Static<typeof ClockState>

const AdvanceRequest = namedObject('AdvanceRequest', 'How far to advance the clock', {
  by: Type.Integer({ minimum: 1, maximum: MAX_OFFSET, format: 'int64', description: 'Milliseconds' })
})

const RandomSeed = {
  minimum: 0,
  maximum: 4294967295,
  format: 'int64',
  description: 'Seed of the random values, which the same seed repeats; null: not repeatable'
}
export const RandomSetting = namedObject('RandomSetting', 'Where random values come from', {
  randomSeed: nullable(Type.Integer(RandomSeed))
})
export type RandomSetting = Static<typeof RandomSetting>

/** Time and random values in one environment. */
export const clockRoutes: FastifyPluginAsync<Services> = async (app, { environments }) => {
  const route = controlRoutes(app, { tag: 'Clock' })

  route('GET', '/clock', {
    id: 'getClock',
    summary: 'Get the clock',
    response: ref(ClockState),
    handler: async ({ environment }) => toClockState(environment)
  })

  route('PUT', '/clock', {
    id: 'setClock',
    summary: 'Set the clock',
    description: 'Stop it at a time, shift it, or let it follow the machine again.',
    body: ref(ClockSetting),
    response: ref(ClockState),
    handler: async ({ environment, body }) => {
      environments.change(environment, { clock: toClockSetting('', body) })
      return toClockState(environment)
    }
  })

  route('POST', '/clock/advance', {
    id: 'advanceClock',
    summary: 'Advance the clock',
    body: ref(AdvanceRequest),
    response: ref(ClockState),
    handler: async ({ environment, body }) => {
      environments.advanceClock(environment, body.by)
      return toClockState(environment)
    }
  })

  route('GET', '/chance', {
    id: 'getRandomSeed',
    summary: 'Get the seed of random values',
    response: ref(RandomSetting),
    handler: async ({ environment: { randomSeed } }) => ({ randomSeed })
  })

  route('PUT', '/chance', {
    id: 'setRandomSeed',
    summary: 'Set the seed of random values',
    description: 'Ids of errors and the choices of fault rules then repeat themselves, until it is set to null.',
    body: ref(RandomSetting),
    response: ref(RandomSetting),
    handler: async ({ environment, body: { randomSeed } }) => {
      environments.change(environment, { randomSeed })
      return { randomSeed }
    }
  })
}

const toClockState = ({ clock, now }: Environment) => ({ setting: clock, now: isoTime(now()) })
