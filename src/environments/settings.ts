import type { DatasetKind } from '../domain/enums.js'
import type { Environment } from './environment.js'
import type { EnvironmentRow } from './repository.js'

/** An environment's own settings, without those that it inherits from the server. */
export type Settings = Pick<
  EnvironmentRow,
  'organizationId' | 'name' | 'profile' | 'assumptions' | 'clock' | 'randomSeed' | 'stubs'
>

/** The settings of a new, empty environment. The `id` must be unused. */
export type NewEnvironment = Pick<Settings, 'organizationId' | 'name'> &
  Partial<Settings & Pick<EnvironmentRow, 'id' | 'ttl'>>

/**
 * The environment to create. Omitted settings come from the forked environment, the seed or the
 * defaults.
 */
export interface CreateOptions extends Partial<Omit<NewEnvironment, 'id'>> {
  /** Id or name of the environment to fork. */
  from?: string | undefined
  /**
   * Name of a snapshot of `from`. If given, the snapshot is forked instead of the current state of
   * `from`.
   */
  snapshot?: string | undefined
  apiKey?: string | undefined
}

/** A seed that has been read, ready to be written to a new environment. */
export interface PreparedSeed {
  name?: string | undefined
  /**
   * Writes the seed to the new environment. `origin` is the forked environment, if there is one.
   */
  applyTo(environment: Environment, origin: Environment | undefined): void
}

/** A baseline that stays readable after its environment is changed or removed. */
export interface KeptBaseline {
  /** A copy of the environment that refers to the baseline's datasets, not the current ones. */
  environment: Environment
  settings: Settings
  /** Counts the rows in each dataset. */
  countRows: () => Record<DatasetKind, number>
  /** Lets the baseline be deleted. Call this once, after the last read. */
  release: () => void
}
