import { type Command, Option } from 'commander'
import type { Logger } from 'pino'
import { type Config, DEFAULTS } from '../config.js'
import type { Mock, MockOptions } from '../index.js'
import { VERSION } from '../platform/package.js'
import { createPlainLogger } from '../platform/plain-logger.js'
import { printable, printableTexts } from '../platform/printable.js'
import { writeToStderr } from '../platform/stderr.js'
import type { SeedChange } from '../seeds/service.js'
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
  const description = 'start the mock server (default command)'
  const command = addServerOptions(
    root.command('serve').helpGroup('Serve:').description(description)
  )
  const json = 'print JSON lines instead of text: one when ready, one per seed change'
  addOptions(command, [new Option('--json', json)]).action(async (flags: ServerFlags) => {
    const ready = await serve(flags, command)
    printOutcome(ready, flags.json, (shown) => readyText(shown, flags))
  })
}

/** The details that a command prints when its server is ready. */
export interface Ready extends Pick<Mock, 'url' | 'seeded' | 'environments'> {
  docs: string
  version: string
  /**
   * The generated admin token. Undefined if the user set a token, or if other machines can't reach
   * the server.
   */
  adminToken: string | undefined
}

/**
 * Starts a server and returns once it is ready. A stop signal then closes the server and ends the
 * process with exit code 0. After an uncaught error, the server logs the error and closes, and the
 * process ends with exit code 1.
 */
export async function serve(flags: ServerFlags, command: Command): Promise<Ready> {
  const options = mockOptions(flags, command)
  const { mock, logger } = await startMock(options, flags, (text) => process.stdout.write(text))
  const stop = (code: 0 | 1) => {
    setTimeout(() => process.exit(1), LAST_RESORT).unref()
    const closed = mock.close(GRACE).catch(() => process.exit(1))
    closed.then(() => process.exit(code))
  }
  // Don't exit early on a second signal, because one Ctrl-C can arrive twice, from the terminal and
  // from npm.
  onStopSignal(() => stop(0))
  process.on('uncaughtException', (err) => {
    logger.fatal({ err }, 'stopping after an uncaught error')
    stop(1)
  })
  const { url, seeded, environments } = mock
  const adminToken = flags.adminToken === undefined ? options.adminToken : undefined
  return { url, docs: `${url}/docs`, version: VERSION, seeded, environments, adminToken }
}

/**
 * Starts a server in this process. With `--watch`, prints the result of every reload of the seed
 * files.
 */
export async function startMock(
  options: MockOptions,
  flags: ServerFlags,
  print: (text: string) => void,
  createLogger = stderrLogger
) {
  const { watch, json, logLevel } = flags
  // Import lazily, because `index.js` loads the whole server.
  const { createMock } = await import('../index.js')
  const logger = await createLogger(logLevel)
  const mock = await createMock({
    ...options,
    logger,
    watch: watch && ((reload) => printReload(reload, json, print))
  })
  return { mock, logger }
}

/** Returns a warning if seeds were given but the data file already has data. */
export function ignoredSeeds(
  { seeded }: Pick<Mock, 'seeded'>,
  { seed, data }: ServerFlags
): string | undefined {
  if (seeded || !seed || seed === DEFAULTS.seeds) return undefined
  return (
    `Warning: did not apply ${seed.join(', ')} because ${data} already has data; ` +
    'choose a new file with --data, or load each seed with POST /_mock/seed?mode=replace'
  )
}

export function readyText(ready: Ready, flags: ServerFlags): string {
  const { seed, data, watch, latency, inspector, fallback } = flags
  const { url, docs, version, seeded, adminToken } = ready
  const delay = typeof latency === 'string' ? latency : Object.values(latency ?? {}).join(',')
  const reused = seeded || !seed ? '' : ' (existing data)'
  const lines = [
    `notification-mock ${version} is ready at ${url}`,
    profileLine(flags),
    inspector
      ? `Open it in a browser to inspect data and requests; docs at ${docs}`
      : `Docs at ${docs}`,
    data !== undefined && `Data in ${data}${reused}`,
    ignoredSeeds(ready, flags),
    latency !== DEFAULTS.latency && `Responses are delayed (--latency ${delay})`,
    fallback !== undefined && `Other paths of Novu's API are forwarded to ${fallback}`,
    watch && seed && `Watching ${seed.join(', ')} for changes`,
    adminToken !== undefined &&
      `Admin token, to manage environments from other machines: ${adminToken}`,
    ...keyLines(ready)
  ]
  return `${lines.filter(Boolean).join('\n')}\n`
}

function profileLine({ profile }: ServerFlags): string | undefined {
  if (profile === DEFAULTS.profile) return undefined
  return `Profile ${profile}: behaves like Novu's production API`
}

/** Returns lines with the API keys and an example request. */
function keyLines({ environments, url }: Ready): string[] {
  if (environments.length === 0) {
    return ['No environments, so no API keys; start with a seed, or use POST /_mock/environments']
  }
  const width = Math.max(...environments.map(({ name }) => name.length))
  const lines = environments.map(({ name, apiKeys }) => {
    return `  ${name.padEnd(width)}  ${apiKeys.join('  ') || '(key unknown: no seed contains it)'}`
  })
  const [key] = environments.flatMap(({ apiKeys }) => apiKeys)
  if (key === undefined) return ['API keys:', ...lines]
  // Quote the header for a shell.
  const header = `'${`Authorization: ApiKey ${key}`.replaceAll("'", `'\\''`)}'`
  return ['API keys:', ...lines, `Try:\n  curl -H ${header} '${url}/v1/messages?limit=1'`]
}

/** Prints the result of a seed reload. Errors go to stderr. */
function printReload(
  reload: SeedReload,
  json: true | undefined,
  print: (text: string) => void
): void {
  const text = json ? reloadJson(reload) : reloadText(reload)
  print(printable(text, '\t\n'))
  if (reload.applied) return
  writeToStderr(
    `${messageOf(reload.error)}\nthe changed seed was not applied; the data is unchanged\n`
  )
}

function reloadJson(reload: SeedReload): string {
  const { applied, files } = reload
  const result = applied ? { environments: reload.changes } : { issues: reload.error.issues }
  return `${JSON.stringify({ event: 'seed-changed', applied, files, ...result })}\n`
}

function reloadText(reload: SeedReload): string {
  if (!reload.applied) return ''
  const lines = printableTexts(reload.changes).map(describeSeedChange)
  if (lines.length === 0) lines.push('no changes to the data')
  return lines.map((line) => `seed changed: ${reload.files.join(', ')}: ${line}\n`).join('')
}

function describeSeedChange(seedChange: SeedChange): string {
  const { name, change, apiKeys, records } = seedChange
  if (change === 'reloaded') return `${name} reloaded (${formatCounts(records)})`
  const keys =
    change === 'added' && apiKeys.length > 0 ? `, with the key ${apiKeys.join(', ')}` : ''
  return `${name} ${change}${keys}`
}

/** Returns a logger that writes plain lines to stderr. */
export async function plainLogger(level: Config['logLevel']): Promise<Logger> {
  const { default: pino } = await import('pino')
  return createPlainLogger(pino, level)
}

/** Returns a logger that writes readable lines to a terminal, and JSON to anything else. */
async function stderrLogger(level: Config['logLevel']): Promise<Logger> {
  const { default: pino } = await import('pino')
  if (!process.stderr.isTTY)
    return pino({ level }, { write: (line) => writeToStderr(printable(line, '\n')) })
  const { default: pretty } = await import('pino-pretty')
  const names = ['method', 'url', 'statusCode', 'ms', 'environment']
  const fields = names.map((name) => `{if ${name}}{${name}} ${name === 'ms' ? 'ms ' : ''}{end}`)
  const format = pretty.prettyFactory({
    colorize: pretty.isColorSupported,
    singleLine: true,
    translateTime: 'SYS:HH:MM:ss',
    ignore: 'pid,hostname,reqId,method,url,environment,statusCode,ms,reason,fault',
    // Example: GET /v1/messages?limit=0 422 1.2 ms Shop request rejected: …
    messageFormat: `${fields.join('')}{msg}{if reason}: {reason}{end}`
  })
  return pino(
    { level },
    { write: (line) => writeToStderr(format(printableTexts(JSON.parse(line)))) }
  )
}
