import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { clearInterval, clearTimeout, setInterval, setTimeout } from 'node:timers'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { type Logger, pino } from 'pino'
import { buildApp, buildServices, type Services } from './app.js'
import { type Config, configOf, reachableHost } from './config.js'
import { type Clock, wallClock } from './core/clock.js'
import { StartError } from './core/errors.js'
import { runInSlices } from './core/slices.js'
import { writeToStderr } from './core/stderr.js'
import { type Db, openDatabase } from './db/open.js'
import type { Environment } from './environments/service.js'
import { loadGenerator, needsGenerator } from './seeds/generate/load.js'
import { readingSeeds } from './seeds/read.js'
import type { SeedOutcome } from './seeds/service.js'
import { reloader, type SeedReload, watchSeeds } from './seeds/watch.js'

/** What to log with: a pino logger, or anything that is called alike. */
export interface MockLogger extends Record<'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal', LogMethod> {
  level: string
  isLevelEnabled(level: string): boolean
  child(bindings: Record<string, unknown>): MockLogger
}

type LogMethod = (facts: object, message?: string) => void

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
  services: Services
  /** What the seeds describe. */
  seededEnvironments: SeedOutcome['environments']
}

/** In milliseconds: longer than any answer takes, and shorter than supervisors wait before they kill. */
const DEFAULT_GRACE = 5000

/**
 * Opens the database, migrates, seeds, listens.
 *
 * Rejects with `StartError`, whose message names the remedy, when it can't start, and with `SeedError`, which lists
 * every issue, for a bad seed; then nothing is left open.
 */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { seed, clock = wallClock, logger, watch, ...rest } = options
  if (typeof clock !== 'function') {
    throw new StartError(
      "the clock must be a function that returns milliseconds, such as () => Date.parse('2026-02-18')"
    )
  }
  const config = configOf({ ...rest, seeds: rest.seeds ?? (seed === undefined ? undefined : []) })
  if (watch !== undefined && typeof watch !== 'function') {
    throw new StartError('watch must be a function: it is called with what came of each change')
  }
  if (watch && config.seeds.length === 0) throw new StartError('there is nothing to watch: put files into seeds')
  const watching = watch && watchSeeds(config.seeds)
  const given = seed === undefined ? [] : [{ name: 'seed', seed: seedText(seed) }]
  const read = (check?: () => void) => runInSlices(readingSeeds([...config.seeds, ...given]), check)
  const files = await read()
  const { db, close: closeDatabase } = openDatabase(config.data)
  let app: FastifyInstance | undefined
  try {
    const defaults = { profile: config.profile, assumptions: config.assumptions }
    const services = buildServices({ ...config, db, clock, defaults })
    // While watching, a changed seed may come to ask for generated messages.
    if (watch || files.some((file) => needsGenerator(file.seed))) await loadGenerator()
    const { applied, environments: seededEnvironments } = await runInSlices(services.seeds.seeding(files))
    app = buildApp({
      ...config,
      services,
      clock,
      defaults,
      logger: (logger as Logger | undefined) ?? pino({ level: config.logLevel }, { write: writeToStderr })
    })
    app.addHook('preClose', async () => watching?.stop())
    app.addHook('onClose', async () => closeDatabase())
    const close = closing(app)
    const port = await listen(app, config)
    const url = `http://${reachableHost(config.host)}:${port}`
    const { log } = app
    const rejectClosed = () => {
      if (!db.client.open) throw new StartError('the server is closed')
    }
    // What is done here is no request to a control route.
    const note = (environment: Environment, summary: string) =>
      void services.journals.of(environment).changes.note({ summary })
    const reload = reloader(() => read(rejectClosed), files, services.seeds.reseed)
    watching?.start(async (changed) => {
      try {
        const reloaded = await reload(changed)
        for (const { id, change } of reloaded.applied ? reloaded.changes : [])
          if (change === 'reloaded') note(services.environments.find(id), 'Load the changed seed files')
        watch?.(reloaded)
      } catch (error) {
        // Closing ends it.
        if (db.client.open) log.error({ err: error }, 'changed seeds could not be applied')
      }
    })
    const resetAll = () => {
      const environments = services.environments.list()
      services.environments.resetAll(environments)
      for (const environment of environments) note(environment, 'Reset all environments')
      return environments.map(({ name }) => name)
    }
    return { url, port, app, db, services, seededEnvironments, seeded: applied, resetAll, close }
  } catch (error) {
    await app?.close()
    closeDatabase()
    throw error
  }
}

/** Throws `StartError` for the name of a seed file where its text belongs, which would be read as text. */
function seedText(seed: string | object): string | object {
  if (typeof seed === 'string' && /^\S+\.(ya?ml|json)$/.test(seed)) {
    throw new StartError(`seed takes the text of a seed; to load the file ${seed}, put it into seeds`)
  }
  return seed
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
  app.addHook('preClose', async () => {
    isClosing = true
    // For responses whose header already promised to keep the connection open.
    app.server.keepAliveTimeout = 1
    // Browsers open connections ahead of need. Node counts a connection without a request as busy.
    const unused = setTimeout(() => {
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
    }, ARRIVAL_TIME)
    app.server.once('close', () => clearTimeout(unused))
    // Node counts a response as sent once the kernel has it, and would cut off what a slow client has still to read.
    const isRead = () => [...sockets].every(({ writableLength }) => writableLength === 0)
    while (!isRead()) await delay(POLL_INTERVAL)
    // A connection whose request was answered before it was read to its end becomes idle later than Node looks.
    const again = setInterval(() => isRead() && app.server.closeIdleConnections(), POLL_INTERVAL)
    app.server.once('close', () => clearInterval(again))
  })
  return async (grace = DEFAULT_GRACE) => {
    const cut = setTimeout(() => {
      if (sockets.size > 0) app.log.warn({ connections: sockets.size }, 'connections that were still busy are cut')
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

/** How long a request may take from the kernel to this process, in milliseconds. */
const ARRIVAL_TIME = 100

/** How often to check whether clients have read their responses, in milliseconds. */
const POLL_INTERVAL = 10

/** Connections that wait to be accepted; the system allows fewer. Of a crowd that comes at once the rest is reset. */
const MAX_BACKLOG = 65_535

/**
 * Listens, and returns the port. `app.listen` would start a second server on `localhost`, whose requests closing does not
 * wait for, and would log a line of its own.
 */
async function listen(app: FastifyInstance, { host, port }: Config): Promise<number> {
  await app.ready()
  try {
    app.server.listen({ host: host === 'localhost' ? '127.0.0.1' : host, port, backlog: MAX_BACKLOG })
    await once(app.server, 'listening')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const remedy = LISTEN_REMEDIES[code ?? '']
    if (remedy) throw new StartError(`can't listen on ${host}:${port}: ${remedy}`)
    throw error
  }
  const address = app.server.address() as AddressInfo
  app.log.debug({ host: address.address, port: address.port }, 'listening')
  return address.port
}

const LISTEN_REMEDIES: Record<string, string> = {
  EADDRINUSE: 'the port is taken; stop what uses it, or choose another with --port (0 takes a free one)',
  EACCES: 'the port is not allowed; choose one above 1023 with --port',
  EADDRNOTAVAIL: 'this machine has no such address; choose another with --host',
  ENOTFOUND: 'there is no such host; choose another with --host',
  EAI_AGAIN: 'the name of the host can not be looked up; choose an address with --host'
}
