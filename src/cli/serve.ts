import { randomBytes } from 'node:crypto'
import type { Command } from 'commander'
import type { Logger } from 'pino'
import type { Config, LogLevel } from '../config.js'
import { VERSION } from '../core/version.js'
import type { Mock } from '../index.js'
import { serveOptions } from './options.js'
import { stopOnSignals } from './stop.js'
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
  const command = program
    .command('serve', { isDefault: true })
    .description('start the server: what happens without a command')
    .allowExcessArguments()
  for (const option of serveOptions()) command.addOption(option)
  return command.action(serve)
}

async function serve(options: ServeOptions, command: Command): Promise<void> {
  const { noCors, noFaultHeader, json = false, watch, assume: assumptions, seed, noSeed, ...others } = options
  const seeds = seedsOf(options, command)
  if (watch && seeds.length === 0) {
    command.error('error: --watch and --no-seed contradict each other: without a seed there is nothing to watch')
  }
  const logger = await stderrLogger(options.logLevel)
  const newToken =
    options.adminToken === undefined && !isLoopback(options.host) ? randomBytes(16).toString('hex') : undefined
  const adminToken = options.adminToken ?? newToken
  // In a later turn, so that signals are handled from here on: opening and seeding block the event loop.
  const starting = import('../index.js').then(({ createMock }) =>
    createMock({
      ...others,
      assumptions,
      adminToken,
      seeds,
      logger,
      cors: !noCors,
      faultHeader: !noFaultHeader,
      watch: watch && ((reload) => printReload(reload, json))
    })
  )
  const stop = stopOnSignals(starting, logger)
  const mock = await starting
  if (stop.isAsked()) return
  process.stdout.write(json ? readyJson(mock, newToken) : readyText(mock, options, seeds, newToken))
}

/** A flag wins over a variable; `--seed` and `--no-seed` both as flags or both as variables are a usage error. */
function seedsOf({ seed }: ServeOptions, command: Command): readonly string[] {
  const noSeedSource = command.getOptionValueSource('noSeed')
  if (noSeedSource === undefined) return seed
  const seedSource = command.getOptionValueSource('seed')
  if (seedSource === noSeedSource) command.error('error: --seed and --no-seed contradict each other: give one of them')
  return noSeedSource === 'cli' || seedSource === 'default' ? [] : seed
}

const STDERR = 2

/** Returns a logger of pretty lines for a person at a terminal, of JSON for everything else. */
async function stderrLogger(level: LogLevel): Promise<Logger> {
  // Loaded only here: `healthcheck`, which runs every few seconds, needs no logger.
  const { default: pino } = await import('pino')
  if (!process.stderr.isTTY) return pino({ level }, pino.destination(STDERR))
  const { default: pretty } = await import('pino-pretty')
  return pino({ level }, pretty({ destination: STDERR, sync: true, singleLine: true, ignore: 'pid,hostname' }))
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\./.test(host)
}

function readyJson({ url, seeded, environments }: Mock, adminToken: string | undefined): string {
  return `${JSON.stringify({ url, docs: `${url}/docs`, version: VERSION, seeded, environments, adminToken })}\n`
}

function readyText(
  { url, seeded, environments }: Mock,
  { profile, data, watch }: ServeOptions,
  seeds: readonly string[],
  adminToken: string | undefined
): string {
  const isOld = !seeded && seeds.length > 0
  const width = Math.max(0, ...environments.map(({ name }) => name.length))
  const keys = environments.map(({ name, apiKeys }) => {
    return `  ${name.padEnd(width)}  ${apiKeys.join('  ') || '(its key is not in the seeds given)'}`
  })
  const key = environments.flatMap(({ apiKeys }) => apiKeys)[0]
  const lines = [
    `notification-mock ${VERSION} is ready at ${url}, profile ${profile}`,
    `Docs at ${url}/docs`,
    ...(data === undefined ? [] : [`Data in ${data}${isOld ? ', as it was left: seeds are for a new file' : ''}`]),
    ...(watch ? [`Watching ${seeds.join(', ')}: changes are applied`] : []),
    ...(adminToken === undefined ? [] : [`Admin token, to manage environments from other machines: ${adminToken}`]),
    ...(keys.length > 0 ? ['API keys:', ...keys] : ['No environments: start with a seed to get some']),
    ...(key === undefined
      ? []
      : ['Try:', `  curl -H ${quoted(`Authorization: ApiKey ${key}`)} '${url}/v1/messages?limit=1'`])
  ]
  return `${lines.join('\n')}\n`
}

/** Returns the text as one word of a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
