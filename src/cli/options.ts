import { type Command, InvalidArgumentError, Option } from 'commander'
import { DEFAULTS, LOG_LEVELS, MAX_JOURNAL } from '../config.js'
import { assumptionIssue, PROFILES } from '../core/assumptions.js'
import { parseTime } from '../core/clock.js'
import { suggest } from '../core/suggest.js'

const PREFIX = 'NOTIFICATION_MOCK_'
const ON = ['1', 'true']
const OFF = ['', '0', 'false']

/** Returns the name of the variable that each flag has; the flag wins over it. */
function variableOf(flag: string): string {
  return `${PREFIX}${flag.replace(/^--/, '').toUpperCase().replaceAll('-', '_')}`
}

/** An empty variable counts as unset: that is how many tools pass on what they don't have. */
function withVariable(option: Option, name = variableOf(option.long ?? '')): Option {
  return process.env[name] ? option.env(name) : option
}

function flag(flags: string, description: string): Option {
  return withVariable(new Option(flags, description))
}

/** A flag for a text that must not be empty. Without a default, help says what it means to leave it out. */
export function textFlag(flags: string, description: string, unset: string): Option {
  return flag(flags, description).default(undefined, unset).argParser(notEmpty)
}

/** A flag without a value. It sets the property of its whole name: `--no-cors` sets `noCors`. */
function switchFlag(name: string, description: string): Option {
  const option = new Option(name, description)
  option.negate = false
  return ON.includes(process.env[variableOf(name)]?.toLowerCase() ?? '') ? withVariable(option) : option
}

export function hostOption(description: string): Option {
  return flag('--host <address>', description).default(DEFAULTS.host).argParser(notEmpty)
}

export function portOption(description: string, least: 0 | 1 = 0): Option {
  const own = variableOf('--port')
  const value = process.env[own] ?? ''
  // Kubernetes sets our variable to such an address, for a service that is named notification-mock.
  const name = value === '' || value.startsWith('tcp://') ? 'PORT' : own
  return withVariable(new Option('--port <number>', description), name)
    .default(DEFAULTS.port)
    .argParser((text) => wholeNumber(text, least, 65_535))
}

export function profileOption(): Option {
  return flag('--profile <name>', 'follow the contract (document), or the deployed service (live)')
    .choices(PROFILES)
    .default(DEFAULTS.profile)
}

export function assumeOption(): Option {
  const description = 'set one assumption over the profile; may be repeated, GET /_mock/assumptions lists them'
  return flag('--assume <id=value>', description)
    .default({}, 'none')
    .argParser((text: string, before: Record<string, string>) => {
      const assumptions = { ...before }
      for (const pair of text.split(',')) {
        const [id = '', value = ''] = pair.split('=', 2).map((part) => part.trim())
        const issue = assumptionIssue(id, value)
        if (issue) throw new InvalidArgumentError(sentence(issue))
        assumptions[id] = value
      }
      return assumptions
    })
}

export function seedOption(): Option {
  return flag('--seed <file>', 'seed, YAML or JSON, or name of one that comes with the package; may be repeated')
    .default(DEFAULTS.seeds, DEFAULTS.seeds.join(', '))
    .argParser((text: string, before: readonly string[]) => [
      ...(before === DEFAULTS.seeds ? [] : before),
      // A variable can't be repeated.
      ...(process.env[variableOf('--seed')] === text ? text.split(',') : [text]).map(notEmpty)
    ])
}

export function countOption(flags: string, description: string, most: number, least = 0): Option {
  return flag(flags, description).argParser((text) => wholeNumber(text, least, most))
}

export function timeOption(flags: string, description: string): Option {
  return flag(flags, description)
    .default(undefined, 'now')
    .argParser((text) => {
      const time = parseTime(text)
      if (time === undefined) throw new InvalidArgumentError('It must be a time such as 2026-02-18T10:07:11Z.')
      return time
    })
}

export function jsonOption(description: string): Option {
  return switchFlag('--json', description)
}

/** The flags of `serve`, in the order of its help. */
export function serveOptions(): Option[] {
  const none = 'one is made and printed if the host is not loopback'
  return [
    hostOption('address to listen on'),
    portOption('port to listen on; 0 takes a free one, and says which'),
    seedOption(),
    switchFlag('--no-seed', 'start empty: without environments, and so without keys'),
    switchFlag('--watch', 'apply changes of the seed files while running, also to data kept from before; print each'),
    textFlag(
      '--data <file>',
      'keep the data in this file; a new one is seeded, an old one is left as it is',
      'in memory'
    ),
    profileOption(),
    assumeOption(),
    switchFlag('--no-cors', 'do not let web pages of other origins call'),
    countOption(
      '--journal <count>',
      'how many of the last requests each journal keeps; 0 turns it off',
      MAX_JOURNAL
    ).default(DEFAULTS.journal),
    switchFlag('--no-fault-header', 'do not let a request ask for a fault by its header x-mock-fault'),
    textFlag('--admin-token <token>', 'token that lets other machines manage environments', none),
    flag('--log-level <level>', 'what to log on stderr: refusals at info, every request at debug')
      .choices(LOG_LEVELS)
      .default(DEFAULTS.logLevel),
    jsonOption('print one line of JSON when ready, and one for each change that is watched, instead of text')
  ]
}

function wholeNumber(text: string, least: number, most: number): number {
  if (/^\d{1,10}$/.test(text) && Number(text) >= least && Number(text) <= most) return Number(text)
  throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`)
}

function notEmpty(text: string): string {
  if (text === '') throw new InvalidArgumentError('It must not be empty.')
  return text
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith('?') ? '' : '.'}`
}

/** Returns what help says of a flag: what it does, its default, and its variable. */
export function describeOption(option: Option): string {
  const { long, description, argChoices, defaultValue, defaultValueDescription, required, mandatory } = option
  if (long === '--help' || long === '--version') return description
  const facts = [
    ...(argChoices ? [`one of ${argChoices.join(', ')}`] : []),
    ...(required && !mandatory ? [`default: ${defaultValueDescription ?? defaultValue}`] : []),
    `env: ${variableOf(long ?? '')}${required ? '' : '=1'}${long === '--port' ? ', else PORT' : ''}`
  ]
  return `${description}\n(${facts.join('; ')})`
}

/** Ends the command with a usage error if one of its variables has a wrong value, or a misspelt one is set. */
export function checkVariables(command: Command, all: readonly Command[]): void {
  for (const { long, required } of command.options) {
    const name = variableOf(long ?? '')
    const value = process.env[name] ?? ''
    if (!required && ![...ON, ...OFF].includes(value.toLowerCase())) {
      command.error(`error: ${name} must be 1 or 0, not ${value}`)
    }
  }
  const known = all.flatMap(({ options }) => options.map(({ long }) => variableOf(long ?? '')))
  for (const name of Object.keys(process.env)) {
    if (!name.startsWith(PREFIX) || known.includes(name)) continue
    const meant = known.find((each) => suggest(name.slice(PREFIX.length), [each.slice(PREFIX.length)]))
    if (meant) command.error(`error: there is no variable ${name}; did you mean ${meant}?`)
  }
}
