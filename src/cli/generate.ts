import { existsSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import type { Command } from 'commander'
import { DEFAULTS } from '../config.js'
import { wallClock } from '../core/clock.js'
import { StartError } from '../core/errors.js'
import type { SeedGenerate } from '../seeds/format.js'
import * as option from './options.js'
import { type Progress, progressOn } from './progress.js'

interface GenerateOptions extends SeedGenerate {
  until?: number
  seed: readonly string[]
  environment?: string
  out?: string
  data?: string
  json?: true
}

export function addGenerate(seed: Command): void {
  seed
    .command('generate')
    .description(
      "make believable messages of an environment's own workflows to its own subscribers, as many as you like"
    )
    .addOption(option.countOption('--messages <count>', 'how many to make', 10_000_000).makeOptionMandatory())
    .addOption(
      option.countOption('--random-seed <number>', 'the same number makes the same messages', 4_294_967_295).default(1)
    )
    .addOption(
      option.countOption('--subscribers <count>', 'make so many subscribers too', 100_000).default(undefined, 'none')
    )
    .addOption(option.countOption('--days <count>', 'spread the messages over so many days', 3650, 1).default(30))
    .addOption(option.timeOption('--until <time>', 'the last moment of these days, in ISO 8601'))
    .addOption(option.seedOption())
    .addOption(option.textFlag('--environment <name>', 'name or id of the environment', 'the first'))
    .addOption(option.textFlag('--out <file>', OUT, 'none'))
    .addOption(option.textFlag('--data <file>', 'add them to this data file; a new one is seeded first', 'none'))
    .addOption(option.jsonOption('print the outcome as JSON'))
    .action(generate)
}

const OUT = 'write a seed of the environment (.yaml), or the messages alone, one a line (.ndjson)'

async function generate(options: GenerateOptions, command: Command): Promise<void> {
  const { out, data, json, messages } = options
  if ((out === undefined) === (data === undefined)) command.error('error: give either --out or --data, to say where to')
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stop.abort())
  const control = { signal: stop.signal, progress: progressOn(process.stderr, messages) }
  const started = performance.now()
  try {
    const work = data === undefined ? intoFile(out as string, options, control) : intoData(data, options, control)
    const environment = await work.finally(control.progress.end)
    const seconds = (performance.now() - started) / 1000
    const outcome = { environment, messages, file: out ?? data, seconds }
    const text = `${environment}: ${messages} messages into ${outcome.file}, in ${seconds.toFixed(1)} s`
    process.stdout.write(`${json ? JSON.stringify(outcome) : text}\n`)
  } catch (error) {
    if (!stop.signal.aborted) throw error
    throw new StartError(`interrupted; ${out ?? data} is as it was before`)
  }
}

interface Control {
  signal: AbortSignal
  progress: Progress
}

async function intoFile(out: string, options: GenerateOptions, { signal, progress }: Control): Promise<string> {
  const { readSeeds } = await import('../seeds/read.js')
  const { resolveSeeds } = await import('../seeds/resolve/resolve.js')
  const { canGenerate } = await import('../seeds/generate/input.js')
  const { loadGenerator } = await import('../seeds/generate/load.js')
  const { outFormatOf, writeGenerated } = await import('../seeds/generate/out.js')
  const format = outFormatOf(out)
  if (!format) throw new StartError(`${out} must end in .yaml, for a seed, or in .ndjson, for a message a line`)
  const now = options.until ?? wallClock()
  const environment = chosen(resolveSeeds(readSeeds(options.seed), now), options.environment)
  if (!canGenerate(environment)) {
    const what = `environment ${environment.name} has nothing to make messages of`
    throw new StartError(`${what}: it needs a workflow with a step of a channel`)
  }
  const { generation } = await loadGenerator()
  const generated = { environment, generation: generation(environment, options, now) }
  try {
    await writeGenerated(out, format, generated, { signal, onProgress: progress.update })
  } catch (error) {
    const { code = '', syscall, message } = error as NodeJS.ErrnoException
    if (syscall === undefined) throw error
    throw new StartError(`can't write ${out}: ${WRITE_REMEDIES[code] ?? `${message}; name another file with --out`}`)
  }
  return environment.name
}

const NOT_WRITABLE = 'its folder can not be written to; check the permissions, or name another file with --out'
const WRITE_REMEDIES: Record<string, string> = {
  ENOENT: 'its folder does not exist; make it first',
  ENOTDIR: 'a part of its path is not a folder; name another file with --out',
  EISDIR: 'it is a folder; name a file in it',
  EACCES: NOT_WRITABLE,
  EPERM: NOT_WRITABLE,
  EROFS: NOT_WRITABLE,
  ENOSPC: 'the disk is full; free some space, or name another file with --out'
}

async function intoData(data: string, options: GenerateOptions, { signal, progress }: Control): Promise<string> {
  const { buildServices } = await import('../app.js')
  const { explained, openDatabase } = await import('../db/open.js')
  const { replaceFile } = await import('../seeds/generate/replace-file.js')
  const { readSeeds } = await import('../seeds/read.js')
  const { loadGenerator } = await import('../seeds/generate/load.js')
  await loadGenerator()
  const files = readSeeds(options.seed)
  return existsSync(data) ? addTo(data, false) : replaceFile(data, (tempFile) => addTo(tempFile, true))

  async function addTo(file: string, bulkLoad: boolean): Promise<string> {
    const { db, close } = openDatabase(file, { bulkLoad, of: data })
    try {
      const clock = () => options.until ?? wallClock()
      const { environments, seeds } = buildServices({ db, clock, defaults: DEFAULTS, journal: 0 })
      seeds.seed(files)
      const environment = chosen(environments.list(), options.environment)
      for (const done of seeds.generating(environment, options)) {
        progress.update(done)
        await setImmediate()
        signal.throwIfAborted()
      }
      return environment.name
    } catch (error) {
      throw explained(error, data)
    } finally {
      close()
    }
  }
}

function chosen<Named extends { id: string; name: string }>(all: readonly Named[], wanted?: string): Named {
  const found = wanted === undefined ? all[0] : all.find(({ id, name }) => id === wanted || name === wanted)
  if (found) return found
  const names = all.map(({ name }) => name).join(', ')
  const remedy = names ? `there are ${names}` : 'give a --seed'
  throw new StartError(`there is no environment ${wanted ?? 'at all'}; ${remedy}`)
}
