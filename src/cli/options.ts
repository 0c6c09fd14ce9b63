import { randomBytes } from 'node:crypto'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { type Config, DEFAULTS, LOG_LEVELS, MAX_JOURNAL, MAX_REQUEST_TIMEOUT } from '../config.js'
import { assumptionIssue, PROFILES } from '../domain/assumptions.js'
import {
  findLatencyProblem,
  LATENCY_PRESETS,
  type LatencyPreset,
  type LatencySetting
} from '../domain/latency.js'
import type { MockOptions } from '../index.js'

/** The flags of every command that starts a server. */
export interface ServerFlags extends Omit<Config, 'seeds' | 'assumptions'> {
  /** False after `--no-seed`. */
  seed: readonly string[] | false
  watch?: true
  assume: Record<string, string>
  json?: true
}

/** Adds the flags of every command that starts a server; what is added after them is about what it tells. */
export function addServerOptions(
  command: Command,
  port = DEFAULTS.port,
  logLevel = DEFAULTS.logLevel
): Command {
  const adminToken = 'token that lets other machines manage environments'
  const inspector = 'leave out the page at /, on which one sees and works the server in a browser'
  const timeout = 'how long a client may take to send a request; 0 for as long as it likes'
  const watch =
    'apply changes of the seed files while running, also to data kept from before; print each'
  const data = 'keep the data in this file; a new one is seeded, an old one is left as it is'
  const exporting =
    'when it stops, write all that it has then to this seed; --seed with it goes on from there'
  const journal = 'how many of the last requests each journal keeps; 0 turns it off'
  const level = new Option(
    '--log-level <level>',
    'what to log on stderr: refusals at info, every request at debug'
  )
  addOptions(command.optionsGroup('Where it listens:'), [
    hostOption('address to listen on'),
    portOption('port to listen on; 0 takes a free one, and says which').default(port),
    textOption('--admin-token <token>', adminToken, 'one is made if the host is not loopback'),
    new Option('--no-cors', 'do not let web pages of other origins call'),
    new Option('--no-inspector', inspector),
    countOption('--request-timeout <milliseconds>', timeout, MAX_REQUEST_TIMEOUT).default(
      DEFAULTS.requestTimeout
    )
  ])
  addOptions(command.optionsGroup('What it holds:'), [
    seedOption(),
    new Option('--no-seed', 'start empty: without environments, and so without keys'),
    new Option('--watch', watch),
    textOption('--data <file>', data, 'in memory'),
    textOption('--export-on-exit <file>', exporting, 'nothing')
  ])
  addOptions(command.optionsGroup('How it answers:'), [
    profileOption(),
    assumeOption(),
    new Option(
      '--no-fault-header',
      'do not let a request ask for a fault by its header x-mock-fault'
    ),
    latencyOption()
  ])
  return addOptions(command.optionsGroup('What it tells:'), [
    countOption('--journal <count>', journal, MAX_JOURNAL).default(DEFAULTS.journal),
    level.choices(LOG_LEVELS).default(logLevel)
  ])
}

/**
 * Returns what the flags ask for, with a new admin token if other machines can reach the server and none is given. Ends the
 * command with a usage error if they contradict each other.
 */
export function mockOptions(flags: ServerFlags, command: Command): MockOptions {
  const { host, seed, watch, assume: assumptions } = flags
  if (watch && !seed) {
    command.error(
      'error: --watch and --no-seed contradict each other: without a seed there is nothing to watch'
    )
  }
  const isOpen = !/^(localhost|::1|127\..*)$/.test(host)
  const adminToken = flags.adminToken ?? (isOpen ? randomBytes(16).toString('hex') : undefined)
  // These two have no default. The others are named like their options too.
  const names = [...Object.keys(DEFAULTS), 'data', 'exportOnExit']
  const own = Object.entries(flags).filter(([name]) => names.includes(name))
  return { ...Object.fromEntries(own), adminToken, seeds: seed || [], assumptions }
}

/** Returns the variable that each flag, such as `--api-key`, has; the flag wins over it. */
export const variableOf = ({ long }: Pick<Option, 'long'>) =>
  `NOTIFICATION_MOCK_${long?.slice(2).toUpperCase().replaceAll('-', '_')}`

/** Adds flags, which can be set by variables as well. */
export function addOptions(command: Command, options: readonly Option[]): Command {
  const { env } = process
  for (const option of options) {
    const variable = variableOf(option)
    const value = env[variable]?.toLowerCase() ?? ''
    // Empty counts as unset: that is how many tools pass on what they don't have. Kubernetes sets that of the port to such
    // an address, for a service that is named notification-mock.
    const isAddress = option.long === '--port' && value.startsWith('tcp://')
    if (value === '' || isAddress || (!option.required && /^(0|false|no|off)$/.test(value)))
      delete env[variable]
    command.addOption(
      option.env(env[variable] === undefined && takesPort(option) && env.PORT ? 'PORT' : variable)
    )
  }
  return command
}

/** Whether PORT counts too. Where ours is not the default, it is that of another program. */
const takesPort = ({ long, defaultValue }: Option) =>
  long === '--port' && defaultValue === DEFAULTS.port

/** A flag for a text that must not be empty. Help shows the default, or what it means to leave the flag out. */
export function textOption(
  flags: string,
  description: string,
  unset: string,
  standard?: string
): Option {
  return new Option(flags, description).default(standard, unset).argParser(notEmpty)
}

/** A flag for a whole number. */
export function countOption(flags: string, description: string, most: number, least = 0): Option {
  return new Option(flags, description).argParser((text) => {
    if (/^\d{1,10}$/.test(text) && Number(text) >= least && Number(text) <= most)
      return Number(text)
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`)
  })
}

export const hostOption = (description: string) =>
  textOption('--host <address>', description, DEFAULTS.host, DEFAULTS.host)

export const portOption = (description: string, least: 0 | 1 = 0) =>
  countOption('--port <number>', description, 65_535, least).default(DEFAULTS.port)

/** A flag for a profile: without a default, if help can say what it means to leave it out. */
export function profileOption(description?: string, unset?: string): Option {
  const usual = 'follow the contract (document), or the deployed service (live)'
  const option = new Option('--profile <name>', description ?? usual).choices(PROFILES)
  return option.default(unset === undefined ? DEFAULTS.profile : undefined, unset)
}

export function assumeOption(): Option {
  const description =
    'set one assumption over the profile; may be repeated, GET /_mock/assumptions lists them'
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

/** A flag for a preset, or for milliseconds with or without a spread: `mobile`, `200`, `200,50`. */
export function latencyOption(): Option {
  const what = `delay answers as a network does: ${LATENCY_PRESETS.join(', ')}, or milliseconds, with a spread after a comma`
  return new Option('--latency <preset>', what)
    .default(DEFAULTS.latency)
    .argParser((text): LatencyPreset | LatencySetting => {
      const [, delay, spread = 0] = /^(\d+)(?:, ?(\d+))?$/.exec(text) ?? []
      const wanted =
        delay === undefined
          ? (text as LatencyPreset)
          : { delay: Number(delay), spread: Number(spread) }
      const issue = findLatencyProblem(wanted)
      if (issue)
        throw new InvalidArgumentError(
          `${issue}; milliseconds are written as 200, or 200,50 with a spread`
        )
      return wanted
    })
}

export function seedOption(): Option {
  const description =
    'seed, YAML or JSON, or name of one that comes with the package; may be repeated'
  return repeatable('--seed <file>', description, DEFAULTS.seeds, DEFAULTS.seeds.join(', '))
}

/** A flag that may be repeated, its values in a list. The first replaces the default. */
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
    // A variable can't be repeated.
    ...(process.env[variableOf(option)] === text ? text.split(',') : [text]).map(parse)
  ])
}

function notEmpty(text: string): string {
  if (text === '') throw new InvalidArgumentError('It must not be empty.')
  return text
}

/** Returns what help says of a flag. Commander would leave out defaults that are no value, such as "in memory". */
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
