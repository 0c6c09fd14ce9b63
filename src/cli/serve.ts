import { type Command, Option } from 'commander'
import { latencyOf } from '../core/latency.js'
import { VERSION } from '../core/package.js'
import { writeToStderr } from '../core/stderr.js'
import type { Mock } from '../index.js'
import type { SeedChange } from '../seeds/service.js'
import type { SeedReload } from '../seeds/watch.js'
import { canTakeKeys, KEYS_HINT, takeKeys } from './keys.js'
import { addOptions } from './options.js'
import { formatCounts } from './seed.js'
import {
  grouped,
  type ServerFlags,
  seedsOf,
  serverOptions,
  serverStart,
  stderrLogger,
  TELLING
} from './server-options.js'
import { stopOnSignals } from './signals.js'

interface ServeFlags extends ServerFlags {
  json?: true
}

export function addServe(program: Command): Command {
  const command = program
    .command('serve')
    .description('start the server: what happens without a command')
    .allowExcessArguments()
  const json = 'print one line of JSON when ready, and one for each change that is watched, instead of text'
  return addOptions(command, [...serverOptions(), ...grouped(TELLING, [new Option('--json', json)])]).action(serve)
}

async function serve(flags: ServeFlags, command: Command): Promise<void> {
  const [word] = command.args
  if (word !== undefined) command.error(`error: serve takes no words, and was given '${word}'`)
  const served = await serving(flags, command)
  if (!served) return
  const { ready, mock, stop } = served
  if (flags.json) {
    process.stdout.write(`${JSON.stringify(ready)}\n`)
    return
  }
  process.stdout.write(readyText(ready, flags, seedsOf(flags, command)))
  if (!canTakeKeys()) return
  takeKeys(mock, stop)
  process.stdout.write(KEYS_HINT)
}

/** A server that is ready. */
interface Served {
  ready: Ready
  mock: Mock
  stop: () => void
}

/** Serves until a signal or `stop`, and returns what is told when it is ready, or undefined if it was stopped before. */
export async function serving(flags: ServeFlags, command: Command): Promise<Served | undefined> {
  const { json = false, watch, logLevel } = flags
  const { options, newToken } = serverStart(flags, command)
  const logger = stderrLogger(logLevel)
  // In a later turn, so that signals are handled from here on: loading, opening and seeding block the event loop.
  const starting = import('./work.js').then(async ({ createMock }) =>
    createMock({ ...options, logger: await logger, watch: watch && ((reload) => printReload(reload, json)) })
  )
  const { isAsked, stop } = stopOnSignals(starting, logger)
  const mock = await starting
  if (isAsked()) return undefined
  const { url, seeded, environments } = mock
  const ready = { url, docs: `${url}/docs`, version: VERSION, seeded, environments, adminToken: newToken }
  return { ready, mock, stop }
}

/** What is told of a server when it is ready. */
export interface Ready extends Pick<Mock, 'url' | 'seeded' | 'environments'> {
  docs: string
  version: string
  /** One that was made, as other machines can reach the server. */
  adminToken: string | undefined
}

export function readyText(ready: Ready, flags: ServerFlags, seeds: readonly string[]): string {
  const { url, docs, version, seeded, environments, adminToken } = ready
  const { profile, data, watch, latency, inspector } = flags
  const oldData = seeded || seeds.length === 0 ? '' : ', as it was left: seeds are for a new file'
  const width = Math.max(0, ...environments.map(({ name }) => name.length))
  const keys = environments.map(({ name, apiKeys }) => {
    return `  ${name.padEnd(width)}  ${apiKeys.join('  ') || '(its key is not in the seeds given)'}`
  })
  const [key] = environments.flatMap(({ apiKeys }) => apiKeys)
  const header = quoted(`Authorization: ApiKey ${key}`)
  const lines = [
    `notification-mock ${version} is ready at ${url}, profile ${profile}`,
    inspector && `Open it in a browser to see its data and requests; docs at ${docs}`,
    !inspector && `Docs at ${docs}`,
    data !== undefined && `Data in ${data}${oldData}`,
    formatLatency(latency),
    watch && `Watching ${seeds.join(', ')}: changes are applied`,
    adminToken !== undefined && `Admin token, to manage environments from other machines: ${adminToken}`,
    keys.length > 0 ? 'API keys:' : 'No environments: start with a seed, or create one by POST /_mock/environments',
    ...keys,
    key !== undefined && `Try:\n  curl -H ${header} '${url}/v1/messages?limit=1'`
  ]
  return `${lines.filter(Boolean).join('\n')}\n`
}

/** So that nobody wonders why it is slow. */
function formatLatency(wanted: ServerFlags['latency']): string | undefined {
  const { preset, delay, spread } = latencyOf(wanted)
  if (delay === 0 && spread === 0) return undefined
  const more = spread === 0 ? '' : ` and on average ${spread} ms more`
  return `Latency${preset === undefined ? '' : ` ${preset}`}: each answer takes ${delay} ms${more}`
}

/** Returns the text as one word of a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** Prints the outcome of a change of the seed files: what it did, by default on stdout, and on stderr what is wrong with it. */
export function printReload(
  reload: SeedReload,
  json: boolean,
  print: (text: string) => void = (text) => process.stdout.write(text)
): void {
  const { applied, files } = reload
  if (json) {
    const outcome = applied ? { environments: reload.changes } : { issues: reload.error.issues }
    print(`${JSON.stringify({ event: 'seed-changed', applied, files, ...outcome })}\n`)
  } else if (applied) {
    const lines = reload.changes.length === 0 ? ['nothing that changes the data'] : reload.changes.map(formatChange)
    print(lines.map((line) => `seed changed: ${files.join(', ')}: ${line}\n`).join(''))
  }
  if (!applied) writeToStderr(`${reload.error.message}\nthe changed seed is not applied: the data stays as it was\n`)
}

function formatChange({ name, change, apiKeys, records }: SeedChange): string {
  if (change === 'reloaded') return `${name} reloaded (${formatCounts(records)})`
  const keys = change === 'added' && apiKeys.length > 0 ? `, with the key ${apiKeys.join(', ')}` : ''
  return `${name} ${change}${keys}`
}
