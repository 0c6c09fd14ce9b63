import { randomBytes } from 'node:crypto'
import { type Command, Option } from 'commander'
import type { Logger } from 'pino'
import { type Config, DEFAULTS, LOG_LEVELS, type LogLevel, MAX_JOURNAL, MAX_REQUEST_TIMEOUT } from '../config.js'
import { VERSION } from '../core/package.js'
import { writeToStderr } from '../core/stderr.js'
import type { Mock } from '../index.js'
import type { SeedChange } from '../seeds/service.js'
import type { SeedReload } from '../seeds/watch.js'
import {
  addOptions,
  assumeOption,
  countOption,
  hostOption,
  portOption,
  profileOption,
  seedOption,
  textOption
} from './options.js'
import { formatCounts } from './seed.js'
import { stopOnSignals } from './stop.js'

interface ServeOptions extends Omit<Config, 'seeds' | 'assumptions'> {
  seed: readonly string[]
  noSeed?: true
  watch?: true
  assume: Record<string, string>
  json?: true
}

export function addServe(program: Command): Command {
  const command = program
    .command('serve')
    .description('start the server: what happens without a command')
    .allowExcessArguments()
  return addOptions(command, serveOptions()).action(serve)
}

/** In the order of the help. */
function serveOptions(): Option[] {
  const noSeed = new Option('--no-seed', 'start empty: without environments, and so without keys')
  // It sets `noSeed`, so that one can see whether `--seed` was given too.
  noSeed.negate = false
  return [
    hostOption('address to listen on'),
    portOption('port to listen on; 0 takes a free one, and says which'),
    seedOption(),
    noSeed,
    new Option('--watch', 'apply changes of the seed files while running, also to data kept from before; print each'),
    textOption(
      '--data <file>',
      'keep the data in this file; a new one is seeded, an old one is left as it is',
      'in memory'
    ),
    profileOption(),
    assumeOption(),
    new Option('--no-cors', 'do not let web pages of other origins call'),
    countOption(
      '--journal <count>',
      'how many of the last requests each journal keeps; 0 turns it off',
      MAX_JOURNAL
    ).default(DEFAULTS.journal),
    new Option('--no-fault-header', 'do not let a request ask for a fault by its header x-mock-fault'),
    countOption(
      '--request-timeout <milliseconds>',
      'how long a client may take to send a request; 0 for as long as it likes',
      MAX_REQUEST_TIMEOUT
    ).default(DEFAULTS.requestTimeout),
    textOption(
      '--admin-token <token>',
      'token that lets other machines manage environments',
      'one is made and printed if the host is not loopback'
    ),
    new Option('--log-level <level>', 'what to log on stderr: refusals at info, every request at debug')
      .choices(LOG_LEVELS)
      .default(DEFAULTS.logLevel),
    new Option('--json', 'print one line of JSON when ready, and one for each change that is watched, instead of text')
  ]
}

async function serve(options: ServeOptions, command: Command): Promise<void> {
  const { json = false, watch, assume: assumptions, seed, noSeed, ...others } = options
  const [word] = command.args
  if (word !== undefined) command.error(`error: serve takes no words, and was given '${word}'`)
  const seeds = seedsOf(options, command)
  if (watch && seeds.length === 0) {
    command.error('error: --watch and --no-seed contradict each other: without a seed there is nothing to watch')
  }
  const logger = stderrLogger(options.logLevel)
  const isOpen = options.adminToken === undefined && !isLoopback(options.host)
  const newToken = isOpen ? randomBytes(16).toString('hex') : undefined
  const adminToken = options.adminToken ?? newToken
  // In a later turn, so that signals are handled from here on: loading, opening and seeding block the event loop.
  const starting = import('./work.js').then(async ({ createMock }) =>
    createMock({
      ...others,
      assumptions,
      adminToken,
      seeds,
      logger: await logger,
      watch: watch && ((reload) => printReload(reload, json))
    })
  )
  const stop = stopOnSignals(starting, logger)
  const mock = await starting
  if (stop.isAsked()) return
  const { url, seeded, environments } = mock
  const ready = { url, docs: `${url}/docs`, version: VERSION, seeded, environments, adminToken: newToken }
  process.stdout.write(json ? `${JSON.stringify(ready)}\n` : readyText(mock, options, seeds, newToken))
}

/** A flag wins over a variable; `--seed` and `--no-seed` both as flags or both as variables are a usage error. */
function seedsOf({ seed }: ServeOptions, command: Command): readonly string[] {
  const noSeedSource = command.getOptionValueSource('noSeed')
  if (noSeedSource === undefined) return seed
  const seedSource = command.getOptionValueSource('seed')
  if (seedSource === noSeedSource) command.error('error: --seed and --no-seed contradict each other: give one of them')
  return noSeedSource === 'cli' || seedSource === 'default' ? [] : seed
}

/** Returns a logger of pretty lines for a person at a terminal, of JSON for everything else. */
async function stderrLogger(level: LogLevel): Promise<Logger> {
  // Loaded only here: `healthcheck`, which runs every few seconds, needs no logger.
  const { pino } = await import('./work.js')
  if (!process.stderr.isTTY) return pino({ level }, { write: writeToStderr })
  const { default: pretty } = await import('pino-pretty')
  const format = pretty.prettyFactory({
    colorize: pretty.isColorSupported,
    singleLine: true,
    ignore: 'pid,hostname'
  })
  return pino({ level }, { write: (line: string) => writeToStderr(format(line)) })
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\./.test(host)
}

function readyText(mock: Mock, options: ServeOptions, seeds: readonly string[], newToken: string | undefined): string {
  const { url, seeded, environments } = mock
  const { profile, data, watch } = options
  const oldData = seeded || seeds.length === 0 ? '' : ', as it was left: seeds are for a new file'
  const width = Math.max(0, ...environments.map(({ name }) => name.length))
  const keys = environments.map(({ name, apiKeys }) => {
    return `  ${name.padEnd(width)}  ${apiKeys.join('  ') || '(its key is not in the seeds given)'}`
  })
  const [key] = environments.flatMap(({ apiKeys }) => apiKeys)
  const header = quoted(`Authorization: ApiKey ${key}`)
  const lines = [
    `notification-mock ${VERSION} is ready at ${url}, profile ${profile}`,
    `Docs at ${url}/docs`,
    data !== undefined && `Data in ${data}${oldData}`,
    watch && `Watching ${seeds.join(', ')}: changes are applied`,
    newToken !== undefined && `Admin token, to manage environments from other machines: ${newToken}`,
    keys.length > 0 ? 'API keys:' : 'No environments: start with a seed to get some',
    ...keys,
    key !== undefined && `Try:\n  curl -H ${header} '${url}/v1/messages?limit=1'`
  ]
  return `${lines.filter(Boolean).join('\n')}\n`
}

/** Returns the text as one word of a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** Prints the outcome of a change of the seed files: what it did on stdout, what is wrong with it on stderr. */
function printReload(reload: SeedReload, json: boolean): void {
  const { applied, files } = reload
  if (json) {
    const outcome = applied ? { environments: reload.changes } : { issues: reload.error.issues }
    process.stdout.write(`${JSON.stringify({ event: 'seed-changed', applied, files, ...outcome })}\n`)
  } else if (applied) {
    const lines = reload.changes.length === 0 ? ['nothing that changes the data'] : reload.changes.map(formatChange)
    process.stdout.write(lines.map((line) => `seed changed: ${files.join(', ')}: ${line}\n`).join(''))
  }
  if (!applied) writeToStderr(`${reload.error.message}\nthe changed seed is not applied: the data stays as it was\n`)
}

function formatChange({ name, change, apiKeys, records }: SeedChange): string {
  if (change === 'reloaded') return `${name} reloaded (${formatCounts(records)})`
  const keys = change === 'added' && apiKeys.length > 0 ? `, with the key ${apiKeys.join(', ')}` : ''
  return `${name} ${change}${keys}`
}
