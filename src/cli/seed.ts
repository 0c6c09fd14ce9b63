import { createWriteStream, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import { type Command, Option } from 'commander'
import { wallClock } from '../domain/clock.js'
import { StartError } from '../domain/errors.js'
import { packageRoot } from '../platform/package.js'
import { printable } from '../platform/printable.js'
import { replaceFile } from '../platform/replace-file.js'
import { listBuiltInSeeds } from '../seeds/built-in.js'
import { SeedError } from '../seeds/errors.js'
import type { EnvironmentData } from '../seeds/format.js'
import { readSeeds, seedPath } from '../seeds/read.js'
import { resolveSeeds } from '../seeds/resolve/resolve.js'
import { addOptions, textOption } from './options.js'
import { ask, keyOption, serverUrl, USUAL_URL, usualServer } from './reach.js'
import { formatCounts, notWritten, printOutcome, write } from './terminal.js'

export function addCommands(root: Command): void {
  const seed = root
    .command('seed')
    .helpGroup('Make data:')
    .description('work with seeds: list, check, start and export them')
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
}

type JsonFlag = { json?: true }

/** Returns the number of records of each kind. Messages to generate are counted separately. */
function describeEnvironment(environment: EnvironmentData): string {
  const { name, integrations, subscribers, workflows, steps, messages, generate } = environment
  const counts = formatCounts({
    integrations: integrations.length,
    subscribers: subscribers.length,
    workflows: workflows.length,
    steps: steps.length,
    messages: messages.length
  })
  const generated = generate ? ` and ${generate.messages} generated messages` : ''
  return `${printable(name)}: ${counts}${generated}\n`
}

function check(files: string[], { json }: JsonFlag): void {
  try {
    const environments = resolveSeeds(readSeeds(files), wallClock())
    const lines = environments.map(describeEnvironment)
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
  const seeds = listBuiltInSeeds()
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

/** Replaces a file. Only its owner can read it. */
function writeFile(file: string, text: Readable) {
  const write = (tempFile: string) => pipeline(text, createWriteStream(tempFile, { mode: 0o600 }))
  return replaceFile(file, write).catch(notWritten(file))
}
