import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { deflateRawSync } from 'node:zlib'
import {
  type ConnectedMock,
  type ConnectOptions,
  connect,
  type ListedEnvironment
} from './client/index.js'
import { type Report, type RunFacts, reportOf } from './client/report.js'
import { StartError } from './domain/errors.js'
import { packageRoot, unsupportedNodeMessage } from './platform/package.js'
import { replaceFileSync } from './platform/replace-file.js'
import type { RunningServer, ServerOptions } from './server.js'

export { HINT_IDS, hintsOf } from './client/hints.js'
export * from './client/index.js'
export { reportOf } from './client/report.js'
export type { Config } from './config.js'
export type { Profile } from './domain/assumptions.js'
export { StartError } from './domain/errors.js'
export { SeedError, type SeedIssue } from './seeds/errors.js'
export type { SeedChange } from './seeds/service.js'
export type { SeedReload } from './seeds/watch.js'
export type { MockLogger } from './server.js'

export interface MockOptions extends ServerOptions, Pick<ConnectOptions, 'fetch'> {
  /** Let the process end while the server runs, as it does when a `close()` is forgotten. */
  unref?: boolean | undefined
}

export interface MockEnvironment
  extends Pick<ListedEnvironment, 'organizationId' | 'name' | 'profile'> {
  id: string
  /** The keys that the seeds name. `mock.apiKeys` has those of the present. */
  apiKeys: string[]
}

/** A running server, and a client of it. */
export interface Mock extends RunningServer, ConnectedMock {
  /** Those of the start. `listEnvironments` has all that there are. */
  environments: MockEnvironment[]
  /**
   * Writes what all tests have done as one HTML file, which opens without a network, and returns it. Rejects with the error
   * of the system if the file can't be written.
   */
  report(file: string, facts?: RunFacts): Promise<Report>
  /** Closes the server. */
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
  const { unref, fetch, ...serverOptions } = options
  const { port = 0, logLevel = 'silent', adminToken } = options
  const { app, db, services, loadSeeds, ...running } = await startServer({
    ...serverOptions,
    port,
    logLevel
  })
  if (unref) {
    app.server.unref()
    app.server.on('connection', (socket) => socket.unref())
  }
  const { environments } = services
  const client = connect(running.url, { adminToken, fetch })
  return {
    ...client,
    ...running,
    async report(file, facts) {
      const report = reportOf(await client.runRecord(), facts)
      const page = readFileSync(join(packageRoot(), 'dist/inspector/report.html'), 'utf8')
      const data = deflateRawSync(JSON.stringify(report)).toString('base64')
      const script = `<script id="report" type="text/plain" data-encoding="deflate-raw">${data}</script>`
      // Only its owner can read it.
      replaceFileSync(
        file,
        page.replace('<script id="report" type="application/json"></script>', script),
        0o600
      )
      return report
    },
    environments: environments.list().map((environment) => {
      const { id, organizationId, name, profile } = environment
      return {
        id,
        organizationId,
        name,
        profile,
        apiKeys: [...environments.apiKeysOf(environment)]
      }
    }),
    [Symbol.asyncDispose]: () => running.close()
  }
}
