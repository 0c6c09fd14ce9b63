import { createWriteStream, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import { setImmediate } from 'node:timers/promises'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { DEFAULTS } from '../config.js'
import { parseTime, wallClock } from '../domain/clock.js'
import { StartError } from '../domain/errors.js'
import { packageRoot } from '../platform/package.js'
import { printable } from '../platform/printable.js'
import { replaceFile } from '../platform/replace-file.js'
import { SeedError } from '../seeds/errors.js'
import type { SeedGenerate } from '../seeds/format.js'
import { readBuiltInSeeds, readSeeds, seedPath } from '../seeds/read.js'
import { resolveSeeds } from '../seeds/resolve/resolve.js'
import { addOptions, countOption, seedOption, textOption } from './options.js'
import { ask, keyOption, serverUrl, USUAL_URL, usualServer } from './reach.js'
import {
  abortOnSignal,
  formatCounts,
  notWritten,
  printOutcome,
  progressLine,
  write
} from './terminal.js'

export function addCommands(root: Command): void {
  const seed = root
    .command('seed')
    .helpGroup('Make data:')
    .description('work with seeds: list, check, begin, export and generate them')
    .helpCommand(false)
  const json = new Option('--json', 'print the outcome as JSON')
  const checking = seed
    .command('check')
    .description(
      'list every issue in seed files; several are checked together, as serve would load them'
    )
    .argument('<file...>', 'seed files, or names of seeds that come with the package')
  addOptions(checking, [json]).action(check)
  const listing = seed
    .command('list')
    .description('list the seeds that come with the package, to be named by --seed')
  addOptions(listing, [json]).action(list)
  const beginning = seed
    .command('new')
    .description('write the beginning of a seed of your own, with comments; it serves as it is')
    .argument('[file]', 'the file to write, which must not exist', 'seed.yaml')
  addOptions(beginning, [json]).action(begin)
  const exporting = seed
    .command('export')
    .description(
      'write what an environment of a running server holds as a seed, which gives the same answers'
    )
    .argument(
      '[url]',
      `the server; by default NOTIFICATION_MOCK_URL, or else ${USUAL_URL}`,
      serverUrl
    )
  addOptions(exporting, [
    keyOption('--api-key <key>', 'a key of the environment'),
    textOption('--out <file>', 'write it to this file, .yaml or .json, instead of stdout', 'none'),
    new Option('--json', 'write JSON instead of YAML')
  ]).action(exportSeed)
  const what =
    "make believable messages of an environment's own workflows to its own subscribers, as many as you like"
  const out = 'write a seed of the environment with them, in YAML'
  addOptions(seed.command('generate').description(what), [
    countOption('--messages <count>', 'how many to make', 10_000_000).makeOptionMandatory(),
    countOption(
      '--random-seed <number>',
      'the same number makes the same messages',
      4_294_967_295
    ).default(1),
    countOption('--subscribers <count>', 'make so many subscribers too', 100_000).default(
      undefined,
      'none'
    ),
    countOption('--days <count>', 'spread the messages over so many days', 3650, 1).default(30),
    textOption('--until <time>', 'the last moment of these days, in ISO 8601', 'now').argParser(
      timeOf
    ),
    seedOption(),
    textOption('--environment <name>', 'name or id of the environment', 'the first'),
    textOption('--out <file>', out, 'none').conflicts('data'),
    textOption('--data <file>', 'add them to this data file; a new one is seeded first', 'none'),
    json
  ]).action(generate)
}

type JsonFlag = { json?: true }

function check(files: string[], { json }: JsonFlag): void {
  try {
    const environments = resolveSeeds(readSeeds(files), wallClock())
    const lines = environments.map(
      ({ name, integrations, subscribers, workflows, steps, messages }) => {
        const counts = Object.entries({ integrations, subscribers, workflows, steps, messages })
        return `${printable(name)}: ${formatCounts(Object.fromEntries(counts.map(([kind, all]) => [kind, all.length])))}\n`
      }
    )
    if (environments.length === 0) {
      lines.push(
        'no environments, and so no keys: each request gets a 401 until POST /_mock/environments makes one\n'
      )
    }
    const text = `${lines.join('')}${files.map(seedPath).join(', ')}: no issues\n`
    printOutcome({ ok: true, issues: [], more: 0 }, json, () => text)
  } catch (error) {
    if (!json || !(error instanceof SeedError)) throw error
    const { issues, more } = error
    printOutcome({ ok: false, issues, more }, json, String)
    process.exitCode = 1
  }
}

function list({ json }: JsonFlag): void {
  const seeds = readBuiltInSeeds()
  const width = Math.max(...seeds.map(({ name }) => name.length))
  const lines = seeds.map(({ name, description }) => `${name.padEnd(width)}  ${description}\n`)
  process.stdout.write(json ? `${JSON.stringify({ seeds })}\n` : lines.join(''))
}

/** Writes the beginning of a seed, with the schema where the package is, or will be once it is installed. */
function begin(file: string, { json }: JsonFlag): void {
  if (!/\.ya?ml$/.test(file)) throw new StartError(`${file} must end in .yaml`)
  const schema = resolve('node_modules/notification-mock/seeds/schema.json')
  const path = relative(dirname(resolve(file)), schema).replaceAll('\\', '/')
  const beginning = readFileSync(join(packageRoot(), 'seeds/new/seed.yaml'), 'utf8')
  write(file, beginning.replace('../schema.json', path.startsWith('.') ? path : `./${path}`), 'wx')
  const text = `${file} written; to serve it:\n  notification-mock --seed ${file}\n`
  process.stdout.write(json ? `${JSON.stringify({ file: resolve(file) })}\n` : text)
}

async function exportSeed(
  server = usualServer(),
  { apiKey, out, json }: JsonFlag & { apiKey: string; out?: string }
) {
  const format = json || out?.endsWith('.json') ? 'json' : 'yaml'
  const headers = { authorization: `ApiKey ${apiKey}`, accept: `application/${format}` }
  const response = await ask(`${server}/_mock/state`, { headers })
  const body = Readable.fromWeb(response.body as ReadableStream)
  if (out === undefined) {
    // What stdout does not take is told, or is no error, where each command is run.
    await pipeline(body, process.stdout, { end: false }).catch((error) => {
      if (error.syscall !== 'write') throw error
    })
    return void (format === 'json' && process.stdout.write('\n'))
  }
  await writeFile(out, body)
  process.stdout.write(`${server} written to ${out}\n`)
}

/** Replaces a file, which others may not read. */
function writeFile(
  file: string,
  text: Iterable<string> | Readable,
  signal = new AbortController().signal
) {
  const write = (tempFile: string) =>
    pipeline(text, createWriteStream(tempFile, { mode: 0o600 }), { signal })
  return replaceFile(file, write).catch(notWritten(file))
}

interface GenerateFlags extends SeedGenerate, JsonFlag {
  until?: number
  seed: readonly string[]
  environment?: string
  out?: string
  data?: string
}

function timeOf(text: string): number {
  const time = parseTime(text)
  if (time === undefined)
    throw new InvalidArgumentError('It must be a time such as 2026-02-18T10:07:11Z.')
  return time
}

/** Adds messages to a data file, or to what is in memory and then written as a seed. */
async function generate(flags: GenerateFlags, command: Command): Promise<void> {
  const { out, data, json, messages, environment: wanted } = flags
  const file = out ?? data ?? command.error('error: give either --out or --data, to say where to')
  if (out !== undefined && !/\.ya?ml$/i.test(out)) throw new StartError(`${out} must end in .yaml`)
  const signal = abortOnSignal()
  const started = performance.now()
  const show = progressLine()
  const { buildServices } = await import('../control/services.js')
  const { openDatabase, toStartError } = await import('../db/open.js')
  const files = readSeeds(flags.seed)

  async function addTo(target?: string, bulkLoad = false): Promise<string> {
    const { db, close } = openDatabase(target, { bulkLoad, of: data })
    try {
      const clock = () => flags.until ?? wallClock()
      const { environments, seeds } = buildServices({ db, clock, defaults: DEFAULTS, journal: 0 })
      await seeds.loadGenerator()
      seeds.seed(files)
      const all = environments.list()
      const environment = all.find(
        ({ id, name }) => wanted === undefined || id === wanted || name === wanted
      )
      if (environment === undefined) {
        const remedy =
          all.length > 0 ? `there are ${all.map(({ name }) => name).join(', ')}` : 'give a --seed'
        throw new StartError(`there is no environment ${wanted ?? 'at all'}; ${remedy}`)
      }
      for (const done of seeds.generating(environment, flags)) {
        show.update(`${done.toLocaleString('en')} messages`)
        await setImmediate()
        signal.throwIfAborted()
      }
      if (out !== undefined) await writeFile(out, seeds.exportAll([environment]), signal)
      return environment.name
    } catch (error) {
      throw toStartError(error, data)
    } finally {
      close()
    }
  }
  const isNew = data !== undefined && !existsSync(data)
  // In memory, a million messages would take gigabytes.
  const folder = out === undefined ? undefined : mkdtempSync(join(tmpdir(), 'notification-mock-'))
  const target = folder === undefined ? data : join(folder, 'generated.db')
  const environment = await (isNew
    ? replaceFile(data, (tempFile) => addTo(tempFile, true))
    : addTo(target, !!folder)
  )
    .finally(() => folder && rmSync(folder, { recursive: true, force: true }))
    .catch((error) => {
      throw signal.aborted ? new StartError(`interrupted; ${file} is as it was before`) : error
    })
    .finally(show.end)
  const seconds = (performance.now() - started) / 1000
  const text = `${printable(environment)}: ${messages} messages into ${file}, in ${seconds.toFixed(1)} s`
  printOutcome({ environment, messages, file, seconds }, json, () => `${text}\n`)
}
