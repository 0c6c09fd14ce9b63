import type { Connection } from './connection.js'
import type { ClockSetting, ClockState, RandomSetting } from './control-api.js'
import { type Duration, milliseconds } from './duration.js'

/** A time to stop a clock at, or the setting of a clock. */
export type ClockTime = string | Date | ClockSetting

/** The time of an environment. */
export interface Clock {
  get(): Promise<ClockState>
  /** Stops the clock at a time, shifts it, or lets it follow the machine again: `{ mode: 'wall' }`. */
  set(time: ClockTime): Promise<ClockState>
  advance(by: Duration): Promise<ClockState>
}

/** Where the random values of an environment come from. */
export interface RandomValues {
  /** Returns their seed; null if they are not repeatable. */
  get(): Promise<number | null>
  /** Makes them the same for the same seed; null: not repeatable. */
  set(randomSeed: number | null): Promise<void>
}

export function clockOf(connection: Connection): Clock {
  return {
    get: () => connection.json('GET', '/_mock/clock'),
    set: (time) => connection.json('PUT', '/_mock/clock', { body: clockSetting(time) }),
    advance: async (by) => connection.json('POST', '/_mock/clock/advance', { body: { by: milliseconds(by) } })
  }
}

export function randomOf(connection: Connection): RandomValues {
  return {
    get: async () => (await connection.json<RandomSetting>('GET', '/_mock/chance')).randomSeed,
    set: (randomSeed) => connection.done('PUT', '/_mock/chance', { body: { randomSeed } })
  }
}

function clockSetting(time: ClockTime): ClockSetting {
  if (time instanceof Date) return { mode: 'fixed', at: time.toISOString() }
  return typeof time === 'string' ? { mode: 'fixed', at: time } : time
}
