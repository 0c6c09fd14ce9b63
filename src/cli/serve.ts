import closeWithGrace from 'close-with-grace'
import type { Command } from 'commander'
import { destination, type Logger, pino } from 'pino'
import type { Config, LogLevel } from '../config.js'
import { newApiKey } from '../environments/service.js'
import { createMock, type Mock } from '../index.js'
import { VERSION } from '../version.js'
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
  seedOption
} from './options.js'

interface ServeOptions
  extends Pick<Config, 'host' | 'port' | 'profile' | 'cors' | 'journal' | 'faultHeader' | 'logLevel'> {
  data?: string
  adminToken?: string
  /** False: `--no-seed`. */
  seed: readonly string[] | false
  assume: Record<string, string>
  json?: true
}

export function addServe(program: Command): void {
  program
    .command('serve', { isDefault: true })
    .description('start the server (what happens without a command)')
    .addOption(hostOption())
    .addOption(portOption())
    .addOption(seedOption())
    .addOption(noSeedOption())
    .addOption(dataOption())
    .addOption(profileOption())
    .addOption(assumeOption())
    .addOption(noCorsOption())
    .addOption(journalOption())
    .addOption(noFaultHeaderOption())
    .addOption(adminTokenOption())
    .addOption(logLevelOption())
    .addOption(jsonOption('print one line of JSON when ready'))
    .action(serve)
}

async function serve(options: ServeOptions): Promise<void> {
  const { seed, assume, json, ...rest } = options
  const logger = await stderrLogger(options.logLevel)
  const made = options.adminToken === undefined && !isLoopback(options.host) ? newApiKey() : undefined
  const adminToken = options.adminToken ?? made
  const seeds = seed === false ? [] : seed
  const mock = await createMock({ ...rest, ...(adminToken && { adminToken }), seeds, assumptions: assume, logger })
  process.stdout.write(json ? `${JSON.stringify(readyJson(mock, made))}\n` : readyText(mock, options, made))

  closeWithGrace({ delay: 10_000, logger: false }, async ({ err }) => {
    if (err) logger.fatal({ err }, 'stopping after a fault')
    await mock.close()
  })
  closeWithParent()
}

const STDERR = 2

/** Pretty lines for a person at a terminal, JSON for everything else. */
async function stderrLogger(level: LogLevel): Promise<Logger> {
  if (!process.stderr.isTTY) return pino({ level }, destination(STDERR))
  const { default: pretty } = await import('pino-pretty')
  return pino({ level }, pretty({ destination: STDERR, sync: true, ignore: 'pid,hostname' }))
}

/**
 * npm starts us through a shell, and ends itself on a signal without passing it on. Then we are orphaned, which
 * shows in the parent's id: we stop as if we had got the signal.
 */
function closeWithParent(): void {
  if (process.env.npm_lifecycle_event === undefined) return
  const parent = process.ppid
  const watch = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(watch)
    process.kill(process.pid, 'SIGTERM')
  }, 200)
  watch.unref()
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\./.test(host)
}

function readyJson({ url, seeded, environments }: Mock, adminToken: string | undefined) {
  return { url, docs: `${url}/docs`, version: VERSION, seeded, environments, ...(adminToken && { adminToken }) }
}

function readyText(
  { url, seeded, environments }: Mock,
  { profile, data, seed }: ServeOptions,
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
      : [`Data in ${data}${seeded || seed === false ? '' : ', as it was left: seeds are for a new file'}`]),
    ...(adminToken === undefined ? [] : [`Admin token, to manage environments from other machines: ${adminToken}`]),
    ...(keys.length > 0 ? ['API keys:', ...keys] : ['No environments: start with a seed to get some']),
    ...(key === undefined ? [] : ['Try:', `  curl -H 'Authorization: ApiKey ${key}' '${url}/v1/messages?limit=1'`])
  ]
  return `${lines.join('\n')}\n`
}
