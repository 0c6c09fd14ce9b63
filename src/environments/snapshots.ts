import { isoTime } from '../core/clock.js'
import { RESET_PARTS, type ResetPart } from '../core/enums.js'
import { DomainError } from '../core/errors.js'
import type { Db } from '../db/open.js'
import { type Environment, type EnvironmentStore, removedError } from './environment.js'
import type { EnvironmentRow } from './repository.js'
import type { Snapshot } from './schemas.js'

/** Name of the snapshot that a reset goes back to. */
const BASELINE = ''

/**
 * A snapshot is an environment without a key, which refers to the same datasets until one of the two changes them.
 * `onReset` is called once an environment has been reset or restored.
 */
export function snapshotService(
  db: Db,
  { repository, deleteUnused, requireRow, restartRandom, update }: EnvironmentStore,
  onReset: (environment: Environment, parts: readonly ResetPart[]) => void
) {
  return {
    requireSnapshot,

    /** Saves the present state under a name, in place of an earlier snapshot of that name. */
    snapshot: (environment: Environment, name: string): Snapshot =>
      db.transaction(() => toSnapshot(save(environment, name))),

    /** Makes the present state the one that a reset goes back to. */
    setBaseline: (environment: Environment): void => db.transaction(() => void save(environment, BASELINE)),

    /** Deletes the baseline. Call it before all records are replaced, so that nothing is copied for it. */
    dropBaseline: (environment: Environment): void => db.transaction(() => remove(environment, BASELINE)),

    listSnapshots(environment: Environment): Snapshot[] {
      const rows = repository.listSnapshots(environment.key)
      const counted = new Map<number, number>()
      return rows.filter(({ snapshotName }) => snapshotName !== BASELINE).map((row) => toSnapshot(row, counted))
    },

    /** Throws `not-found` when there is no snapshot of this name. */
    removeSnapshot(environment: Environment, name: string): void {
      db.transaction(() => {
        requireSnapshot(environment, name)
        remove(environment, name)
      })
    },

    /** Sets the chosen parts back to a snapshot. Throws `not-found` when there is none of this name. */
    restore: (environment: Environment, name: string, parts: readonly ResetPart[]): void =>
      setBack(environment, parts, () => requireSnapshot(environment, name)),

    /** Sets the chosen parts back to the baseline: the state when the environment was created or seeded. */
    reset(environment: Environment, parts: readonly ResetPart[] = RESET_PARTS): void {
      setBack(environment, parts, () => requireBaseline(environment))
    },

    /** Sets all parts of some environments back to their baselines: of all of them, or of none if it throws. */
    resetAll(environments: readonly Environment[]): void {
      db.transaction(() => {
        for (const environment of environments) setRowsBack(environment, RESET_PARTS, requireBaseline(environment))
      })
      for (const environment of environments) setMemoryBack(environment, RESET_PARTS)
    }
  }

  function requireBaseline(environment: Environment): EnvironmentRow {
    const baseline = repository.findSnapshot(environment.key, BASELINE)
    if (!baseline) throw removedError(environment)
    return baseline
  }

  /** Throws `not-found` when there is no snapshot of this name. */
  function requireSnapshot(environment: Environment, name: string): EnvironmentRow {
    const snapshot = name === BASELINE ? undefined : repository.findSnapshot(environment.key, name)
    if (snapshot) return snapshot
    throw new DomainError('not-found', `Snapshot ${name} not found`, {
      reason: `this environment has no snapshot ${name}: GET /_mock/snapshots lists those it has`
    })
  }

  function save(environment: Environment, snapshotName: string): EnvironmentRow {
    const { key: snapshotOf, ...state } = requireRow(environment)
    remove(environment, snapshotName)
    return repository.insertEnvironment({ ...state, ttl: null, snapshotOf, snapshotName, createdAt: environment.now() })
  }

  function remove(environment: Environment, name: string): void {
    const snapshot = repository.findSnapshot(environment.key, name)
    if (!snapshot) return
    repository.deleteEnvironment(snapshot.key)
    deleteUnused(snapshot)
  }

  function setBack(environment: Environment, parts: readonly ResetPart[], snapshot: () => EnvironmentRow): void {
    db.transaction(() => setRowsBack(environment, parts, snapshot()))
    setMemoryBack(environment, parts)
  }

  /** `data` is the rows, the profile and the assumptions. */
  function setRowsBack(environment: Environment, parts: readonly ResetPart[], snapshot: EnvironmentRow): void {
    const { profile, assumptions, clock, randomSeed, idempotency, ...row } = snapshot
    const { integrations, subscribers, workflows, messages } = row
    update(environment, {
      ...(parts.includes('data') && { profile, assumptions, integrations, subscribers, workflows, messages }),
      ...(parts.includes('idempotency') && { idempotency }),
      ...(parts.includes('clock') && { clock, randomSeed })
    })
  }

  /** After the transaction, as this can't be rolled back. */
  function setMemoryBack(environment: Environment, parts: readonly ResetPart[]): void {
    if (parts.includes('clock')) restartRandom(environment)
    onReset(environment, parts)
  }

  function toSnapshot(row: EnvironmentRow, counted = new Map<number, number>()): Snapshot {
    const { snapshotName, createdAt, ...datasets } = row
    const { idempotency: idempotencyKeys, ...size } = repository.countRows(datasets, counted)
    return { name: snapshotName ?? BASELINE, createdAt: isoTime(createdAt), size: { ...size, idempotencyKeys } }
  }
}
