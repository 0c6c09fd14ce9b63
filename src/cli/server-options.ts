import { randomBytes } from 'node:crypto'
import { type Command, Option } from 'commander'
import type { Logger } from 'pino'
import { type Config, DEFAULTS, LOG_LEVELS, type LogLevel, MAX_JOURNAL, MAX_REQUEST_TIMEOUT } from '../config.js'
import { writeToStderr } from '../core/stderr.js'
import type { MockOptions } from '../index.js'
import { formatRequest } from './log-lines.js'
import {
  assumeOption,
  countOption,
  hostOption,
  latencyOption,
  portOption,
  profileOption,
  seedOption,
  textOption
} from './options.js'

/** The flags of every command that starts a server. */
export interface ServerFlags extends Omit<Config, 'seeds' | 'assumptions'> {
  seed: readonly string[]
  noSeed?: true
  watch?: true
  assume: Record<string, string>
}

/** The heading of the help for what is recorded and printed. */
export const TELLING = 'What it tells:'

/** Returns the flags of every command that starts a server, in the order of the help. */
export function serverOptions({ port, logLevel }: Pick<Config, 'port' | 'logLevel'> = DEFAULTS): Option[] {
  const noSeed = new Option('--no-seed', 'start empty: without environments, and so without keys')
  // It sets `noSeed`, so that one can see whether `--seed` was given too.
  noSeed.negate = false
  const requestTimeout = 'how long a client may take to send a request; 0 for as long as it likes'
  return [
    ...grouped('Where it listens:', [
      hostOption('address to listen on'),
      portOption('port to listen on; 0 takes a free one, and says which').default(port),
      textOption(
        '--admin-token <token>',
        'token that lets other machines manage environments',
        'one is made if the host is not loopback'
      ),
      new Option('--no-cors', 'do not let web pages of other origins call'),
      new Option('--no-inspector', 'leave out the page at /, on which one sees and works the server in a browser'),
      countOption('--request-timeout <milliseconds>', requestTimeout, MAX_REQUEST_TIMEOUT).default(
        DEFAULTS.requestTimeout
      )
    ]),
    ...grouped('What it holds:', [
      seedOption(),
      noSeed,
      new Option('--watch', 'apply changes of the seed files while running, also to data kept from before; print each'),
      textOption(
        '--data <file>',
        'keep the data in this file; a new one is seeded, an old one is left as it is',
        'in memory'
      )
    ]),
    ...grouped('How it answers:', [
      profileOption(),
      assumeOption(),
      new Option('--no-fault-header', 'do not let a request ask for a fault by its header x-mock-fault'),
      latencyOption()
    ]),
    ...grouped(TELLING, [
      countOption(
        '--journal <count>',
        'how many of the last requests each journal keeps; 0 turns it off',
        MAX_JOURNAL
      ).default(DEFAULTS.journal),
      new Option('--log-level <level>', 'what to log on stderr: refusals at info, every request at debug')
        .choices(LOG_LEVELS)
        .default(logLevel)
    ])
  ]
}

/** Puts flags under a heading of the help. */
export function grouped(heading: string, options: readonly Option[]): readonly Option[] {
  for (const option of options) option.helpGroup(heading)
  return options
}

export interface ServerStart {
  options: MockOptions
  /** The admin token, if one was made because other machines can reach the server. */
  newToken: string | undefined
}

/** Returns what the flags ask for. Ends the command with a usage error if they contradict each other. */
export function serverStart(flags: ServerFlags, command: Command): ServerStart {
  const { host, port, data, profile, assume: assumptions, cors, inspector, journal, faultHeader } = flags
  const { latency, requestTimeout, logLevel } = flags
  const answers = { profile, assumptions, cors, inspector, faultHeader, latency, requestTimeout }
  const server = { host, port, data, ...answers, journal, logLevel }
  const seeds = seedsOf(flags, command)
  if (flags.watch && seeds.length === 0) {
    command.error('error: --watch and --no-seed contradict each other: without a seed there is nothing to watch')
  }
  const isOpen = flags.adminToken === undefined && !isLoopback(host)
  const newToken = isOpen ? randomBytes(16).toString('hex') : undefined
  const adminToken = flags.adminToken ?? newToken
  return { options: { ...server, seeds, adminToken }, newToken }
}

/** Returns the seeds to start with. A flag wins over a variable; `--seed` and `--no-seed` both as flags or both as variables are a usage error. */
export function seedsOf({ seed }: ServerFlags, command: Command): readonly string[] {
  const noSeedSource = command.getOptionValueSource('noSeed')
  if (noSeedSource === undefined) return seed
  const seedSource = command.getOptionValueSource('seed')
  if (seedSource === noSeedSource) command.error('error: --seed and --no-seed contradict each other: give one of them')
  return noSeedSource === 'cli' || seedSource === 'default' ? [] : seed
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\./.test(host)
}

/** Returns a logger of pretty lines for a person at a terminal, of JSON for everything else. */
export async function stderrLogger(level: LogLevel): Promise<Logger> {
  // Loaded only here: `healthcheck`, which runs every few seconds, needs no logger.
  const { pino } = await import('./work.js')
  if (!process.stderr.isTTY) return pino({ level }, { write: writeToStderr })
  const { default: pretty } = await import('pino-pretty')
  const format = pretty.prettyFactory({
    colorize: pretty.isColorSupported,
    singleLine: true,
    ignore: 'pid,hostname'
  })
  const write = (line: string) => writeToStderr(formatRequest(line, pretty.isColorSupported) ?? format(line))
  return pino({ level }, { write })
}
