import { assumptionComplaint, PROFILES, type Profile } from './assumptions.js'
import { StartError } from './errors.js'
import { DEFAULT_SEED } from './seeds/read.js'

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** Everything that a server is started with. */
export interface Config {
  host: string
  /** 0 takes a free one. */
  port: number
  /** The database file; left out, the data lives in memory. */
  data?: string
  /** Seed files, or names of seeds that come with the package. */
  seeds: readonly string[]
  /** For environments that do not say otherwise. */
  profile: Profile
  /** Assumption id -> position, over those of the profile. */
  assumptions: Record<string, string>
  /** Whether any web page may call. */
  cors: boolean
  /** Requests that each journal keeps; 0 turns it off. */
  journal: number
  /** Whether a request can ask for a fault by its header `x-mock-fault`. */
  faultHeader: boolean
  /** What environments are managed with from other machines; left out, they can't be. */
  adminToken?: string
  logLevel: LogLevel
}

export const DEFAULTS: Config = {
  host: '127.0.0.1',
  port: 4210,
  seeds: [DEFAULT_SEED],
  profile: 'document',
  assumptions: {},
  cors: true,
  journal: 1000,
  faultHeader: true,
  logLevel: 'info'
}

/** The configuration with its defaults, checked and frozen. Throws StartError for a value that can't be. */
export function configOf(given: { [Name in keyof Config]?: Config[Name] | undefined }): Config {
  const present = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  const config: Config = { ...DEFAULTS, ...present }
  if (!Number.isInteger(config.port) || config.port < 0 || config.port > 65_535) {
    throw new StartError(`the port must be a whole number from 0 to 65535, not ${config.port}`)
  }
  if (!Number.isInteger(config.journal) || config.journal < 0 || config.journal > 1_000_000) {
    throw new StartError(`the journal must keep a whole number of requests from 0 to 1000000, not ${config.journal}`)
  }
  if (!PROFILES.includes(config.profile)) {
    throw new StartError(`the profile must be one of ${PROFILES.join(', ')}, not ${config.profile}`)
  }
  if (!LOG_LEVELS.includes(config.logLevel)) {
    throw new StartError(`the log level must be one of ${LOG_LEVELS.join(', ')}, not ${config.logLevel}`)
  }
  for (const [id, value] of Object.entries(config.assumptions)) {
    const complaint = assumptionComplaint(id, value)
    if (complaint) throw new StartError(complaint)
  }
  return Object.freeze(config)
}
