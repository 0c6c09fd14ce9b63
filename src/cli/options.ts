import { InvalidArgumentError, Option } from 'commander'
import { assumptionComplaint, PROFILES } from '../assumptions.js'
import { DEFAULTS, LOG_LEVELS } from '../config.js'
import { StartError } from '../errors.js'

/** Every flag has a variable of the same name; the flag wins. */
function variable(name: string): string {
  return `NOTIFICATION_MOCK_${name.toUpperCase().replaceAll('-', '_')}`
}

export function hostOption(): Option {
  return new Option('--host <address>', 'address to listen on').default(DEFAULTS.host).env(variable('host'))
}

export function portOption(): Option {
  // PORT is what many hosts set; our own variable wins over it.
  const name = process.env[variable('port')] === undefined && process.env.PORT ? 'PORT' : variable('port')
  return new Option('--port <number>', 'port to listen on; 0 takes a free one')
    .default(DEFAULTS.port)
    .env(name)
    .argParser((text) => {
      if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) {
        throw new InvalidArgumentError('It must be a whole number from 0 to 65535.')
      }
      return Number(text)
    })
}

export function profileOption(): Option {
  return new Option('--profile <name>', 'follow the contract (document) or the deployed service (live)')
    .choices(PROFILES)
    .default(DEFAULTS.profile)
    .env(variable('profile'))
}

export function assumeOption(): Option {
  return new Option('--assume <id=value>', 'set one assumption, may be repeated; GET /_mock/assumptions lists them')
    .default({}, 'those of the profile')
    .env(variable('assume'))
    .argParser((text: string, before: Record<string, string> = {}) => {
      const assumptions = { ...before }
      for (const pair of text.split(',')) {
        const [id = '', value = ''] = pair.split('=', 2).map((part) => part.trim())
        const complaint = assumptionComplaint(id, value)
        if (complaint) throw new InvalidArgumentError(`${complaint}.`)
        assumptions[id] = value
      }
      return assumptions
    })
}

export function logLevelOption(): Option {
  return new Option('--log-level <level>', 'what to log, on stderr: refusals at info, every request at debug')
    .choices(LOG_LEVELS)
    .default(DEFAULTS.logLevel)
    .env(variable('log-level'))
}

export function dataOption(): Option {
  return new Option('--data <file>', 'keep the data in this file; it is made and seeded if it is not there').env(
    variable('data')
  )
}

export function seedOption(): Option {
  return new Option('--seed <file>', 'seed file, or name of one that comes with the package, may be repeated')
    .default(DEFAULTS.seeds, DEFAULTS.seeds.join(', '))
    .env(variable('seed'))
    .argParser((text: string, before: readonly string[]) => [
      ...(before === DEFAULTS.seeds ? [] : before),
      ...(process.env[variable('seed')] === text ? text.split(',') : [text])
    ])
}

export function journalOption(): Option {
  return new Option('--journal <count>', 'requests that each journal keeps; 0 turns it off')
    .default(DEFAULTS.journal)
    .env(variable('journal'))
    .argParser((text) => {
      if (!/^\d{1,7}$/.test(text) || Number(text) > 1_000_000) {
        throw new InvalidArgumentError('It must be a whole number from 0 to 1000000.')
      }
      return Number(text)
    })
}

export function adminTokenOption(): Option {
  return new Option(
    '--admin-token <token>',
    'what environments are managed with from other machines; made and printed if --host is not loopback'
  ).env(variable('admin-token'))
}

export function noFaultHeaderOption(): Option {
  return switchOption('--no-fault-header', 'do not let a request ask for a fault by its header x-mock-fault')
}

export function noSeedOption(): Option {
  return switchOption('--no-seed', 'start empty')
}

export function noCorsOption(): Option {
  return switchOption('--no-cors', 'do not let web pages of other origins call')
}

export function jsonOption(description: string): Option {
  return switchOption('--json', description)
}

/** A flag without a value; its variable turns it on with 1 or true, and leaves it off with 0, false or nothing. */
function switchOption(flag: string, description: string): Option {
  const name = variable(flag.slice(2))
  const option = new Option(flag, `${description} (env: ${name}=1)`)
  const set = (process.env[name] ?? '').toLowerCase()
  if (!['', '0', '1', 'false', 'true'].includes(set)) throw new StartError(`${name} must be 1 or 0, not ${set}`)
  return set === '1' || set === 'true' ? option.env(name) : option
}
