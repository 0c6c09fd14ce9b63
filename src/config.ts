import { assumptionIssue, PROFILES, type Profile } from './domain/assumptions.js'
import { StartError } from './domain/errors.js'
import { findLatencyProblem, type LatencyPreset, type LatencySetting } from './domain/latency.js'
import { STUB_SETS, type StubSet } from './domain/stub.js'
import { didYouMean } from './domain/suggestions.js'

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

/** The configuration of a server. */
export interface Config {
  /** The address to listen on. */
  host: string
  /** The port to listen on. 0 selects a free port. */
  port: number
  /** The database file. If it isn't set, the data stays in memory. */
  data?: string
  /** Seed files or names of built-in seeds. */
  seeds: readonly string[]
  /**
   * The seed file to which the server exports all environments when it closes. An existing file is
   * overwritten. To load the environments again, add the file to `seeds`.
   */
  exportOnExit?: string
  /** The profile for environments whose seed doesn't set a profile. */
  profile: Profile
  /** Assumption values that override the profile, by assumption id. */
  assumptions: Record<string, string>
  /** A built-in set of stubs that every new environment has. */
  stubs?: StubSet
  /**
   * The URL of another server. Requests to paths of Novu's API that are neither mocked nor stubbed
   * are forwarded to it. If the URL has a path, each request's path is appended to the URL's path.
   */
  fallback?: string
  /**
   * The API key to send to the fallback server instead of the client's key. Required if the
   * fallback server is on another machine. Defaults to `fallback`.
   */
  fallbackKey?: string
  /**
   * A forwarded request fails after this many milliseconds without data from the fallback server. 0
   * means no limit.
   */
  fallbackTimeout: number
  /**
   * Whether web pages from other origins may send requests. If true, the assumption `cors` can
   * still block their requests to the API.
   */
  cors: boolean
  /** Whether to serve the inspector at `/`. */
  inspector: boolean
  /** How many requests each journal keeps. 0 turns the journals off. */
  journal: number
  /** Whether requests can inject faults with the header `x-mock-fault`. */
  faultHeader: boolean
  /** How long to delay responses: a preset (none, office, mobile, bad) or milliseconds. */
  latency: LatencyPreset | LatencySetting
  /**
   * The time in milliseconds within which a client must send its whole request. 0 means no limit.
   */
  requestTimeout: number
  /** A token that lets other machines manage environments. Without it, only this machine can. */
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
  fallbackTimeout: 30_000,
  logLevel: 'info'
}

/** The maximum for `journal`. It is limited because the journals are kept in memory. */
export const MAX_JOURNAL = 1_000_000

/** The maximum for `requestTimeout` and `fallbackTimeout`: one day in milliseconds. */
export const MAX_TIMEOUT = 86_400_000

/** The check for each option. It returns a message if the value is invalid. */
const CHECKS: {
  [Name in keyof Config]-?: (value: NonNullable<Config[Name]>) => string | false | undefined
} = {
  host: (host) =>
    (typeof host !== 'string' || host === '') && 'the host must be an address or a host name',
  port: integer('the port must be an integer', 65_535),
  data: (data) =>
    data === '' && 'the data file must have a name; omit `data` to keep the data in memory',
  seeds: (seeds) =>
    !Array.isArray(seeds) &&
    'seeds must be a list of files; use an empty list to start without data',
  exportOnExit: (file) =>
    file === '' && 'the export file must have a name; omit `exportOnExit` to export nothing',
  profile: oneOf('profile', PROFILES),
  assumptions: (all) =>
    Object.entries(all).flatMap(([id, value]) => assumptionIssue(id, value) ?? [])[0],
  stubs: oneOf('set of stubs', STUB_SETS),
  fallback: findFallbackProblem,
  fallbackKey: (key) => !isHeaderText(key) && headerProblem('fallback key'),
  fallbackTimeout: integer('the fallback timeout must be an integer', MAX_TIMEOUT),
  cors: () => undefined,
  inspector: () => undefined,
  journal: integer('the journal size must be an integer', MAX_JOURNAL),
  faultHeader: () => undefined,
  latency: findLatencyProblem,
  requestTimeout: integer('the request timeout must be an integer', MAX_TIMEOUT),
  adminToken: (token) => !isHeaderText(token) && headerProblem('admin token'),
  logLevel: oneOf('log level', LOG_LEVELS)
}

/** The names of all options, including those without a default. */
export const CONFIG_NAMES: readonly string[] = Object.keys(CHECKS)

function integer(rule: string, max: number) {
  return (value: number) =>
    !(Number.isInteger(value) && value >= 0 && value <= max) &&
    `${rule} from 0 to ${max}, not ${typeof value === 'string' ? `the string '${value}'` : value}`
}

const isHeaderText = (text: unknown) =>
  typeof text === 'string' && /^[ -~\t\u0080-\u00ff]+$/.test(text)

const headerProblem = (name: string) =>
  `the ${name} must not be empty or contain characters that a header can't carry`

/** Doesn't repeat the URL in the message, because it may contain a password. */
function findFallbackProblem(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) {
    return 'the fallback must be a URL that starts with http:// or https://'
  }
  if (url.username !== '' || url.password !== '') {
    return 'the fallback URL must not contain a user name or password; use `fallbackKey`'
  }
  if (/[?#]/.test(text)) return 'the fallback URL must not contain ? or #'
  return undefined
}

/** Checks the combination of `fallback` and `fallbackKey`. */
function findFallbackConflict({ fallback, fallbackKey }: Config): string | undefined {
  if (fallback === undefined) {
    return fallbackKey === undefined
      ? undefined
      : 'a fallback key is set, but no fallback server; ' +
          'set its URL with --fallback (`fallback` in the library)'
  }
  const { hostname } = new URL(fallback)
  const isLoopback = /^(localhost|127[.][\d.]+|\[::1\])$/.test(hostname)
  if (isLoopback || fallbackKey !== undefined) return undefined
  return (
    `the fallback server ${hostname} is on another machine; ` +
    'set its API key with --fallback-key (`fallbackKey` in the library) to forward requests to it'
  )
}

function oneOf(name: string, values: readonly string[]) {
  return (value: string) =>
    !values.includes(value) && `the ${name} must be one of ${values.join(', ')}, not ${value}`
}

/** Adds the defaults to the options. Throws `StartError` for an unknown option or a bad value. */
export function configOf(options: { [Name in keyof Config]?: Config[Name] | undefined }): Config {
  const definedOptions = Object.fromEntries(
    Object.entries(options).filter(([, value]) => value !== undefined)
  )
  const config: Config = { ...DEFAULTS, ...definedOptions }
  if (typeof config.host === 'string') config.host = withoutBrackets(config.host)
  for (const [name, value] of Object.entries(config)) {
    const problem = findProblem(name, value)
    if (problem) throw new StartError(problem)
  }
  const conflict = findFallbackConflict(config)
  if (conflict) throw new StartError(conflict)
  return Object.freeze(config)
}

function findProblem(name: string, value: unknown): string | false | undefined {
  if (Object.hasOwn(CHECKS, name)) return CHECKS[name as keyof Config](value as never)
  return `there is no option ${name}${didYouMean(name, Object.keys(CHECKS))}`
}

/** Returns the host without the brackets that an IPv6 address has in a URL, such as `[::1]`. */
export const withoutBrackets = (host: string): string => host.replace(/^\[([\da-f:.]+)\]$/i, '$1')

/**
 * Returns the host to use in the server's URL. If the server listens on all addresses, this is the
 * loopback address.
 */
export function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}
