import { randomBytes } from 'node:crypto'
import { type Command, InvalidArgumentError, Option } from 'commander'
import {
  CONFIG_NAMES,
  type Config,
  DEFAULTS,
  LOG_LEVELS,
  MAX_JOURNAL,
  MAX_TIMEOUT,
  withoutBrackets
} from '../config.js'
import { assumptionIssue, PROFILES } from '../domain/assumptions.js'
import {
  findLatencyProblem,
  LATENCY_PRESETS,
  type LatencyPreset,
  type LatencySetting
} from '../domain/latency.js'
import { STUB_SETS } from '../domain/stub.js'
import type { MockOptions } from '../index.js'

/** The flags shared by all commands that start a server. */
export interface ServerFlags extends Omit<Config, 'seeds' | 'assumptions'> {
  /** False after `--no-seed`. */
  seed: readonly string[] | false
  watch?: true
  assume: Record<string, string>
  json?: true
}

/**
 * Adds the flags shared by all commands that start a server. Flags that a caller adds afterwards
 * appear in the last help group, "Logs and output".
 */
export function addServerOptions(
  command: Command,
  port = DEFAULTS.port,
  logLevel = DEFAULTS.logLevel
): Command {
  const adminToken = 'token that other machines need to manage environments'
  const inspector = 'do not serve the inspector at /'
  const timeout = 'how long a client may take to send a request; 0 means no limit'
  const watch = 'reload the seed files on every change, even with an existing data file'
  const data = 'keep the data in this file; seeds apply only to a new file'
  const exporting = 'write all data to this file on exit, as a seed for --seed'
  const journal = 'how many requests each journal keeps; 0 turns off all journals'
  const stubs = "add stubs for the rest of Novu's API to each new environment"
  const fallback = "forward requests for the rest of Novu's API to this server"
  const fallbackKey = 'API key for the fallback server; required if it is on another machine'
  const fallbackTimeout = 'how long to wait if the fallback server sends nothing; 0 means no limit'
  const level = new Option(
    '--log-level <level>',
    'log level of stderr; info logs rejected requests, debug logs all requests'
  )
  addOptions(command.optionsGroup('Network:'), [
    hostOption('address to listen on'),
    portOption('port to listen on; 0 selects a free one').default(port),
    textOption('--admin-token <token>', adminToken, 'generated if the host is not loopback'),
    new Option('--no-cors', 'reject requests from web pages of other origins'),
    new Option('--no-inspector', inspector),
    countOption('--request-timeout <milliseconds>', timeout, MAX_TIMEOUT).default(
      DEFAULTS.requestTimeout
    )
  ])
  addOptions(command.optionsGroup('Data:'), [
    seedOption(),
    new Option('--no-seed', 'start without environments and API keys'),
    new Option('--watch', watch),
    textOption('--data <file>', data, 'in memory'),
    textOption('--export-on-exit <file>', exporting, 'nothing')
  ])
  addOptions(command.optionsGroup('Behavior:'), [
    profileOption(),
    assumeOption(),
    new Option('--stubs <set>', stubs).choices(STUB_SETS).default(undefined, 'none'),
    textOption('--fallback <url>', fallback, 'none'),
    textOption('--fallback-key <key>', fallbackKey, 'fallback'),
    countOption('--fallback-timeout <milliseconds>', fallbackTimeout, MAX_TIMEOUT).default(
      DEFAULTS.fallbackTimeout
    ),
    new Option('--no-fault-header', 'ignore the request header x-mock-fault'),
    latencyOption()
  ])
  return addOptions(command.optionsGroup('Logs and output:'), [
    countOption('--journal <count>', journal, MAX_JOURNAL).default(DEFAULTS.journal),
    level.choices(LOG_LEVELS).default(logLevel)
  ])
}

/**
 * Converts the flags to options. If other machines can reach the server and no admin token is set,
 * generates one. Ends the command with a usage error if flags contradict each other.
 */
export function mockOptions(flags: ServerFlags, command: Command): MockOptions {
  const { host, seed, watch, assume: assumptions } = flags
  if (watch && !seed) {
    command.error(
      'error: --watch and --no-seed contradict each other: there would be nothing to watch'
    )
  }
  const isOpen = !/^(localhost|::1|127\..*)$/.test(host)
  const adminToken = flags.adminToken ?? (isOpen ? randomBytes(16).toString('hex') : undefined)
  const serverFlags = Object.entries(flags).filter(([name]) => CONFIG_NAMES.includes(name))
  return { ...Object.fromEntries(serverFlags), adminToken, seeds: seed || [], assumptions }
}

/**
 * Returns the environment variable of a flag, such as `NOTIFICATION_MOCK_API_KEY` for `--api-key`.
 */
export const variableOf = ({ long }: Pick<Option, 'long'>) =>
  `NOTIFICATION_MOCK_${long?.slice(2).toUpperCase().replaceAll('-', '_')}`

const optionsWithoutVariable = new WeakSet<Option>()

/**
 * Keeps a flag from reading an environment variable. Use this if another command has a flag with
 * the same name but a different meaning, because both flags would read the same variable.
 */
export function withoutVariable(option: Option): Option {
  optionsWithoutVariable.add(option)
  return option
}

/** Adds flags and their environment variables. A flag overrides its variable. */
export function addOptions(command: Command, options: readonly Option[]): Command {
  for (const option of options) {
    command.addOption(optionsWithoutVariable.has(option) ? option : setVariable(option))
  }
  return command
}

/** Makes the flag read its environment variable. */
function setVariable(option: Option): Option {
  const { env } = process
  const variable = variableOf(option)
  const value = env[variable]?.toLowerCase() ?? ''
  // Ignore an empty variable, because many tools pass unset variables that way. For `--port`, also
  // ignore an address such as tcp://10.0.0.1:80: Kubernetes sets NOTIFICATION_MOCK_PORT to an
  // address if a service is named notification-mock.
  const isAddress = option.long === '--port' && value.startsWith('tcp://')
  if (value === '' || isAddress || (!option.required && /^(0|false|no|off)$/.test(value)))
    delete env[variable]
  return option.env(
    env[variable] === undefined && takesPort(option) && env.PORT ? 'PORT' : variable
  )
}

/**
 * Returns whether the variable PORT can also set the flag. Commands with a different default port,
 * such as `exec`, ignore PORT, because it may be meant for the program that they run.
 */
const takesPort = ({ long, defaultValue }: Option) =>
  long === '--port' && defaultValue === DEFAULTS.port

/** Creates a flag for a non-empty string. The help shows the text in `unset` as its default. */
export function textOption(
  flags: string,
  description: string,
  unset: string,
  standard?: string
): Option {
  return new Option(flags, description).default(standard, unset).argParser(notEmpty)
}

/** Creates a flag for an integer. */
export function countOption(flags: string, description: string, max: number, min = 0): Option {
  return new Option(flags, description).argParser((text) => {
    if (/^\d{1,10}$/.test(text) && Number(text) >= min && Number(text) <= max) return Number(text)
    throw new InvalidArgumentError(`It must be an integer from ${min} to ${max}.`)
  })
}

export const hostOption = (description: string) =>
  textOption('--host <address>', description, DEFAULTS.host, DEFAULTS.host).argParser((host) =>
    withoutBrackets(notEmpty(host))
  )

export const portOption = (description: string, min: 0 | 1 = 0) =>
  countOption('--port <number>', description, 65_535, min).default(DEFAULTS.port)

/**
 * Creates the flag for a profile. If `unset` is given, the flag has no default, and the help shows
 * the text in `unset` instead.
 */
export function profileOption(description?: string, unset?: string): Option {
  const standard = "behave like Novu's API reference (document) or its production API (live)"
  const option = new Option('--profile <name>', description ?? standard).choices(PROFILES)
  return option.default(unset === undefined ? DEFAULTS.profile : undefined, unset)
}

export function assumeOption(): Option {
  const description =
    'override an assumption of the profile; repeatable; GET /_mock/assumptions lists them'
  return new Option('--assume <id=value>', description)
    .default({}, 'none')
    .argParser((text: string, before: Record<string, string>) => {
      const pairs = text.split(',').map((pair) => pair.split('=', 2).map((part) => part.trim()))
      for (const [id = '', value = ''] of pairs) {
        const issue = assumptionIssue(id, value)
        if (issue) throw new InvalidArgumentError(issue)
      }
      return { ...before, ...Object.fromEntries(pairs) }
    })
}

/**
 * Creates the flag for the latency. It accepts a preset such as `mobile`, milliseconds such as
 * `200`, or milliseconds and a spread such as `200,50`.
 */
export function latencyOption(): Option {
  const presets = LATENCY_PRESETS.join(', ')
  const what = `delay responses: ${presets}, or milliseconds such as 200 or 200,50 (with spread)`
  return new Option('--latency <preset>', what)
    .default(DEFAULTS.latency)
    .argParser((text): LatencyPreset | LatencySetting => {
      const [, delay, spread = 0] = /^(\d+)(?:, ?(\d+))?$/.exec(text) ?? []
      const latency =
        delay === undefined
          ? (text as LatencyPreset)
          : { delay: Number(delay), spread: Number(spread) }
      const issue = findLatencyProblem(latency)
      if (issue)
        throw new InvalidArgumentError(
          `${issue}; write milliseconds as 200, or as 200,50 with a spread`
        )
      return latency
    })
}

export function seedOption(): Option {
  const description =
    'seed file (YAML or JSON), name of a built-in seed, or - for stdin; repeatable'
  return repeatable('--seed <file>', description, DEFAULTS.seeds, DEFAULTS.seeds.join(', '))
}

/** Creates a repeatable flag that collects its values. The first value replaces the default. */
export function repeatable<Value = string>(
  flags: string,
  description: string,
  standard: readonly Value[] | undefined,
  unset: string,
  parse: (text: string) => Value = notEmpty as never
): Option {
  const option = new Option(flags, description).default(standard, unset)
  return option.argParser((text: string, before: readonly Value[] | false | undefined) => [
    ...(before && before !== standard ? before : []),
    // A variable can't be repeated, so commas separate its values.
    ...(isVariable(option, text) ? text.split(',') : [text]).map(parse)
  ])
}

/** Returns whether the value is the same as in the flag's environment variable. */
const isVariable = ({ envVar }: Option, text: string) =>
  envVar !== undefined && process.env[envVar] === text

function notEmpty(text: string): string {
  if (text === '') throw new InvalidArgumentError('It must not be empty.')
  return text
}

/**
 * Returns the help text of a flag, with its default. Commander's own help omits defaults that have
 * only a description, such as "in memory".
 */
export function describeOption(option: Option): string {
  const {
    description,
    argChoices,
    defaultValue,
    defaultValueDescription,
    required,
    mandatory,
    envVar
  } = option
  const facts = [
    argChoices && `one of ${argChoices.join(', ')}`,
    required && !mandatory && `default: ${defaultValueDescription ?? defaultValue}`,
    envVar &&
      `env: ${variableOf(option)}${required ? '' : '=1'}${takesPort(option) ? ', else PORT' : ''}`
  ].filter(Boolean)
  return facts.length > 0 ? `${description}\n(${facts.join('; ')})` : description
}
