import { assumptionIssue, PROFILES, type Profile } from './domain/assumptions.js'
import { StartError } from './domain/errors.js'
import { findLatencyProblem, type LatencyPreset, type LatencySetting } from './domain/latency.js'
import { didYouMean } from './domain/suggestions.js'

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

/** What a server is started with. */
export interface Config {
  /** Address to listen on: 127.0.0.1 by default. */
  host: string
  /** 0 takes a free one. */
  port: number
  /** The database file. Without it, the data is kept in memory. */
  data?: string
  /** Seed files, or names of seeds that come with the package. */
  seeds: readonly string[]
  /** A file that is replaced, when the server closes, by a seed with all that it has then: `seeds` brings that back. */
  exportOnExit?: string
  /** For environments whose seed names none. */
  profile: Profile
  /** Settings over those of the profile, by assumption id. */
  assumptions: Record<string, string>
  /** Whether web pages of other origins may call. */
  cors: boolean
  /** Whether browsers get a page at `/` to look at the server and to work it by hand. */
  inspector: boolean
  /** How many of the last requests each journal keeps; 0 turns it off. */
  journal: number
  /** Whether a request can ask for a fault by its header `x-mock-fault`. */
  faultHeader: boolean
  /** How much later answers come: a preset (none, office, mobile, bad), or milliseconds. */
  latency: LatencyPreset | LatencySetting
  /** How long a client may take to send a request, in milliseconds; 0 for as long as it likes. */
  requestTimeout: number
  /** Token that lets other machines manage environments. Without it, only this machine can. */
  adminToken?: string
  logLevel: (typeof LOG_LEVELS)[number]
}

export const DEFAULTS: Config = {
  host: '127.0.0.1',
  port: 4210,
  seeds: ['default'],
  profile: 'document',
  assumptions: {},
  cors: true,
  inspector: true,
  journal: 1000,
  faultHeader: true,
  latency: 'none',
  requestTimeout: 300_000,
  logLevel: 'info'
}

/** How many requests a journal can keep at most: they are kept in memory. */
export const MAX_JOURNAL = 1_000_000

/** The longest time that a request may be given, in milliseconds: a day. */
export const MAX_REQUEST_TIMEOUT = 86_400_000

/** Returns what is wrong with the value of each option, if anything. */
const CHECKS: {
  [Name in keyof Config]-?: (value: NonNullable<Config[Name]>) => string | false | undefined
} = {
  host: (host) =>
    (typeof host !== 'string' || host === '') &&
    'the host must be an address or a name, and not empty',
  port: wholeNumber('the port must be a whole number', 65_535),
  data: (data) =>
    data === '' && 'the data file must have a name; leave it out to keep the data in memory',
  seeds: (seeds) =>
    !Array.isArray(seeds) && 'the seeds must be a list of files; an empty one starts with nothing',
  exportOnExit: (file) =>
    file === '' && 'the file to export to must have a name; leave it out to export nothing',
  profile: oneOf('profile', PROFILES),
  assumptions: (all) =>
    Object.entries(all).flatMap(([id, value]) => assumptionIssue(id, value) ?? [])[0],
  cors: () => undefined,
  inspector: () => undefined,
  journal: wholeNumber('the journal must keep a whole number of requests', MAX_JOURNAL),
  faultHeader: () => undefined,
  latency: findLatencyProblem,
  requestTimeout: wholeNumber(
    'the request timeout must be whole milliseconds',
    MAX_REQUEST_TIMEOUT
  ),
  adminToken: (token) =>
    !/^[ -~\t\u0080-\u00ff]+$/.test(token) &&
    'the admin token must not be empty, or have characters that no header can carry; without one, no other machine may',
  logLevel: oneOf('log level', LOG_LEVELS)
}

function wholeNumber(rule: string, most: number) {
  return (value: number) =>
    !(Number.isInteger(value) && value >= 0 && value <= most) &&
    `${rule} from 0 to ${most}, not ${value}`
}

function oneOf(name: string, values: readonly string[]) {
  return (value: string) =>
    !values.includes(value) && `the ${name} must be one of ${values.join(', ')}, not ${value}`
}

/** Returns the configuration with its defaults, frozen. Throws `StartError` for an unknown option or a wrong value. */
export function configOf(given: { [Name in keyof Config]?: Config[Name] | undefined }): Config {
  const present = Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined)
  )
  const config: Config = { ...DEFAULTS, ...present }
  for (const [name, value] of Object.entries(config)) {
    const isKnown = Object.hasOwn(CHECKS, name)
    const problem = isKnown
      ? CHECKS[name as keyof Config](value as never)
      : `there is no option ${name}${didYouMean(name, Object.keys(CHECKS))}`
    if (problem) throw new StartError(problem)
  }
  return Object.freeze(config)
}

/** Returns the host by which this machine reaches a server that listens on an address: loopback, if it is all of them. */
export function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}
