import { existsSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { DEFAULTS } from '../config.js'
import { parseTime, wallClock } from '../core/clock.js'
import { StartError } from '../core/errors.js'
import type { SeedGenerate } from '../seeds/format.js'
import { addOptions, countOption, seedOption, textOption } from './options.js'
import { onStopSignal } from './signals.js'

interface GenerateOptions extends SeedGenerate {
  until?: number
  seed: readonly string[]
  environment?: string
  out?: string
  data?: string
  json?: true
}

export function addGenerate(seed: Command): void {
  const what = "make believable messages of an environment's own workflows to its own subscribers, as many as you like"
  const out = 'write a seed of the environment (.yaml), or the messages alone, one a line (.ndjson)'
  addOptions(seed.command('generate').description(what), [
    countOption('--messages <count>', 'how many to make', 10_000_000).makeOptionMandatory(),
    countOption('--random-seed <number>', 'the same number makes the same messages', 4_294_967_295).default(1),
    countOption('--subscribers <count>', 'make so many subscribers too', 100_000).default(undefined, 'none'),
    countOption('--days <count>', 'spread the messages over so many days', 3650, 1).default(30),
    new Option('--until <time>', 'the last moment of these days, in ISO 8601')
      .default(undefined, 'now')
      .argParser(timeOf),
    seedOption(),
    textOption('--environment <name>', 'name or id of the environment', 'the first'),
    textOption('--out <file>', out, 'none'),
    textOption('--data <file>', 'add them to this data file; a new one is seeded first', 'none'),
    new Option('--json', 'print the outcome as JSON')
  ]).action(generate)
}

function timeOf(text: string): number {
  const time = parseTime(text)
  if (time === undefined) throw new InvalidArgumentError('It must be a time such as 2026-02-18T10:07:11Z.')
  return time
}

async function generate(options: GenerateOptions, command: Command): Promise<void> {
  const { out, data, json, messages } = options
  if ((out === undefined) === (data === undefined)) command.error('error: give either --out or --data, to say where to')
  const stop = new AbortController()
  onStopSignal(() => stop.abort())
  const started = performance.now()
  const seconds = () => (performance.now() - started) / 1000
  const onProgress = (done: number) => showOnTerminal(formatProgress(done, messages, seconds()))
  const control = { signal: stop.signal, onProgress }
  try {
    const work = data === undefined ? intoFile(out as string, options, control) : intoData(data, options, control)
    const environment = await work.finally(() => showOnTerminal(''))
    const outcome = { environment, messages, file: out ?? data, seconds: seconds() }
    const text = `${environment}: ${messages} messages into ${outcome.file}, in ${outcome.seconds.toFixed(1)} s`
    process.stdout.write(`${json ? JSON.stringify(outcome) : text}\n`)
  } catch (error) {
    if (!stop.signal.aborted) throw error
    throw new StartError(`interrupted; ${out ?? data} is as it was before`)
  }
}

/** Replaces the line on a terminal; writes nothing to a pipe or a file. */
function showOnTerminal(line: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r${line}\x1b[K`)
}

/** `412,000 of 1,000,000 messages, 10 s left` */
export function formatProgress(done: number, total: number, seconds: number): string {
  const left = Math.ceil(((total - done) * seconds) / done)
  return `${done.toLocaleString('en')} of ${total.toLocaleString('en')} messages, ${left} s left`
}

interface Control {
  signal: AbortSignal
  onProgress: (done: number) => void
}

async function intoFile(out: string, options: GenerateOptions, control: Control): Promise<string> {
  const { loadGenerator, OUT_NAME, readSeeds, resolveSeeds, writeGenerated } = await import('./work.js')
  if (!OUT_NAME.test(out)) {
    throw new StartError(`${out} must end in .yaml, for a seed, or in .ndjson, for a message a line`)
  }
  const now = options.until ?? wallClock()
  const environment = chosen(resolveSeeds(readSeeds(options.seed), now), options.environment)
  const { generation } = await loadGenerator()
  const generated = { environment, generation: generation(environment, options, now) }
  try {
    await writeGenerated(out, generated, control)
  } catch (error) {
    const { code = '', syscall } = error as NodeJS.ErrnoException
    if (syscall === undefined) throw error
    throw new StartError(`can't write ${out}: ${REMEDIES[code] ?? `${NOT_WRITABLE} (${code})`}`)
  }
  return environment.name
}

const REMEDIES: Record<string, string> = {
  ENOENT: 'its folder does not exist; make it first',
  ENOTDIR: 'a part of its path is not a folder; name another file with --out',
  EISDIR: 'it is a folder; name a file in it',
  ENOSPC: 'the disk is full; free some space, or name another file with --out'
}
const NOT_WRITABLE = 'its folder can not be written to; check the permissions, or name another file with --out'

async function intoData(data: string, options: GenerateOptions, { signal, onProgress }: Control): Promise<string> {
  const work = await import('./work.js')
  const { buildServices, runInSlices, toStartError, loadGenerator, openDatabase, readSeeds, replaceFile } = work
  await loadGenerator()
  const files = readSeeds(options.seed)
  return existsSync(data) ? addTo(data, false) : replaceFile(data, (tempFile) => addTo(tempFile, true))

  async function addTo(file: string, bulkLoad: boolean): Promise<string> {
    const { db, close } = openDatabase(file, { bulkLoad, of: data })
    try {
      const clock = () => options.until ?? wallClock()
      const { environments, seeds } = buildServices({ db, clock, defaults: DEFAULTS, journal: 0 })
      await runInSlices(seeds.seeding(files), () => signal.throwIfAborted())
      const environment = chosen(environments.list(), options.environment)
      for (const done of seeds.generating(environment, options)) {
        onProgress(done)
        await setImmediate()
        signal.throwIfAborted()
      }
      return environment.name
    } catch (error) {
      throw toStartError(error, data)
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
