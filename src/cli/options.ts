import { type Command, InvalidArgumentError, Option } from 'commander'
import { DEFAULTS } from '../config.js'
import { assumptionIssue, PROFILES } from '../core/assumptions.js'
import { LATENCY_PRESETS, type LatencyPreset, type LatencySetting, latencyIssue, MAX_LATENCY } from '../core/latency.js'
import { suggest } from '../core/suggest.js'

const PREFIX = 'NOTIFICATION_MOCK_'
const ON = ['1', 'true']
const OFF = ['', '0', 'false']

/** Returns the variable that each flag, such as `--api-key`, has; the flag wins over it. */
export function variableOf({ long }: Pick<Option, 'long'>): string {
  return `${PREFIX}${long?.slice(2).toUpperCase().replaceAll('-', '_')}`
}

const withoutVariable = new WeakSet<Option>()

/** Makes a flag one that no variable sets. */
export function flagOnly(option: Option): Option {
  withoutVariable.add(option)
  return option
}

const readVariable = (variable: string) => process.env[variable] ?? ''

/** Adds flags, which can be set by variables as well. */
export function addOptions(command: Command, options: readonly Option[]): Command {
  for (const option of options) {
    const variable = withoutVariable.has(option) ? undefined : setVariableOf(option)
    command.addOption(variable ? option.env(variable) : option)
  }
  return command
}

/** An empty variable counts as unset: that is how many tools pass on what they don't have. */
function setVariableOf(option: Option): string | undefined {
  const own = variableOf(option)
  if (!option.required) return ON.includes(readVariable(own).toLowerCase()) ? own : undefined
  // Kubernetes sets our variable to such an address, for a service that is named notification-mock.
  const isAddress = option.long === '--port' && readVariable(own).startsWith('tcp://')
  const name = takesPort(option) && (readVariable(own) === '' || isAddress) ? 'PORT' : own
  return readVariable(name) === '' || (name === own && isAddress) ? undefined : name
}

/** Whether PORT counts too. Where ours is not the default, it is that of another program. */
function takesPort({ long, defaultValue }: Option): boolean {
  return long === '--port' && defaultValue === DEFAULTS.port
}

/** A flag for a text that must not be empty. Help shows the default, or what it means to leave the flag out. */
export function textOption(flags: string, description: string, unset: string, standard?: string): Option {
  return new Option(flags, description).default(standard, unset).argParser(notEmpty)
}

/** A flag for a whole number. */
export function countOption(flags: string, description: string, most: number, least = 0): Option {
  return new Option(flags, description).argParser((text) => {
    if (/^\d{1,10}$/.test(text) && Number(text) >= least && Number(text) <= most) return Number(text)
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`)
  })
}

export function hostOption(description: string): Option {
  return textOption('--host <address>', description, DEFAULTS.host, DEFAULTS.host)
}

export function portOption(description: string, least: 0 | 1 = 0): Option {
  return countOption('--port <number>', description, 65_535, least).default(DEFAULTS.port)
}

export function profileOption(): Option {
  return new Option('--profile <name>', 'follow the contract (document), or the deployed service (live)')
    .choices(PROFILES)
    .default(DEFAULTS.profile)
}

export function assumeOption(): Option {
  const description = 'set one assumption over the profile; may be repeated, GET /_mock/assumptions lists them'
  return new Option('--assume <id=value>', description)
    .default({}, 'none')
    .argParser((text: string, before: Record<string, string>) => {
      const pairs = text.split(',').map((pair) => pair.split('=', 2).map((part) => part.trim()))
      for (const [id = '', value = ''] of pairs) {
        const issue = assumptionIssue(id, value)
        if (issue) throw new InvalidArgumentError(sentence(issue))
      }
      return { ...before, ...Object.fromEntries(pairs) }
    })
}

/** A flag for a preset, or for milliseconds with or without a spread: `mobile`, `200`, `200,50`. */
export function latencyOption(): Option {
  const description = `delay answers as a network does: ${LATENCY_PRESETS.join(', ')}, or milliseconds, with a spread after a comma`
  return new Option('--latency <preset>', description)
    .default(DEFAULTS.latency)
    .argParser((text): LatencyPreset | LatencySetting => {
      const [, delay, spread = 0] = /^(\d{1,10})(?:, ?(\d{1,10}))?$/.exec(text) ?? []
      const wanted = delay === undefined ? (text as LatencyPreset) : { delay: Number(delay), spread: Number(spread) }
      if (latencyIssue(wanted) === undefined) return wanted
      throw new InvalidArgumentError(
        `It must be one of ${LATENCY_PRESETS.join(', ')}, or milliseconds up to ${MAX_LATENCY} such as 200 or 200,50.`
      )
    })
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${text.endsWith('?') ? '' : '.'}`
}

export function seedOption(): Option {
  const description = 'seed, YAML or JSON, or name of one that comes with the package; may be repeated'
  const option = new Option('--seed <file>', description).default(DEFAULTS.seeds, DEFAULTS.seeds.join(', '))
  return repeatable(option, notEmpty)
}

/** Makes a flag one that may be repeated, its values in a list. The first replaces the default. */
export function repeatable<Value>(option: Option, parse: (text: string) => Value): Option {
  return option.argParser((text: string, before: readonly Value[]) => [
    ...(before === option.defaultValue ? [] : before),
    // A variable can't be repeated.
    ...(readVariable(variableOf(option)) === text ? text.split(',') : [text]).map(parse)
  ])
}

export function notEmpty(text: string): string {
  if (text === '') throw new InvalidArgumentError('It must not be empty.')
  return text
}

/** Returns what help says of a flag: what it does, its default, and its variable. */
export function describeOption(option: Option): string {
  const { long, description, argChoices, defaultValue, defaultValueDescription, required, mandatory } = option
  if (long === '--help' || long === '--version') return description
  const facts = [
    ...(argChoices ? [`one of ${argChoices.join(', ')}`] : []),
    ...(required && !mandatory ? [`default: ${defaultValueDescription ?? defaultValue}`] : []),
    ...(withoutVariable.has(option)
      ? []
      : [`env: ${variableOf(option)}${required ? '' : '=1'}${takesPort(option) ? ', else PORT' : ''}`])
  ]
  return `${description}\n(${facts.join('; ')})`
}

/** Ends the command with a usage error if one of its variables has a wrong value, or a misspelt one is set. */
export function checkVariables(command: Command, all: readonly Command[]): void {
  for (const variable of command.options.filter(({ required }) => !required).map(variableOf)) {
    const value = readVariable(variable)
    if (![...ON, ...OFF].includes(value.toLowerCase())) {
      command.error(`error: ${variable} must be 1 or 0, not ${value}`)
    }
  }
  const known = all.flatMap(({ options }) => options.map(variableOf))
  for (const name of Object.keys(process.env)) {
    if (!name.startsWith(PREFIX) || known.includes(name)) continue
    const meant = known.find((each) => suggest(name.slice(PREFIX.length), [each.slice(PREFIX.length)]))
    if (meant) command.error(`error: there is no variable ${name}; did you mean ${meant}?`)
  }
}
