import { type Command, Option } from 'commander'
import type { Logger } from 'pino'
import { type Config, DEFAULTS } from '../config.js'
import type { Mock, MockOptions } from '../index.js'
import { VERSION } from '../platform/package.js'
import { printable, printableTexts } from '../platform/printable.js'
import { writeToStderr } from '../platform/stderr.js'
import type { SeedReload } from '../seeds/watch.js'
import { addOptions, addServerOptions, mockOptions, type ServerFlags } from './options.js'
import {
  formatCounts,
  GRACE,
  LAST_RESORT,
  messageOf,
  onStopSignal,
  printOutcome
} from './terminal.js'

export function addCommands(root: Command): void {
  const description = 'start the server: what happens without a command'
  const command = addServerOptions(
    root.command('serve').helpGroup('Serve:').description(description)
  )
  const json =
    'print one line of JSON when ready, and one for each change that is watched, instead of text'
  addOptions(command, [new Option('--json', json)]).action(async (flags: ServerFlags) => {
    const ready = await serve(flags, command)
    printOutcome(ready, flags.json, (shown) => readyText(shown, flags))
  })
}

/** What is told of a server when it is ready. */
export interface Ready extends Pick<Mock, 'url' | 'seeded' | 'environments'> {
  docs: string
  version: string
  /** One that was made, as other machines can reach the server. */
  adminToken: string | undefined
}

/**
 * Serves, and returns what is told when it is ready. Until then a signal ends the process at once; later it ends with exit
 * code 0 on a signal, with 1 after an uncaught error, which is logged.
 */
export async function serve(flags: ServerFlags, command: Command): Promise<Ready> {
  const options = mockOptions(flags, command)
  const { mock, logger } = await startMock(options, flags, (text) => process.stdout.write(text))
  const stop = (code: 0 | 1) => {
    setTimeout(() => process.exit(1), LAST_RESORT).unref()
    const closed = mock.close(GRACE).catch(() => process.exit(1))
    closed.then(() => process.exit(code))
  }
  // npm passes signals on, so that one may come twice.
  onStopSignal(() => stop(0))
  process.on('uncaughtException', (err) => {
    logger.fatal({ err }, 'stopping after an uncaught error')
    stop(1)
  })
  const { url, seeded, environments } = mock
  const adminToken = flags.adminToken === undefined ? options.adminToken : undefined
  return { url, docs: `${url}/docs`, version: VERSION, seeded, environments, adminToken }
}

/** Starts a server in this process. Changes of its seeds are printed, if they are watched. */
export async function startMock(
  options: MockOptions,
  flags: ServerFlags,
  print: (text: string) => void
) {
  const { watch, json, logLevel } = flags
  // Only now, as it loads all that a server needs.
  const { createMock } = await import('../index.js')
  const logger = await stderrLogger(logLevel)
  const mock = await createMock({
    ...options,
    logger,
    watch: watch && ((reload) => printReload(reload, json, print))
  })
  return { mock, logger }
}

/** Returns a warning that seeds were named for a file that has data, and what applies them; undefined when there is none. */
export function ignoredSeeds(
  { seeded }: Pick<Mock, 'seeded'>,
  { seed, data }: ServerFlags
): string | undefined {
  if (seeded || !seed || seed === DEFAULTS.seeds) return undefined
  const remedy =
    'name a new file with --data, or load each environment with POST /_mock/seed?mode=replace'
  return `Warning: ${seed.join(', ')} not applied, as ${data} has data: ${remedy}`
}

export function readyText(ready: Ready, flags: ServerFlags): string {
  const { profile, seed, data, watch, latency, inspector } = flags
  const { url, docs, version, seeded, environments, adminToken } = ready
  const oldData = seeded || !seed ? '' : ', as it was left'
  const width = Math.max(0, ...environments.map(({ name }) => name.length))
  const keys = environments.map(({ name, apiKeys }) => {
    return `  ${name.padEnd(width)}  ${apiKeys.join('  ') || '(its key is not in the seeds given)'}`
  })
  const [key] = environments.flatMap(({ apiKeys }) => apiKeys)
  // As one word of a shell.
  const header = `'${`Authorization: ApiKey ${key}`.replaceAll("'", `'\\''`)}'`
  const lines = [
    `notification-mock ${version} is ready at ${url}, profile ${profile}`,
    inspector
      ? `Open it in a browser to see its data and requests; docs at ${docs}`
      : `Docs at ${docs}`,
    data !== undefined && `Data in ${data}${oldData}`,
    ignoredSeeds(ready, flags),
    latency !== DEFAULTS.latency &&
      `Answers are delayed: latency ${typeof latency === 'string' ? latency : Object.values(latency).join(',')}`,
    watch && seed && `Watching ${seed.join(', ')}: changes are applied`,
    adminToken !== undefined &&
      `Admin token, to manage environments from other machines: ${adminToken}`,
    keys.length > 0
      ? 'API keys:'
      : 'No environments, and so no API keys: start with a seed, or create one by POST /_mock/environments',
    ...keys,
    key !== undefined && `Try:\n  curl -H ${header} '${url}/v1/messages?limit=1'`
  ]
  return `${lines.filter(Boolean).join('\n')}\n`
}

/** Prints the outcome of a change of the seed files: what it did, and on stderr what is wrong with it. */
function printReload(
  reload: SeedReload,
  json: true | undefined,
  printRaw: (text: string) => void
): void {
  const print = (text: string) => printRaw(printable(text, '\t\n'))
  const { applied, files } = reload
  if (json) {
    const outcome = applied ? { environments: reload.changes } : { issues: reload.error.issues }
    print(`${JSON.stringify({ event: 'seed-changed', applied, files, ...outcome })}\n`)
  } else if (applied) {
    const lines = printableTexts(reload.changes).map(({ name, change, apiKeys, records }) => {
      if (change === 'reloaded') return `${name} reloaded (${formatCounts(records)})`
      return `${name} ${change}${change === 'added' && apiKeys.length > 0 ? `, with the key ${apiKeys.join(', ')}` : ''}`
    })
    if (lines.length === 0) lines.push('nothing that changes the data')
    print(lines.map((line) => `seed changed: ${files.join(', ')}: ${line}\n`).join(''))
  }
  if (!applied)
    writeToStderr(
      `${messageOf(reload.error)}\nthe changed seed is not applied: the data stays as it was\n`
    )
}

/** Returns a logger of pretty lines for a person at a terminal, of JSON for everything else. */
async function stderrLogger(level: Config['logLevel']): Promise<Logger> {
  const { default: pino } = await import('pino')
  if (!process.stderr.isTTY)
    return pino({ level }, { write: (line) => writeToStderr(printable(line, '\n')) })
  const { default: pretty } = await import('pino-pretty')
  const names = ['method', 'url', 'statusCode', 'ms', 'environment']
  const facts = names.map((name) => `{if ${name}}{${name}} ${name === 'ms' ? 'ms ' : ''}{end}`)
  const format = pretty.prettyFactory({
    colorize: pretty.isColorSupported,
    singleLine: true,
    translateTime: 'SYS:HH:MM:ss',
    ignore: 'pid,hostname,reqId,method,url,environment,statusCode,ms,reason,fault',
    // GET /v1/messages?limit=0 422 1.2 ms Shop request rejected: …
    messageFormat: `${facts.join('')}{msg}{if reason}: {reason}{end}`
  })
  return pino(
    { level },
    { write: (line) => writeToStderr(format(printableTexts(JSON.parse(line)))) }
  )
}
