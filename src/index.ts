import type { Profile } from './core/assumptions.js'
import { StartError } from './core/errors.js'
import { nodeVersionComplaint } from './core/node-version.js'
import { type ServerOptions, startServer } from './server.js'

export type { Config } from './config.js'
export type { Profile } from './core/assumptions.js'
export { StartError } from './core/errors.js'
export { SeedError, type SeedIssue } from './seeds/errors.js'
export type { SeedChange } from './seeds/reseed.js'
export type { SeedReload } from './seeds/watch.js'

export type MockOptions = ServerOptions

export interface MockEnvironment {
  id: string
  organizationId: string
  name: string
  profile: Profile
  /** Those that the seeds name; keys are not stored, so a key of an older seed is not told. */
  apiKeys: string[]
}

/** A running server. */
export interface Mock {
  /** Without a slash at the end. */
  url: string
  port: number
  environments: MockEnvironment[]
  /** False: the data file already held environments, and the seeds were left aside. */
  seeded: boolean
  /**
   * Finishes what is in flight, then closes the database. What is not finished after the grace, 5000 ms if left out, is
   * cut. Calling it again can shorten the grace.
   */
  close(grace?: number): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Starts a server in this process, on a free port unless told otherwise. Several may run side by side; nothing is
 * shared between them, no signal is handled, and nothing is logged unless asked for.
 *
 * Throws StartError, with the remedy, when it can't start, and SeedError, with every mistake, for a bad seed.
 */
export async function createMock(options: MockOptions = {}): Promise<Mock> {
  const complaint = nodeVersionComplaint()
  if (complaint) throw new StartError(complaint)
  const { port = 0, logLevel = 'silent' } = options
  const { url, services, worlds, seeded, close, ...server } = await startServer({ ...options, port, logLevel })
  const apiKeys = worlds.flatMap((world) => world.apiKeys)
  return {
    url,
    port: server.port,
    environments: services.environments.list().map(({ id, organizationId, name, profile }) => ({
      id,
      organizationId,
      name,
      profile,
      apiKeys: apiKeys.filter((apiKey) => services.environments.resolve(apiKey)?.id === id)
    })),
    seeded,
    close,
    [Symbol.asyncDispose]: () => close()
  }
}
