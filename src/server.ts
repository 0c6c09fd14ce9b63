import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { type Logger, pino } from 'pino'
import { buildApp, buildServices, type Services } from './app.js'
import { type Clock, wallClock } from './clock.js'
import { type Config, configOf } from './config.js'
import { type Db, openDatabase } from './db/open.js'
import { StartError } from './errors.js'
import { readSeed, readSeedFile, type SeedFile } from './seeds/read.js'
import type { World } from './seeds/resolve.js'

export type ServerOptions = { [Name in keyof Config]?: Config[Name] | undefined } & {
  /** A seed as text, YAML or JSON, or as a value; used after `seeds`, and instead of the default seed. */
  seed?: string | object
  /** The present, in milliseconds since 1970; the wall clock if left out. */
  clock?: Clock
  logger?: Logger
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
  worlds: World[]
  /** False: the data file already held environments, and the seeds were left aside. */
  seeded: boolean
}

/**
 * Opens the database, migrates, seeds, listens. `app.close()` finishes what is in flight and closes the database.
 *
 * Throws StartError, with the remedy, when it can't start, and SeedError, with every mistake, for a bad seed; then
 * nothing is left open.
 */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { seed, clock = wallClock, logger, ...rest } = options
  const config = configOf({ ...rest, seeds: rest.seeds ?? (seed === undefined ? undefined : []) })
  const files = seedFiles(config, seed)
  const { db, close } = openDatabase(config.data)
  try {
    const defaults = { profile: config.profile, assumptions: config.assumptions }
    const services = buildServices({ db, clock, defaults, journal: config.journal })
    const { applied, worlds } = services.seeds.seed(files)
    const app = buildApp({
      services,
      clock,
      defaults,
      readiness: { missing: [] },
      cors: config.cors,
      faultHeader: config.faultHeader,
      adminToken: config.adminToken,
      logger: logger ?? pino({ level: config.logLevel }, pino.destination(2))
    })
    app.addHook('onClose', async () => close())
    await listen(app, config)
    const { port } = app.server.address() as AddressInfo
    const host = config.host.includes(':') ? `[${config.host}]` : config.host
    return { url: `http://${host}:${port}`, port, app, db, services, worlds, seeded: applied }
  } catch (error) {
    close()
    throw error
  }
}

function seedFiles({ seeds }: Config, seed: string | object | undefined): SeedFile[] {
  const files = seeds.map((each) => readSeedFile(each))
  if (seed === undefined) return files
  return [...files, readSeed(typeof seed === 'string' ? seed : JSON.stringify(seed, null, 2), 'seed')]
}

async function listen(app: FastifyInstance, { host, port }: Config): Promise<void> {
  try {
    await app.listen({ host, port })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const remedy = LISTEN_REMEDIES[code ?? '']
    if (remedy) throw new StartError(`can't listen on ${host}:${port}: ${remedy}`)
    throw error
  }
}

const LISTEN_REMEDIES: Record<string, string> = {
  EADDRINUSE: 'the port is taken; stop what uses it, or choose another with --port (0 takes a free one)',
  EACCES: 'the port is not allowed; choose one above 1023 with --port',
  EADDRNOTAVAIL: 'this machine has no such address; choose another with --host',
  ENOTFOUND: 'there is no such host; choose another with --host'
}
