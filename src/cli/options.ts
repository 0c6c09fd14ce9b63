import { type Command, InvalidArgumentError, Option } from 'commander'
import { DEFAULTS, LOG_LEVELS, MAX_JOURNAL } from '../config.js'
import { assumptionComplaint, PROFILES } from '../core/assumptions.js'
import { parseTime } from '../core/clock.js'
import { suggest } from '../core/suggest.js'

const PREFIX = 'NOTIFICATION_MOCK_'

/** Every flag has a variable of the same name; the flag wins. */
function variableOf(flag: string): string {
  return `${PREFIX}${flag.replace(/^--/, '').toUpperCase().replaceAll('-', '_')}`
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
    .argParser((text) => {
      if (!/^\d{1,5}$/.test(text) || Number(text) < least || Number(text) > 65_535) {
        throw new InvalidArgumentError(`It must be a whole number from ${least} to 65535.`)
      }
      return Number(text)
    })
}

export function profileOption(): Option {
  return flag('--profile <name>', 'follow the contract (document), or the deployed service (live)')
    .choices(PROFILES)
    .default(DEFAULTS.profile)
}

export function assumeOption(): Option {
  return flag(
    '--assume <id=value>',
    'set one assumption over the profile; may be repeated, GET /_mock/assumptions lists them'
  )
    .default({}, 'none')
    .argParser((text: string, before: Record<string, string>) => {
      const assumptions = { ...before }
      for (const pair of text.split(',')) {
        const [id = '', value = ''] = pair.split('=', 2).map((part) => part.trim())
        const complaint = assumptionComplaint(id, value)
        if (complaint) throw new InvalidArgumentError(sentence(complaint))
        assumptions[id] = value
      }
      return assumptions
    })
}

export function logLevelOption(): Option {
  return flag('--log-level <level>', 'what to log on stderr: refusals at info, every request at debug')
    .choices(LOG_LEVELS)
    .default(DEFAULTS.logLevel)
}

export function dataOption(): Option {
  return flag('--data <file>', 'keep the data in this file; a new one is seeded, an old one is left as it is')
    .default(undefined, 'in memory')
    .argParser(notEmpty)
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

export function journalOption(): Option {
  const description = 'how many of the last requests each journal keeps; 0 turns it off'
  return countOption('--journal <count>', description, MAX_JOURNAL).default(DEFAULTS.journal)
}

export function countOption(flags: string, description: string, most: number, least = 0): Option {
  return flag(flags, description).argParser((text) => {
    if (!/^\d{1,10}$/.test(text) || Number(text) < least || Number(text) > most) {
      throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`)
    }
    return Number(text)
  })
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

export function environmentOption(): Option {
  return flag('--environment <name>', 'name or id of the environment')
    .default(undefined, 'the first')
    .argParser(notEmpty)
}

export function outOption(): Option {
  return flag('--out <file>', 'write a seed of the environment (.yaml), or the messages alone, one a line (.ndjson)')
    .default(undefined, 'none')
    .argParser(notEmpty)
}

export function writtenDataOption(): Option {
  return flag('--data <file>', 'add them to this data file; a new one is seeded first')
    .default(undefined, 'none')
    .argParser(notEmpty)
}

export function adminTokenOption(): Option {
  return flag('--admin-token <token>', 'what environments are managed with from other machines')
    .default(undefined, 'one is made and printed if the host is not loopback')
    .argParser(notEmpty)
}

export function noFaultHeaderOption(): Option {
  return plainSwitch('--no-fault-header', 'do not let a request ask for a fault by its header x-mock-fault')
}

export function noSeedOption(): Option {
  return plainSwitch('--no-seed', 'start empty: without environments, and so without keys')
}

export function watchOption(): Option {
  return plainSwitch(
    '--watch',
    'take over what changes in the seed files while running, also into data that was left as it is; say what it was'
  )
}

export function noCorsOption(): Option {
  return plainSwitch('--no-cors', 'do not let web pages of other origins call')
}

export function jsonOption(description: string): Option {
  return plainSwitch('--json', description)
}

function flag(flags: string, description: string): Option {
  return withVariable(new Option(flags, description))
}

/** A flag without a value, whose own name is that of its property: `--no-cors` sets `noCors`. */
function plainSwitch(name: string, description: string): Option {
  const option = new Option(name, description)
  option.negate = false
  const set = process.env[variableOf(name)]
  return set && SWITCHED_ON.includes(set.toLowerCase()) ? withVariable(option) : option
}

const SWITCHED_ON = ['1', 'true']
const SWITCHED_OFF = ['', '0', 'false']

/** An empty variable is one that is not set: that is how many tools pass on what they don't have. */
function withVariable(option: Option, name = variableOf(option.long ?? '')): Option {
  return process.env[name] ? option.env(name) : option
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith('?') ? '' : '.'}`
}

function notEmpty(text: string): string {
  if (text === '') throw new InvalidArgumentError('It must not be empty.')
  return text
}

/** What a flag does, its default, and its variable: what help tells of each. */
export function describeOption({
  long,
  description,
  argChoices,
  defaultValue,
  defaultValueDescription,
  required,
  mandatory
}: Option): string {
  if (long === '--help' || long === '--version') return description
  const facts = [
    ...(argChoices ? [`one of ${argChoices.join(', ')}`] : []),
    ...(required && !mandatory ? [`default: ${defaultValueDescription ?? defaultValue}`] : []),
    `env: ${variableOf(long ?? '')}${required ? '' : '=1'}${long === '--port' ? ', else PORT' : ''}`
  ]
  return `${description}\n(${facts.join('; ')})`
}

/** Ends the command with a usage error if a variable that it reads, or nearly, is not what it should be. */
export function refuseWrongVariables(command: Command, all: readonly Command[]): void {
  for (const { long, required } of command.options) {
    const name = variableOf(long ?? '')
    const value = process.env[name] ?? ''
    if (!required && ![...SWITCHED_ON, ...SWITCHED_OFF].includes(value.toLowerCase())) {
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
