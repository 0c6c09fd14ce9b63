import type { Profile } from './core/assumptions.js'
import { StartError } from './core/errors.js'
import { unsupportedNodeMessage } from './core/node-version.js'
import type { RunningServer, ServerOptions } from './server.js'

export type { Config } from './config.js'
export type { Profile } from './core/assumptions.js'
export { StartError } from './core/errors.js'
export { SeedError, type SeedIssue } from './seeds/errors.js'
export type { SeedChange } from './seeds/service.js'
export type { SeedReload } from './seeds/watch.js'
export type { MockLogger } from './server.js'

export type MockOptions = ServerOptions

export interface MockEnvironment {
  id: string
  organizationId: string
  name: string
  profile: Profile
  /** The keys that the seeds name. Keys are stored as hashes, so those of an earlier seed are not listed. */
  apiKeys: string[]
}

/** A running server. */
export interface Mock extends RunningServer {
  environments: MockEnvironment[]
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Starts a server in this process, by default on a free port and without a log. Several can run side by side; they
 * share nothing. No signal handler is installed.
 *
 * Rejects with `StartError`, whose message names the remedy, when it can't start, and with `SeedError`, which lists
 * every issue, for a bad seed.
 */
export async function createMock(options: MockOptions = {}): Promise<Mock> {
  const unsupported = unsupportedNodeMessage()
  if (unsupported) throw new StartError(unsupported)
  // Not imported above: it loads the database addon, which can crash on a Node that it was not made for.
  const { startServer } = await import('./server.js')
  const { port = 0, logLevel = 'silent' } = options
  const server = await startServer({ ...options, port, logLevel })
  const { url, services, seededEnvironments, seeded, close } = server
  const apiKeys = seededEnvironments.flatMap((environment) => environment.apiKeys)
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
