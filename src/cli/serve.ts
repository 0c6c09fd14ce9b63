import { randomBytes } from 'node:crypto'
import type { Command } from 'commander'
import { destination, type Logger, pino } from 'pino'
import type { Config, LogLevel } from '../config.js'
import { VERSION } from '../core/version.js'
import type { Mock } from '../index.js'
import {
  adminTokenOption,
  assumeOption,
  dataOption,
  hostOption,
  journalOption,
  jsonOption,
  logLevelOption,
  noCorsOption,
  noFaultHeaderOption,
  noSeedOption,
  portOption,
  profileOption,
  seedOption,
  watchOption
} from './options.js'
import { stopWhenTold } from './stop.js'
import { printReload } from './watch.js'

interface ServeOptions extends Pick<Config, 'host' | 'port' | 'profile' | 'logLevel'> {
  data?: string
  seed: readonly string[]
  noSeed?: true
  watch?: true
  noCors?: true
  noFaultHeader?: true
  journal: number
  adminToken?: string
  assume: Record<string, string>
  json?: true
}

export function addServe(program: Command): Command {
  return program
    .command('serve', { isDefault: true })
    .description('start the server: what happens without a command')
    .allowExcessArguments()
    .addOption(hostOption('address to listen on'))
    .addOption(portOption('port to listen on; 0 takes a free one, and says which'))
    .addOption(seedOption())
    .addOption(noSeedOption())
    .addOption(watchOption())
    .addOption(dataOption())
    .addOption(profileOption())
    .addOption(assumeOption())
    .addOption(noCorsOption())
    .addOption(journalOption())
    .addOption(noFaultHeaderOption())
    .addOption(adminTokenOption())
    .addOption(logLevelOption())
    .addOption(
      jsonOption('print one line of JSON when ready, and one for each change that is watched, instead of text')
    )
    .action(serve)
}

async function serve(options: ServeOptions, command: Command): Promise<void> {
  const { host, port, profile, logLevel, data, assume: assumptions, journal, noCors, noFaultHeader, json } = options
  const seeds = seedsOf(options, command)
  if (options.watch && seeds.length === 0) {
    command.error('error: --watch and --no-seed contradict each other: without a seed there is nothing to watch')
  }
  const logger = await stderrLogger(logLevel)
  const made = options.adminToken === undefined && !isLoopback(host) ? randomBytes(16).toString('hex') : undefined
  const adminToken = options.adminToken ?? made
  // Later, so that a signal is heeded from here on: opening and seeding let nothing else happen.
  const starting = import('../index.js').then(({ createMock }) =>
    createMock({
      host,
      port,
      profile,
      data,
      assumptions,
      cors: !noCors,
      journal,
      faultHeader: !noFaultHeader,
      adminToken,
      seeds,
      logger,
      watch: options.watch && ((reload) => printReload(reload, json ?? false))
    })
  )
  const stop = stopWhenTold(starting, logger)
  const mock = await starting
  if (stop.isAsked()) return
  process.stdout.write(json ? `${JSON.stringify(readyJson(mock, made))}\n` : readyText(mock, options, seeds, made))
}

/** A flag wins over a variable; both `--seed` and `--no-seed` from the same of the two is a usage error. */
function seedsOf({ seed }: ServeOptions, command: Command): readonly string[] {
  const none = command.getOptionValueSource('noSeed')
  if (none === undefined) return seed
  const some = command.getOptionValueSource('seed')
  if (some === none) command.error('error: --seed and --no-seed contradict each other: give one of them')
  return none === 'cli' || some === 'default' ? [] : seed
}

const STDERR = 2

/** Pretty lines for a person at a terminal, JSON for everything else. */
async function stderrLogger(level: LogLevel): Promise<Logger> {
  if (!process.stderr.isTTY) return pino({ level }, destination(STDERR))
  const { default: pretty } = await import('pino-pretty')
  return pino({ level }, pretty({ destination: STDERR, sync: true, singleLine: true, ignore: 'pid,hostname' }))
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\./.test(host)
}

function readyJson({ url, seeded, environments }: Mock, adminToken: string | undefined) {
  return { url, docs: `${url}/docs`, version: VERSION, seeded, environments, ...(adminToken && { adminToken }) }
}

function readyText(
  { url, seeded, environments }: Mock,
  { profile, data, watch }: ServeOptions,
  seeds: readonly string[],
  adminToken: string | undefined
): string {
  const width = Math.max(0, ...environments.map(({ name }) => name.length))
  const keys = environments.map(({ name, apiKeys }) => {
    return `  ${name.padEnd(width)}  ${apiKeys.join('  ') || '(its key is not in the seeds given)'}`
  })
  const key = environments.flatMap(({ apiKeys }) => apiKeys)[0]
  const lines = [
    `notification-mock ${VERSION} is ready at ${url}, profile ${profile}`,
    `Docs at ${url}/docs`,
    ...(data === undefined
      ? []
      : [`Data in ${data}${seeded || seeds.length === 0 ? '' : ', as it was left: seeds are for a new file'}`]),
    ...(watch ? [`Watching ${seeds.join(', ')}: changes are applied`] : []),
    ...(adminToken === undefined ? [] : [`Admin token, to manage environments from other machines: ${adminToken}`]),
    ...(keys.length > 0 ? ['API keys:', ...keys] : ['No environments: start with a seed to get some']),
    ...(key === undefined
      ? []
      : ['Try:', `  curl -H ${quoted(`Authorization: ApiKey ${key}`)} '${url}/v1/messages?limit=1'`])
  ]
  return `${lines.join('\n')}\n`
}

/** One word for a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
