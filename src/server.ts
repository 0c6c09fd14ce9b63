import { once } from 'node:events'
import { createWriteStream, existsSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream/promises'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { type Logger, pino } from 'pino'
import { buildApp, createServices, type Services } from './app.js'
import { type Config, configOf, DEFAULTS, reachableHost } from './config.js'
import { type DatabaseImage, type Db, openDatabase, toStartError } from './db/open.js'
import {
  type DefaultImage,
  keepDefaultImage,
  readDefaultImage,
  readDefaultImageNow
} from './default-database.js'
import { type Clock, wallClock } from './domain/clock.js'
import { StartError } from './domain/errors.js'
import { lazily } from './domain/lazily.js'
import { createGracefulClose } from './http/graceful-close.js'
import { requireWritable } from './platform/output-file.js'
import { replaceFile } from './platform/replace-file.js'
import { writeToStderr } from './platform/stderr.js'
import { clearInterval, setInterval } from './platform/timers.js'
import type { SeedFile } from './seeds/read.js'
import type { SeedService } from './seeds/service.js'
import type { SeedReload } from './seeds/watch.js'
import { readStubSet } from './stubs/built-in.js'

/** A pino logger, or any logger with the same methods. */
export interface MockLogger
  extends Record<
    'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal',
    (fields: object, message?: string) => void
  > {
  level: string
  isLevelEnabled(level: string): boolean
  child(bindings: Record<string, unknown>): MockLogger
}

export type ServerOptions = { [Name in keyof Config]?: Config[Name] | undefined } & {
  /**
   * A seed as YAML, JSON or an object, which is applied after `seeds`. If you set only `seed`, the
   * default seed isn't applied.
   */
  seed?: string | object
  /** Returns the current time in milliseconds since 1970. Default: the system clock. */
  clock?: Clock
  /** Replaces the default logger, which writes JSON lines to stderr at `logLevel`. */
  logger?: MockLogger
  /**
   * Watches the files in `seeds` and reloads them when they change. After each reload, calls the
   * function with the applied changes, or with the error if nothing was applied.
   */
  watch?: ((reload: SeedReload) => void) | undefined
}

export interface RunningServer {
  /** The URL of the server, without a trailing slash. */
  url: string
  port: number
  /** False if the seeds were not applied because the data file already contained environments. */
  seeded: boolean
  /** Resets every environment to its baseline. Returns the names of the environments. */
  resetAll(): string[]
  /**
   * Waits for requests in progress, then closes the server and the database. Connections that are
   * still busy after `grace` milliseconds (5000 by default) are closed. You can call `close` again
   * with a shorter `grace`.
   */
  close(grace?: number): Promise<void>
}

/** A listening server and its internal parts. */
export interface Server extends RunningServer {
  app: FastifyInstance
  db: Db
  services: Services
  /**
   * Returns the seed service. It is loaded on the first call, because starting with only the
   * default seed doesn't need it.
   */
  loadSeeds: () => Promise<SeedService>
}

/**
 * Opens and seeds the database, and starts to listen. Rejects with the same errors as `createMock`.
 * If it rejects, the database and the server are closed.
 */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { clock = wallClock } = options
  const config = toConfig(options)
  checkOptions(options, config)
  const logger = createLogger(options, config)
  // Create the watcher before reading the seeds, so that it notices changes during startup.
  const seedWatch = await createSeedWatch(options, config, logger)
  const source = await readSeedSource(options, config, logger)
  const database = openDatabase(config.data, { image: chooseDatabaseImage(source, config, clock) })
  let app: FastifyInstance | undefined
  try {
    const { db } = database
    const stubSet = config.stubs && readStubSet(config.stubs)
    const services = createServices({ ...config, db, clock, defaults: { ...config, stubSet } })
    const loadSeeds = lazily(() => loadSeedService(db, clock, services))
    const { seeded, seeds } = await seedDatabase(source, { db, services, loadSeeds, seedWatch })
    app = buildApp({ ...config, services, loadSeeds, clock, logger })
    logLostFile(app, db)
    app.addHook('preClose', async () => seedWatch?.watcher.stop())
    const exporter = closeDatabaseOnClose(app, config, { loadSeeds, close: database.close })
    const close = createGracefulClose(app)
    if (config.exportOnExit) requireWritable(config.exportOnExit)
    const port = await listen(app, config)
    exporter.enable()
    if (seedWatch && seeds) startWatching(seedWatch, seeds, services, app.log)
    const url = `http://${reachableHost(config.host)}:${port}`
    const resetAll = () => resetEnvironments(services)
    return { url, port, app, db, services, loadSeeds, seeded, resetAll, close }
  } catch (error) {
    await app?.close()
    database.close()
    throw toStartError(error, config.data)
  }
}

function toConfig({ seed, clock, logger, watch, ...options }: ServerOptions): Config {
  const defaultSeeds = seed === undefined ? undefined : []
  return configOf({ ...options, seeds: options.seeds ?? defaultSeeds })
}

/**
 * Throws `StartError` if an option has the wrong type, because JavaScript callers may pass
 * anything.
 */
function checkOptions({ seed, clock = wallClock, watch }: ServerOptions, { seeds }: Config): void {
  if (typeof clock !== 'function') {
    throw new StartError(
      'clock must be a function that returns milliseconds, ' +
        'such as () => Date.parse("2026-02-18")'
    )
  }
  if (watch !== undefined && typeof watch !== 'function') {
    throw new StartError('watch must be a function that receives the result of each reload')
  }
  if (watch && seeds.length === 0) {
    throw new StartError('there are no files to watch; add files to `seeds`')
  }
  if (watch && seeds.includes('-')) {
    throw new StartError("standard input can't be watched; save the seed as a file")
  }
  // Without this check, the file name itself would be parsed as the content of a seed.
  if (typeof seed === 'string' && /^\S+\.(ya?ml|json)$/.test(seed)) {
    throw new StartError(`seed must be the content of a seed; to load ${seed}, add it to \`seeds\``)
  }
}

interface SeedWatch {
  watcher: ReturnType<typeof import('./seeds/watch.js')['watchSeeds']>
  reloaded: typeof import('./seeds/watch.js')['reloaded']
  report: (reload: SeedReload) => void
  readSeeds: () => SeedFile[]
}

async function createSeedWatch(
  options: ServerOptions,
  config: Config,
  logger: Logger
): Promise<SeedWatch | undefined> {
  if (!options.watch) return undefined
  const { reloaded, watchSeeds } = await import('./seeds/watch.js')
  const watcher = watchSeeds(config.seeds)
  const readSeeds = await loadSeedReader(options, config, logger)
  return { watcher, reloaded, report: options.watch, readSeeds }
}

/** The source of the initial data: the prepared image of the default seed, or seed files. */
type SeedSource =
  | { kind: 'image'; image: DefaultImage }
  | { kind: 'files'; files: SeedFile[]; isDefault: boolean }

async function readSeedSource(
  options: ServerOptions,
  config: Config,
  logger: Logger
): Promise<SeedSource> {
  const isDefault = isDefaultSeed(options, config)
  const image = isDefault ? readDefaultImageNow(options.clock) : undefined
  if (image) return { kind: 'image', image }
  const readSeeds = await loadSeedReader(options, config, logger)
  return { kind: 'files', files: readSeeds(), isDefault }
}

/** Returns whether the server starts in memory with only the default seed. */
function isDefaultSeed({ seed, watch }: ServerOptions, { data, seeds, stubs }: Config): boolean {
  if (watch || data || stubs || seed !== undefined) return false
  // A file named `default` takes precedence over the built-in seed.
  return seeds.join() === DEFAULTS.seeds.join() && !existsSync('default')
}

/** Returns a function that reads the seeds and logs hints about them. */
async function loadSeedReader(
  { seed }: ServerOptions,
  { seeds }: Config,
  logger: Logger
): Promise<() => SeedFile[]> {
  const { findSeedHints, formatIssue, readSeeds } = await import('./seeds/service.js')
  const inline = seed === undefined ? [] : [{ name: 'seed', seed }]
  return () => {
    const files = readSeeds([...seeds, ...inline])
    for (const hint of findSeedHints(files)) logger.warn(`seed ${formatIssue(hint)}`)
    return files
  }
}

/**
 * Returns the prepared database image to start from. If the initial data doesn't come from the
 * image, only the image's schema is used, which is still faster than running the migrations.
 * Returns undefined if the data is kept in a file, or if there is no image.
 */
function chooseDatabaseImage(
  source: SeedSource,
  { data }: Config,
  clock: Clock
): DatabaseImage | undefined {
  if (data) return undefined
  if (source.kind === 'image') {
    return { kind: 'data', database: source.image.database, now: clock() }
  }
  const image = readDefaultImage()
  return image && { kind: 'schema', database: image.database }
}

async function loadSeedService(
  db: Db,
  clock: Clock,
  { environments }: Services
): Promise<SeedService> {
  const { seedService } = await import('./seeds/service.js')
  return seedService({ db, clock, environments })
}

interface SeedDependencies extends Pick<Server, 'db' | 'services' | 'loadSeeds'> {
  seedWatch: SeedWatch | undefined
}

/**
 * Applies the seeds, unless the database was created from the image, which already contains the
 * default seed. In that case, the seed service isn't loaded, so the result has no `seeds`.
 */
async function seedDatabase(
  source: SeedSource,
  { db, services, loadSeeds, seedWatch }: SeedDependencies
): Promise<{ seeded: boolean; seeds?: SeedService }> {
  if (source.kind === 'image') {
    for (const apiKey of source.image.apiKeys) services.environments.rememberApiKey(apiKey)
    return { seeded: true }
  }
  const seeds = await loadSeeds()
  // With `watch`, pass no files to load the generator in any case: a changed seed may need it.
  await seeds.loadGenerator(seedWatch ? undefined : source.files)
  const { applied, environments, now } = seeds.seed(source.files)
  if (source.isDefault) {
    const apiKeys = environments.flatMap((environment) => environment.apiKeys)
    keepDefaultImage({ database: db.client.serialize(), seededAt: now, apiKeys })
  }
  return { seeded: applied, seeds }
}

function createLogger({ logger }: ServerOptions, { logLevel }: Config): Logger {
  return (logger ?? pino({ level: logLevel }, { write: writeToStderr })) as Logger
}

/**
 * Checks every second whether the data file was lost. If it was, logs one error and stops checking.
 */
function logLostFile(app: FastifyInstance, { fileProblem }: Db): void {
  const timer = setInterval(() => {
    const problem = fileProblem()
    if (problem === undefined) return
    app.log.error(`${problem}; nothing is written until the restart`)
    clearInterval(timer)
  }, 1000).unref()
  app.addHook('preClose', async () => clearInterval(timer))
}

/**
 * Closes the database when the app closes. If `exportOnExit` is set, first exports the data to that
 * file. Call `enable` after a successful start. Until then, nothing is exported, so a failed start
 * doesn't replace the file.
 */
function closeDatabaseOnClose(
  app: FastifyInstance,
  { exportOnExit }: Config,
  { loadSeeds, close }: { loadSeeds: () => Promise<SeedService>; close: () => void }
): { enable(): void } {
  let isEnabled = false
  app.addHook('onClose', async () => {
    try {
      if (exportOnExit && isEnabled) await exportTo(exportOnExit, await loadSeeds(), app.log)
    } finally {
      close()
    }
  })
  return {
    enable() {
      isEnabled = true
    }
  }
}

/**
 * Replaces the file with a seed of all environments. If that fails, rejects and keeps the old file.
 */
async function exportTo(file: string, seeds: SeedService, log: FastifyBaseLogger): Promise<void> {
  try {
    const chunks = seeds.exportAll()
    await replaceFile(file, (tempFile) =>
      pipeline(chunks, createWriteStream(tempFile, { mode: 0o600 }))
    )
    log.info(`exported the data to ${file}`)
  } catch (error) {
    log.error({ err: error }, `can't export the data to ${file}`)
    throw error
  }
}

function startWatching(
  { watcher, reloaded, report, readSeeds }: SeedWatch,
  seeds: SeedService,
  services: Services,
  log: FastifyBaseLogger
): void {
  watcher.start((files) => {
    try {
      const reload = reloaded(files, () => seeds.reseed(readSeeds()))
      if (reload.applied) recordReloads(reload.changes, services)
      report(reload)
    } catch (error) {
      log.error({ err: error }, "can't apply the changed seeds")
    }
  })
}

/**
 * Records each reload in the journal of the reloaded environment. The hook that records other
 * changes can't do this, because a reload isn't an HTTP request.
 */
function recordReloads(
  changes: Extract<SeedReload, { applied: true }>['changes'],
  { environments, journals }: Services
): void {
  for (const { id, change } of changes) {
    if (change !== 'reloaded') continue
    journals.of(environments.find(id)).addChange({ summary: 'Load the changed seed files' })
  }
}

function resetEnvironments({ environments, journals }: Services): string[] {
  const all = environments.list()
  environments.resetAll()
  for (const environment of all) {
    const request = { time: environment.now(), method: 'POST', url: '/_mock/reset', body: '{}' }
    journals.of(environment).addChange({ summary: 'Reset all environments' }, request)
  }
  return all.map(({ name }) => name)
}

/**
 * The maximum number of connections that wait to be accepted. The operating system resets any
 * further connection.
 */
const BACKLOG = 65_535

/**
 * Starts to listen and returns the port. Doesn't use `app.listen`, because `app.listen` writes its
 * own log line, and starts a second server if the host is `localhost`.
 */
async function listen(app: FastifyInstance, { host, port }: Config): Promise<number> {
  await app.ready()
  try {
    const address = host === 'localhost' ? '127.0.0.1' : host
    app.server.listen({ host: address, port, backlog: BACKLOG })
    await once(app.server, 'listening')
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    const fix = LISTEN_FIXES[code]
    throw fix ? new StartError(`can't listen on ${host}:${port}: ${fix}`, { cause: error }) : error
  }
  return (app.server.address() as AddressInfo).port
}

const LISTEN_FIXES: Record<string, string> = {
  EADDRINUSE:
    'the port is taken; stop the process that uses it, ' +
    'or choose another port with --port (0 picks a free one)',
  EACCES: 'this user is not allowed to use the port; choose one above 1023 with --port',
  EADDRNOTAVAIL: 'this machine does not have this address; choose another with --host',
  ENOTFOUND: 'there is no such host; choose another with --host',
  EAI_AGAIN: 'the host name could not be resolved; choose an address with --host'
}
