import {
  type ConnectedMock,
  type ConnectOptions,
  connectInProcess,
  connect as connectOverFetch,
  type ListedEnvironment,
  type RunRecordOptions
} from './client/index.js'
import { type Report, type RunFacts, reportOf } from './client/report.js'
import { StartError } from './domain/errors.js'
import { directFetch } from './platform/direct-fetch.js'
import { MARK_EXTERNAL, unsupportedNodeMessage } from './platform/package.js'
import { createPlainLogger } from './platform/plain-logger.js'
import { writeReport } from './platform/report-template.js'
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
  /**
   * Lets the process exit while the server is still running, for example if you forget `close()`.
   */
  unref?: boolean | undefined
}

export interface MockEnvironment
  extends Pick<ListedEnvironment, 'organizationId' | 'name' | 'profile'> {
  id: string
  /** The API keys right after the start. `mock.apiKeys()` returns the current keys. */
  apiKeys: string[]
}

/** Facts about the run to show in its report, and options for the data that the report includes. */
export interface ReportOptions extends RunFacts, RunRecordOptions {}

/** A running server and a client for it. */
export interface Mock extends RunningServer, ConnectedMock {
  /**
   * The environments right after the start. `listEnvironments()` returns the current environments.
   */
  environments: MockEnvironment[]
  /**
   * Writes the run report to a single HTML file that works offline, and returns the report's data.
   * By default, only failed tests have their starting state in the report. Rejects with the system
   * error if the file can't be written.
   */
  report(file: string, options?: ReportOptions): Promise<Report>
  /** Closes the server. */
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Returns a client for the server at `url`. Doesn't send a request yet. By default, the client
 * works even while a test replaces the global `fetch` or the timers.
 *
 * Throws `MockError` if `url` isn't a valid server URL. The client's methods reject with
 * `MockError` if they fail.
 */
export function connect(
  url: string,
  { fetch = directFetch, ...options }: ConnectOptions = {}
): ConnectedMock {
  return connectOverFetch(url, { ...options, fetch })
}

/**
 * Starts a server in this process. By default, it listens on a free port and logs only
 * warnings, as plain lines on stderr. You can start several servers; they don't share any state.
 * Doesn't install signal handlers.
 *
 * Rejects with `StartError` if the server can't start; the error's message says how to fix it.
 * Rejects with `SeedError` if a seed is invalid; the error lists every issue.
 */
export async function createMock(options: MockOptions = {}): Promise<Mock> {
  const unsupported = unsupportedNodeMessage()
  if (unsupported) throw new StartError(unsupported)
  // Import the server only after the check, because loading the database addon can crash an old
  // version of Node.
  const { startServer } = await import('./server.js').catch(rethrowBundled)
  const { unref, fetch = directFetch, ...serverOptions } = options
  const { port = 0, logLevel = 'warn', adminToken } = options
  const logger =
    options.logger ??
    (options.logLevel ? undefined : createPlainLogger((await import('pino')).default, 'warn'))
  const { app, db, services, loadSeeds, ...running } = await startServer({
    ...serverOptions,
    port,
    logLevel,
    ...(logger && { logger })
  })
  if (unref) {
    app.server.unref()
    app.server.on('connection', (socket) => socket.unref())
  }
  const { environments, stubs } = services
  const client = connectInProcess(running.url, { adminToken, fetch }, (respond) =>
    stubs.functions.register(respond)
  )
  return {
    ...client,
    ...running,
    async report(file, { states = 'failed', ...facts } = {}) {
      const report = reportOf(await client.runRecord({ states }), facts)
      writeReport(file, report)
      return report
    },
    environments: environments.list().map((environment) => ({
      id: environment.id,
      organizationId: environment.organizationId,
      name: environment.name,
      profile: environment.profile,
      apiKeys: [...environments.apiKeysOf(environment)]
    })),
    [Symbol.asyncDispose]: () => running.close()
  }
}

/**
 * Throws `StartError` if a bundler has put the database addon into an ES module, where the addon's
 * code can't call `require`. Throws other errors unchanged.
 */
function rethrowBundled(error: Error): never {
  if (!/^Dynamic require of/.test(error.message)) throw error
  throw new StartError(`the database addon was not found: ${MARK_EXTERNAL}`, { cause: error })
}
