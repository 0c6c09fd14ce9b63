import type { Db } from '../db/open.js'
import { isoTime } from '../domain/clock.js'
import type { ResetPart } from '../domain/enums.js'
import { DomainError } from '../domain/errors.js'
import { diffStates } from './diff.js'
import type { Environment, EnvironmentStore } from './environment.js'
import type { EnvironmentRow } from './repository.js'
import type { EnvironmentDiff, Redact, Snapshot } from './schemas.js'

/** An environment's baseline is stored as a snapshot with this name. */
const BASELINE = ''

export interface RestoreOptions {
  parts: readonly ResetPart[]
  /** Whether to also restore the baseline that the environment had when the snapshot was taken. */
  baseline?: boolean | undefined
}

export interface DiffOptions {
  /** Whether to limit the number of compared records, so that the diff takes a few milliseconds. */
  isQuick: boolean
}

/**
 * Manages snapshots. A snapshot is stored as an environment without an API key. It shares datasets
 * with the original environment until that environment changes them. A named snapshot has its own
 * baseline: a copy of the baseline that the original environment had when the snapshot was taken.
 */
export class Snapshots {
  readonly #db: Db
  readonly #store: EnvironmentStore

  constructor(db: Db, store: EnvironmentStore) {
    this.#db = db
    this.#store = store
  }

  /** Returns the named snapshots, oldest first. */
  list({ key }: Environment): Snapshot[] {
    const rows = this.#store.repository.listSnapshots(key)
    return rows.filter((row) => row.snapshotName !== BASELINE).map((row) => this.#toSnapshot(row))
  }

  /** Throws `not-found` if there is no snapshot with this name. */
  require(environment: Environment, name: string): EnvironmentRow {
    const { repository } = this.#store
    const snapshot = name === BASELINE ? undefined : repository.findSnapshot(environment.key, name)
    if (snapshot) return snapshot
    const reason =
      `environment ${environment.name} has no snapshot ${name}; ` +
      'GET /_mock/snapshots lists its snapshots'
    throw new DomainError('not-found', `Snapshot ${name} not found`, { reason })
  }

  /**
   * Saves the current state and the baseline under a name. Replaces any earlier snapshot of the
   * same name.
   */
  take(environment: Environment, name: string): Snapshot {
    return this.#db.transaction(() => {
      const baseline = this.#findBaseline(environment)
      const snapshot = this.#save(environment, name)
      if (baseline) this.#copyBaseline(baseline, snapshot)
      return this.#toSnapshot(snapshot)
    })
  }

  /** Throws `not-found` if there is no snapshot with this name. */
  remove(environment: Environment, name: string): void {
    this.#delete(this.require(environment, name))
  }

  /** Makes the current state the baseline, which a reset restores. */
  setBaseline(environment: Environment): void {
    this.#save(environment, BASELINE)
  }

  /** Returns the baseline, or the current state if there is none. */
  baselineOf(environment: Environment): EnvironmentRow {
    return this.#findBaseline(environment) ?? this.#store.requireRow(environment)
  }

  /** Returns how the current state differs from the baseline. */
  diffBaseline(
    environment: Environment,
    redact: Redact,
    { isQuick }: DiffOptions = { isQuick: false }
  ): EnvironmentDiff {
    const current = this.#store.requireRow(environment)
    return this.#diff(current, this.#findBaseline(environment) ?? current, { redact, isQuick })
  }

  /**
   * Returns how the current state differs from a snapshot. Throws `not-found` if there is no
   * snapshot with this name.
   */
  diffSnapshot(environment: Environment, name: string, redact: Redact): EnvironmentDiff {
    const current = this.#store.requireRow(environment)
    return this.#diff(current, this.require(environment, name), { redact, isQuick: false })
  }

  /**
   * Restores the parts from a snapshot. With `baseline`, also restores the baseline that the
   * environment had when the snapshot was taken. Throws `not-found` if there is no snapshot with
   * this name.
   */
  restore(environment: Environment, name: string, { parts, baseline }: RestoreOptions): void {
    this.#db.transaction(() => {
      const snapshot = this.require(environment, name)
      this.#setBack(environment, snapshot, parts)
      if (baseline) this.#restoreBaseline(environment, snapshot)
    })
    this.#notifyReset(environment, parts)
  }

  /**
   * Restores the parts of each environment from its baseline. If the reset of one environment
   * fails, no environment changes.
   */
  reset(environments: readonly Environment[], parts: readonly ResetPart[]): void {
    this.#db.transaction(() => {
      for (const environment of environments) {
        const baseline = this.baselineOf(environment)
        this.#setBack(environment, baseline, parts)
      }
    })
    for (const environment of environments) this.#notifyReset(environment, parts)
  }

  #diff(
    current: EnvironmentRow,
    earlier: EnvironmentRow,
    options: DiffOptions & { redact: Redact }
  ): EnvironmentDiff {
    const states = { client: this.#db.client, repository: this.#store.repository, ...options }
    return diffStates(states, current, earlier)
  }

  #restoreBaseline(environment: Environment, snapshot: EnvironmentRow): void {
    const saved = this.#findBaseline(snapshot)
    // Snapshots that an older version saved in the data file have no baseline.
    if (!saved) return
    const current = this.#findBaseline(environment)
    if (current) this.#delete(current)
    this.#copyBaseline(saved, environment)
  }

  #copyBaseline({ key: _key, ...baseline }: EnvironmentRow, to: { key: number }): void {
    this.#store.repository.insertEnvironment({ ...baseline, snapshotOf: to.key })
  }

  /** Returns the baseline of an environment or of a snapshot. */
  #findBaseline({ key }: { key: number }): EnvironmentRow | undefined {
    return this.#store.repository.findSnapshot(key, BASELINE)
  }

  #save(environment: Environment, snapshotName: string): EnvironmentRow {
    const { repository } = this.#store
    return this.#db.transaction(() => {
      const { key: snapshotOf, ...state } = this.#store.requireRow(environment)
      const earlier = repository.findSnapshot(snapshotOf, snapshotName)
      if (earlier) this.#delete(earlier)
      return repository.insertEnvironment({
        ...state,
        ttl: null,
        snapshotOf,
        snapshotName,
        createdAt: environment.now()
      })
    })
  }

  #delete(snapshot: EnvironmentRow): void {
    const { repository } = this.#store
    this.#db.transaction(() => repository.deleteWithSnapshots(snapshot))
  }

  #setBack(environment: Environment, state: EnvironmentRow, parts: readonly ResetPart[]): void {
    const { profile, assumptions, integrations, subscribers, workflows, messages } = state
    const { stubs, idempotency, clock, randomSeed } = state
    const data = { profile, assumptions, integrations, subscribers, workflows, messages, stubs }
    this.#store.update(environment, {
      ...(parts.includes('data') && data),
      ...(parts.includes('idempotency') && { idempotency }),
      ...(parts.includes('clock') && { clock, randomSeed })
    })
  }

  /** Must be called after the transaction, because a rollback can't undo what the listeners do. */
  #notifyReset(environment: Environment, parts: readonly ResetPart[]): void {
    for (const listener of this.#store.listeners) listener.onReset?.(environment, parts)
  }

  #toSnapshot(row: EnvironmentRow): Snapshot {
    const { idempotency: idempotencyKeys, ...size } = this.#store.repository.countRows(row)
    return {
      name: row.snapshotName ?? '',
      createdAt: isoTime(row.createdAt),
      size: { ...size, idempotencyKeys }
    }
  }
}
