import { createWriteStream, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import { type Command, Option } from 'commander'
import { wallClock } from '../domain/clock.js'
import { countOf } from '../domain/count.js'
import { StartError } from '../domain/errors.js'
import { requireWritable, rethrowWriteError } from '../platform/output-file.js'
import { packageRoot } from '../platform/package.js'
import { printable } from '../platform/printable.js'
import { replaceFile } from '../platform/replace-file.js'
import { listBuiltInSeeds } from '../seeds/built-in.js'
import { formatIssue, SeedError } from '../seeds/errors.js'
import type { EnvironmentData } from '../seeds/format.js'
import { findSeedHints } from '../seeds/hints.js'
import { readSeeds, seedPath } from '../seeds/read.js'
import { resolveSeeds } from '../seeds/resolve/resolve.js'
import { addOptions, textOption } from './options.js'
import { ask, DEFAULT_URL, defaultServer, keyOption, serverUrl } from './reach.js'
import { formatCounts, printOutcome, write } from './terminal.js'

export function addCommands(root: Command): void {
  const seed = root
    .command('seed')
    .helpGroup('Make data:')
    .description('list, check, create and export seeds')
    .helpCommand(false)
  const json = new Option('--json', 'print the result as JSON')
  const checkCommand = seed
    .command('check')
    .description('check one or more seed files together, as serve loads them, and list every issue')
    .argument('<file...>', 'seed files or names of built-in seeds')
  addOptions(checkCommand, [json]).action(check)
  const listCommand = seed
    .command('list')
    .description('list the built-in seeds, to use with --seed')
  addOptions(listCommand, [json]).action(list)
  const newCommand = seed
    .command('new')
    .description('create a commented starter seed')
    .argument('[file]', 'the file to create; must not exist', 'seed.yaml')
  addOptions(newCommand, [json]).action(createSeed)
  const exportCommand = seed
    .command('export')
    .description('export an environment of a running server as a seed')
    .argument(
      '[url]',
      `URL of the server (default: NOTIFICATION_MOCK_URL, else ${DEFAULT_URL})`,
      serverUrl
    )
  addOptions(exportCommand, [
    keyOption('--api-key <key>', 'API key of the environment'),
    textOption('--out <file>', 'write to this .yaml or .json file instead of stdout', 'none'),
    new Option('--json', 'write JSON instead of YAML')
  ]).action(exportSeed)
}

type JsonFlag = { json?: true }

/** Describes an environment in one line: its name, its record counts and its generated messages. */
function describeEnvironment(environment: EnvironmentData): string {
  const { name, integrations, subscribers, workflows, steps, messages, generate } = environment
  const counts = formatCounts({
    integrations: integrations.length,
    subscribers: subscribers.length,
    workflows: workflows.length,
    steps: steps.length,
    messages: messages.length
  })
  const generated = generate ? ` and ${countOf(generate.messages, 'generated message')}` : ''
  return `${printable(name)}: ${counts}${generated}\n`
}

function check(files: string[], { json }: JsonFlag): void {
  try {
    const seedFiles = readSeeds(files)
    const environments = resolveSeeds(seedFiles, wallClock())
    const lines = environments.map(describeEnvironment)
    if (environments.length === 0) {
      lines.push(
        'no environments, so every request gets a 401 until you create one with ' +
          'POST /_mock/environments\n'
      )
    }
    const hints = findSeedHints(seedFiles)
    lines.push(...hints.map((hint) => `hint: ${formatIssue(hint)}\n`))
    const text = `${lines.join('')}${files.map(seedPath).join(', ')}: no issues\n`
    printOutcome({ ok: true, issues: [], more: 0, hints }, json, () => text)
  } catch (error) {
    if (!json || !(error instanceof SeedError)) throw error
    const { issues, more } = error
    printOutcome({ ok: false, issues, more, hints: [] }, json, String)
    process.exitCode = 1
  }
}

function list({ json }: JsonFlag): void {
  const seeds = listBuiltInSeeds()
  const width = Math.max(...seeds.map(({ name }) => name.length))
  const lines = seeds.map(({ name, description }) => `${name.padEnd(width)}  ${description}\n`)
  process.stdout.write(json ? `${JSON.stringify({ seeds })}\n` : lines.join(''))
}

/**
 * Creates a starter seed. Its `$schema` comment refers to the schema in node_modules, even if the
 * package isn't installed there yet.
 */
function createSeed(file: string, { json }: JsonFlag): void {
  if (!/\.ya?ml$/.test(file)) throw new StartError(`${file} must end in .yaml`)
  const schema = resolve('node_modules/notification-mock/seeds/schema.json')
  const path = relative(dirname(resolve(file)), schema).replaceAll('\\', '/')
  const starter = readFileSync(join(packageRoot(), 'seeds/new/seed.yaml'), 'utf8')
  write(file, starter.replace('../schema.json', path.startsWith('.') ? path : `./${path}`), 'wx')
  const text = `created ${file}; to serve it:\n  notification-mock --seed ${file}\n`
  process.stdout.write(json ? `${JSON.stringify({ file: resolve(file) })}\n` : text)
}

async function exportSeed(
  server = defaultServer(),
  { apiKey, out, json }: JsonFlag & { apiKey: string; out?: string }
) {
  if (out !== undefined) requireWritable(out)
  const format = json || out?.endsWith('.json') ? 'json' : 'yaml'
  const headers = { authorization: `ApiKey ${apiKey}`, accept: `application/${format}` }
  const response = await ask(`${server}/_mock/state`, { headers })
  const body = Readable.fromWeb(response.body as ReadableStream)
  if (out === undefined) {
    // `run` in program.ts handles write errors.
    await pipeline(body, process.stdout, { end: false }).catch((error) => {
      if (error.syscall !== 'write') throw error
    })
    if (format === 'json') process.stdout.write('\n')
    return
  }
  await writeFile(out, body)
  process.stdout.write(`exported ${server} to ${out}\n`)
}

/** Replaces a file. Only the owner can read the new file. */
function writeFile(file: string, text: Readable) {
  const write = (tempFile: string) => pipeline(text, createWriteStream(tempFile, { mode: 0o600 }))
  return replaceFile(file, write).catch(rethrowWriteError(file))
}
