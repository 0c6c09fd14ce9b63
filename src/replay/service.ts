import { DomainError } from '../domain/errors.js'
import type { Environment } from '../environments/service.js'
import type { Replay } from './replay.js'

/** Keeps the replays of the environments that `notification-mock open` has recreated. */
export class ReplayService {
  readonly #replays = new WeakMap<Environment, Replay>()

  add(environment: Environment, replay: Replay): void {
    this.#replays.set(environment, replay)
  }

  /** Returns undefined if the environment wasn't recreated from a report. */
  find(environment: Environment): Replay | undefined {
    return this.#replays.get(environment)
  }

  /** Throws `not-found` if the environment wasn't recreated from a report. */
  require(environment: Environment): Replay {
    const replay = this.find(environment)
    if (replay) return replay
    const reason = 'only environments created by notification-mock open can repeat a recorded test'
    throw new DomainError('not-found', 'There is no recorded test', { reason })
  }
}
