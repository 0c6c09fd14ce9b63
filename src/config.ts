import { assumptionComplaint, PROFILES, type Profile } from './core/assumptions.js'
import { StartError } from './core/errors.js'
import { suggest } from './core/suggest.js'

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
  // By its name: it comes with the package.
  seeds: ['default'],
  profile: 'document',
  assumptions: {},
  cors: true,
  journal: 1000,
  faultHeader: true,
  logLevel: 'info'
}

/** More requests than this no journal keeps: they lie in memory. */
export const MAX_JOURNAL = 1_000_000

/** The configuration with its defaults, checked and frozen. Throws StartError for a value that can't be. */
export function configOf(given: { [Name in keyof Config]?: Config[Name] | undefined }): Config {
  const present = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  const config: Config = { ...DEFAULTS, ...present }
  const complaint = complaints(config).next().value
  if (complaint) throw new StartError(complaint)
  return Object.freeze(config)
}

function* complaints(config: Config): Generator<string, undefined> {
  const { host, port, data, seeds, profile, assumptions, journal, adminToken, logLevel } = config
  const names = [...Object.keys(DEFAULTS), 'data', 'adminToken']
  for (const name of Object.keys(config)) {
    if (names.includes(name)) continue
    const meant = suggest(name, names)
    yield `there is no option ${name}; ${meant ? `did you mean ${meant}?` : `there are ${names.join(', ')}`}`
  }
  if (typeof host !== 'string' || host === '') yield 'the host must be an address or a name, and not empty'
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    yield `the port must be a whole number from 0 to 65535, not ${port}`
  }
  if (data === '') yield 'the data file must have a name; leave it out to keep the data in memory'
  if (!Array.isArray(seeds)) yield 'the seeds must be a list of files; an empty one starts with nothing'
  if (!PROFILES.includes(profile)) yield `the profile must be one of ${PROFILES.join(', ')}, not ${profile}`
  if (!Number.isInteger(journal) || journal < 0 || journal > MAX_JOURNAL) {
    yield `the journal must keep a whole number of requests from 0 to ${MAX_JOURNAL}, not ${journal}`
  }
  if (adminToken === '') yield 'the admin token must not be empty; leave it out to allow no other machine'
  if (!LOG_LEVELS.includes(logLevel)) yield `the log level must be one of ${LOG_LEVELS.join(', ')}, not ${logLevel}`
  for (const [id, value] of Object.entries(assumptions)) {
    const complaint = assumptionComplaint(id, value)
    if (complaint) yield complaint
  }
}

/** How a server that listens on this address is reached from this machine: one that listens on all, on loopback. */
export function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}
