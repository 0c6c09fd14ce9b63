import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { type Logger, pino } from 'pino'
import { buildApp, buildServices, type Services } from './app.js'
import { type Config, configOf, reachableHost } from './config.js'
import { type Clock, wallClock } from './core/clock.js'
import { StartError } from './core/errors.js'
import { type Db, openDatabase } from './db/open.js'
import type { SeedReload } from './seeds/changes.js'
import { SeedError } from './seeds/errors.js'
import { loadGenerator, needsGenerator } from './seeds/generate/load.js'
import { readSeeds, type SeedFile } from './seeds/read.js'
import type { SeedService } from './seeds/service.js'
import { watchSeeds } from './seeds/watch.js'
import { findTemplate, type SeededWorld } from './template.js'

export type ServerOptions = { [Name in keyof Config]?: Config[Name] | undefined } & {
  /** A seed as text, YAML or JSON, or as a value; used after `seeds`, and instead of the default seed. */
  seed?: string | object
  /** The present, in milliseconds since 1970; the wall clock if left out. */
  clock?: Clock
  logger?: Logger
  /**
   * Takes over what changes in the files of `seeds` while the server runs, and tells each time what came of it: for a
   * mistake the data stays as it was. The files are not watched if left out.
   */
  watch?: ((reload: SeedReload) => void) | undefined
}

/** A server that listens, with its parts. */
export interface Server {
  /** Without a slash at the end. */
  url: string
  port: number
  app: FastifyInstance
  db: Db
  services: Services
  /** What the seeds describe. */
  worlds: readonly SeededWorld[]
  /** False: the data file already held environments, and the seeds were left aside. */
  seeded: boolean
  /**
   * Finishes what is in flight, then closes the database. What is not finished after the grace, in milliseconds, is cut.
   * Calling it again can shorten the grace.
   */
  close(grace?: number): Promise<void>
}

/** Longer than any answer takes, and shorter than what supervisors wait before they kill. */
const GRACE = 5000

/**
 * Opens the database, migrates, seeds, listens.
 *
 * Throws StartError, with the remedy, when it can't start, and SeedError, with every mistake, for a bad seed; then
 * nothing is left open.
 */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { seed, clock = wallClock, logger, watch, ...rest } = options
  const config = configOf({ ...rest, seeds: rest.seeds ?? (seed === undefined ? undefined : []) })
  if (watch !== undefined && typeof watch !== 'function') {
    throw new StartError('watch must be a function: it is told what came of each change')
  }
  if (watch && config.seeds.length === 0) throw new StartError('there is nothing to watch: put files into seeds')
  // What is watched has to be read, to see later what has changed.
  const template = config.data === undefined && seed === undefined && !watch ? findTemplate(config.seeds) : undefined
  const watching = watch && watchSeeds(config.seeds)
  const read = () =>
    readSeeds([...config.seeds, ...(seed === undefined ? [] : [{ name: 'seed', seed: seedText(seed) }])])
  const files = template ? [] : read()
  const database = openDatabase(config.data, { template: template?.file })
  const { db } = database
  let app: FastifyInstance | undefined
  try {
    const defaults = { profile: config.profile, assumptions: config.assumptions }
    const services = buildServices({ db, clock, defaults, journal: config.journal })
    // While watching, a changed seed may come to ask for generated messages.
    if (watch || needsGenerator(files.map(({ seed }) => seed))) await loadGenerator()
    if (template) services.seeds.setAge(clock())
    const { applied, worlds } = template ? { applied: true, ...template } : services.seeds.seed(files)
    app = buildApp({
      services,
      clock,
      defaults,
      readiness: { missing: [] },
      cors: config.cors,
      faultHeader: config.faultHeader,
      adminToken: config.adminToken,
      logger: logger ?? pino({ level: config.logLevel }, pino.destination(2))
    })
    const close = closing(app)
    app.addHook('preClose', async () => watching?.stop())
    app.addHook('onClose', async () => database.close())
    const port = await listen(app, config)
    const url = `http://${reachableHost(config.host)}:${port}`
    if (watch) watching?.start(reloading({ seeds: services.seeds, read, files, watch, log: app.log }))
    return { url, port, app, db, services, worlds, seeded: applied, close }
  } catch (error) {
    await app?.close()
    database.close()
    throw error
  }
}

/** Takes over what is in the seeds by now; each time it is called, against what was taken over last. */
function reloading({
  seeds,
  read,
  files,
  watch,
  log
}: {
  seeds: Pick<SeedService, 'reseed'>
  read: () => SeedFile[]
  files: SeedFile[]
  watch: (reload: SeedReload) => void
  log: Pick<FastifyInstance['log'], 'error'>
}): () => void {
  let former = files
  const reload = (): SeedReload | undefined => {
    try {
      const present = read()
      const changes = seeds.reseed(present, former)
      former = present
      return { applied: true, changes }
    } catch (error) {
      if (error instanceof SeedError) return { applied: false, error }
      log.error({ err: error }, 'changed seeds could not be taken over')
      return undefined
    }
  }
  return () => {
    const outcome = reload()
    if (outcome) watch(outcome)
  }
}

/** A name of a file where the text of a seed belongs would be read as a seed that holds nothing but a name. */
function seedText(seed: string | object): string | object {
  if (typeof seed === 'string' && /^\S+\.(ya?ml|json)$/.test(seed)) {
    throw new StartError(`seed takes the text of a seed; to load the file ${seed}, put it into seeds`)
  }
  return seed
}

/** Makes the app close without waiting for connections that nobody uses, or for ever for one that is stuck. */
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
    // For an answer that is on its way already, and has promised to keep the connection.
    app.server.keepAliveTimeout = 1
    // Browsers open connections ahead of need, and Node takes one that was not used yet for busy.
    const unused = setTimeout(() => {
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
    }, JUST_ARRIVED)
    app.server.once('close', () => clearTimeout(unused))
    // Node takes an answer for sent when it has been handed over, and cuts off what a slow client has still to read.
    const isRead = () => [...sockets].every(({ writableLength }) => writableLength === 0)
    while (!isRead()) await delay(OFTEN)
    // One whose request was answered before it was read to its end is not idle yet, and nobody would come back to it.
    const again = setInterval(() => isRead() && app.server.closeIdleConnections(), OFTEN)
    app.server.once('close', () => clearInterval(again))
  })
  return async (grace = GRACE) => {
    const impatience = setTimeout(() => {
      if (sockets.size > 0) app.log.warn({ connections: sockets.size }, 'connections that were still busy are cut')
      app.server.closeAllConnections()
    }, grace)
    try {
      await app.close()
    } finally {
      clearTimeout(impatience)
    }
  }
}

/** How long a request may take, in milliseconds, from the kernel to us. */
const JUST_ARRIVED = 100

/** How often it is looked whether a client has read its answer, in milliseconds. */
const OFTEN = 10

/**
 * Not with `app.listen`: on `localhost` it would listen with a second server, whose requests closing does not wait for,
 * and it would say so in a sentence of its own.
 */
async function listen(app: FastifyInstance, { host, port }: Config): Promise<number> {
  await app.ready()
  try {
    app.server.listen({ host: host === 'localhost' ? '127.0.0.1' : host, port })
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
