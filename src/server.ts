import { hash } from 'node:crypto'
import { once } from 'node:events'
import { accessSync, constants, createWriteStream, existsSync, readFileSync } from 'node:fs'
import type { AddressInfo, Socket } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { clearInterval, clearTimeout, setInterval, setTimeout } from 'node:timers'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { type Logger, pino } from 'pino'
import { buildApp, type StartServices, startServices } from './app.js'
import { type Config, configOf, DEFAULTS, reachableHost } from './config.js'
import { type DatabaseImage, type Db, openDatabase, toStartError } from './db/open.js'
import { type Clock, wallClock } from './domain/clock.js'
import { attempt, StartError } from './domain/errors.js'
import { lazily } from './domain/lazily.js'
import type { Environment } from './environments/service.js'
import { packageRoot } from './platform/package.js'
import { replaceFile, replaceFileSync, requireRegularFile } from './platform/replace-file.js'
import { writeToStderr } from './platform/stderr.js'
import type { SeedService } from './seeds/service.js'
import type { SeedReload } from './seeds/watch.js'

/** What to log with: a pino logger, or anything that is called alike. */
export interface MockLogger
  extends Record<
    'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal',
    (facts: object, message?: string) => void
  > {
  level: string
  isLevelEnabled(level: string): boolean
  child(bindings: Record<string, unknown>): MockLogger
}

export type ServerOptions = { [Name in keyof Config]?: Config[Name] | undefined } & {
  /** A seed as YAML or JSON text, or as a value. It is applied after `seeds`, and replaces the default seed. */
  seed?: string | object
  /** Returns the current time in milliseconds since 1970. The system's clock by default. */
  clock?: Clock
  /** Used instead of a log of JSON lines on stderr at `logLevel`. */
  logger?: MockLogger
  /**
   * Called each time a file of `seeds` has changed while the server runs, with what was applied, or with the error that
   * left the data as it was. Without it, files are not watched.
   */
  watch?: ((reload: SeedReload) => void) | undefined
}

export interface RunningServer {
  /** Without a slash at the end. */
  url: string
  port: number
  /** False when the data file already held environments, so that the seeds were not applied. */
  seeded: boolean
  /** Resets every environment to its baseline, and returns their names. */
  resetAll(): string[]
  /**
   * Finishes what is in flight, then closes the database. Connections that are still busy after `grace` milliseconds,
   * 5000 by default, are cut. Calling it again can shorten the grace.
   */
  close(grace?: number): Promise<void>
}

/** A server that listens, with its parts. */
export interface Server extends RunningServer {
  app: FastifyInstance
  db: Db
  services: StartServices
  /** Loads what only control routes, watched files and seeds of one's own need. */
  loadSeeds: () => Promise<SeedService>
}

/** Opens the database, migrates, seeds, listens. Rejects as `createMock` does; then nothing is left open. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { seed, clock = wallClock, logger, watch, ...rest } = options
  const config = configOf({ ...rest, seeds: rest.seeds ?? (seed === undefined ? undefined : []) })
  checkOptions(options, config)
  const { data, exportOnExit } = config
  // A file of the name of the built-in seed comes before it.
  const isDefault =
    !watch &&
    !data &&
    seed === undefined &&
    `${config.seeds}` === `${DEFAULTS.seeds}` &&
    !existsSync('default')
  const kept = data ? undefined : readImage()
  const image = isDefault ? kept : undefined
  const { reloaded, watchSeeds } = watch ? await import('./seeds/watch.js') : {}
  const watching = watchSeeds?.(config.seeds)
  const { readSeeds } = image ? { readSeeds: () => [] } : await import('./seeds/service.js')
  const read = () =>
    readSeeds([...config.seeds, ...(seed === undefined ? [] : [{ name: 'seed', seed }])])
  const files = read()
  const { db, close: closeDatabase } = openDatabase(data, {
    image: toDatabaseImage(kept?.database, image && clock())
  })
  let app: FastifyInstance | undefined
  try {
    const services = startServices({ ...config, db, clock, defaults: config })
    const { environments, journals } = services
    const loadSeeds = lazily(async () =>
      (await import('./seeds/service.js')).seedService({ db, clock, environments })
    )
    for (const apiKey of image?.apiKeys ?? []) environments.rememberApiKey(apiKey)
    // While watching, a changed seed may come to ask for generated messages.
    const seeds = image ? undefined : await loadSeeds()
    await seeds?.loadGenerator(watch ? undefined : files)
    const seeded = seeds?.seed(files)
    if (isDefault && seeded) keepImage(db.client.serialize(), seeded.environments)
    const ownLogger = () => pino({ level: config.logLevel }, { write: writeToStderr })
    app = buildApp({
      ...config,
      services,
      loadSeeds,
      clock,
      logger: (logger ?? ownLogger()) as Logger
    })
    const { log } = app
    logLostFile(app, db)
    app.addHook('preClose', async () => watching?.stop())
    let exportData = async () => {}
    app.addHook('onClose', () => exportData().finally(closeDatabase))
    const close = closing(app)
    if (exportOnExit) requireWritable(exportOnExit)
    const port = await listen(app, config)
    if (exportOnExit) exportData = async () => exportTo(exportOnExit, await loadSeeds(), log)
    // What is done here is no request to a control route.
    const note = (environment: Environment, summary: string) =>
      void journals.of(environment).addChange({ summary })
    watching?.start((changed) => {
      try {
        const reload = reloaded?.(changed, () => seeds?.reseed(read()) ?? [])
        for (const { id, change } of reload?.applied ? reload.changes : [])
          if (change === 'reloaded') note(environments.find(id), 'Load the changed seed files')
        if (reload) watch?.(reload)
      } catch (error) {
        log.error({ err: error }, 'changed seeds could not be applied')
      }
    })
    const resetAll = () => {
      const all = environments.list()
      environments.resetAll()
      for (const environment of all) note(environment, 'Reset all environments')
      return all.map(({ name }) => name)
    }
    const url = `http://${reachableHost(config.host)}:${port}`
    return {
      url,
      port,
      app,
      db,
      services,
      loadSeeds,
      seeded: seeded?.applied ?? true,
      resetAll,
      close
    }
  } catch (error) {
    await app?.close()
    closeDatabase()
    throw toStartError(error, data)
  }
}

/** Throws `StartError` for what has another form than its type says, as programs without types may hand it. */
function checkOptions({ seed, clock = wallClock, watch }: ServerOptions, { seeds }: Config): void {
  const problems = [
    typeof clock !== 'function' &&
      'the clock must be a function that returns milliseconds, such as () => Date.parse("2026-02-18")',
    !['function', 'undefined'].includes(typeof watch) &&
      'watch must be a function: it is called with what came of each change',
    watch && seeds.length === 0 && 'there is nothing to watch: put files into seeds',
    // It would be read as the text of a seed.
    typeof seed === 'string' &&
      /^\S+\.(ya?ml|json)$/.test(seed) &&
      `seed takes the text of a seed; to load the file ${seed}, put it into seeds`
  ]
  for (const problem of problems) if (problem) throw new StartError(problem)
}

/** Returns the function that closes the app: it waits for answers, but not for connections without one. */
function closing(app: FastifyInstance): Server['close'] {
  const sockets = new Set<Socket>()
  let isClosing = false
  app.server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (isClosing) reply.header('connection', 'close')
    done()
  })
  // Node counts a response as sent once the kernel has it, and would cut off what a slow client has still to read.
  const isRead = () => [...sockets].every(({ writableLength }) => writableLength === 0)
  app.addHook('preClose', async () => {
    isClosing = true
    // For responses that promise to keep the connection open.
    app.server.keepAliveTimeout = 1
    while (!isRead()) await delay(POLL_INTERVAL)
    const polling = setInterval(() => {
      // A connection whose request was answered before it was read to its end becomes idle later than Node looks.
      if (isRead()) app.server.closeIdleConnections()
      // Browsers open connections ahead of need. Node counts a connection without a request as busy.
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
    }, POLL_INTERVAL)
    app.server.once('close', () => clearInterval(polling))
  })
  // Longer than any answer takes, and shorter than supervisors wait before they kill.
  return async (grace = 5000) => {
    const cut = setTimeout(() => {
      if (sockets.size > 0)
        app.log.warn({ connections: sockets.size }, 'connections that were still busy are cut')
      // Node has no list of those that asked for a tunnel.
      for (const socket of sockets) socket.destroy()
    }, grace)
    try {
      await app.close()
    } finally {
      clearTimeout(cut)
    }
  }
}

/** Says once in the log that the data file is lost, within a second, also if nobody writes. */
function logLostFile(app: FastifyInstance, { fileProblem }: Db): void {
  const checking = setInterval(() => {
    if (fileProblem() === undefined) return
    app.log.error(`${fileProblem()}; until then nothing is written`)
    clearInterval(checking)
  }, 1000).unref()
  app.addHook('preClose', async () => clearInterval(checking))
}

function requireWritable(file: string): void {
  try {
    requireRegularFile(file)
    accessSync(dirname(resolve(file)), constants.W_OK)
  } catch (error) {
    throw new StartError(
      `can't write ${file}: ${(error as NodeJS.ErrnoException).code}; export to another file`
    )
  }
}

/** Replaces the file by a seed with all environments. Rejects, and leaves it as it was, when it can't be written. */
async function exportTo(file: string, seeds: SeedService, log: FastifyBaseLogger): Promise<void> {
  try {
    const text = seeds.exportAll()
    await replaceFile(file, (tempFile) =>
      pipeline(text, createWriteStream(tempFile, { mode: 0o600 }))
    )
    log.info(`the data was exported to ${file}`)
  } catch (error) {
    log.error({ err: error }, `the data can not be exported to ${file}`)
    throw error
  }
}

/** How often to look at connections while closing, in milliseconds; no request takes longer from the kernel to here. */
const POLL_INTERVAL = 100

/** Listens, and returns the port. `app.listen` would start a second server on `localhost`, and log a line of its own. */
async function listen(app: FastifyInstance, { host, port }: Config): Promise<number> {
  await app.ready()
  try {
    // Of a crowd that comes at once, what the system has no room for is reset.
    app.server.listen({ host: host === 'localhost' ? '127.0.0.1' : host, port, backlog: 65_535 })
    await once(app.server, 'listening')
  } catch (error) {
    const remedy = LISTEN_REMEDIES[(error as NodeJS.ErrnoException).code ?? '']
    throw remedy ? new StartError(`can't listen on ${host}:${port}: ${remedy}`) : error
  }
  return (app.server.address() as AddressInfo).port
}

const LISTEN_REMEDIES: Record<string, string> = {
  EADDRINUSE:
    'the port is taken; stop what uses it, or choose another with --port (0 takes a free one)',
  EACCES: 'the port is not allowed; choose one above 1023 with --port',
  EADDRNOTAVAIL: 'this machine has no such address; choose another with --host',
  ENOTFOUND: 'there is no such host; choose another with --host',
  EAI_AGAIN: 'the name of the host can not be looked up; choose an address with --host'
}

function toDatabaseImage(
  database: Buffer | undefined,
  createdAt: number | undefined
): DatabaseImage | undefined {
  if (!database) return undefined
  return createdAt === undefined
    ? { kind: 'schema', database }
    : { kind: 'data', database, createdAt }
}

/** A database with the default seed, and the keys in it, of which the database has but hashes. */
let imageOfDefault: { database: Buffer; apiKeys: readonly string[] } | undefined

/**
 * Returns the image of the default seed and the schema as they are now; undefined if none is kept. The seed names each of its
 * times, so the image is right at any time but for when the environments were created.
 */
function readImage(): typeof imageOfDefault {
  imageOfDefault ??= attempt(() => {
    const file = imageFile()
    return {
      database: readFileSync(`${file}.db`),
      apiKeys: JSON.parse(readFileSync(`${file}.json`, 'utf8'))
    }
  })
  return imageOfDefault
}

/** Keeps an image for later starts: in dist/ if it can be written to, else for this process. The build does it first. */
function keepImage(database: Buffer, environments: readonly { apiKeys: string[] }[]): void {
  const apiKeys = environments.flatMap((environment) => environment.apiKeys)
  imageOfDefault = { database, apiKeys }
  attempt(() => {
    // Several processes may do it at once.
    replaceFileSync(`${imageFile()}.json`, JSON.stringify(apiKeys))
    replaceFileSync(`${imageFile()}.db`, database)
  })
}

function imageFile(): string {
  const sources = ['seeds/default.yaml', 'migrations/meta/_journal.json'].map((name) =>
    join(packageRoot(), name)
  )
  const key = hash('sha256', Buffer.concat(sources.map((file) => readFileSync(file))))
  return join(packageRoot(), `dist/default-${key.slice(0, 16)}`)
}
