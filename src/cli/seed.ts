import { type Command, Option } from 'commander'
import { wallClock } from '../core/clock.js'
import { SeedError } from '../seeds/errors.js'
import { addGenerate } from './generate.js'
import { addOptions } from './options.js'

export function addSeed(program: Command): Command {
  const seed = program
    .command('seed')
    .description('work with seeds: `seed check <file>` lists every issue in one, `seed generate` makes messages')
    .helpCommand(false)
  const check = seed
    .command('check')
    .description('list every issue in seed files; several are checked together, as serve would load them')
    .argument('<file...>', 'seed files, or names of seeds that come with the package')
  addOptions(check, [new Option('--json', 'print the outcome as JSON')]).action(
    (files: string[], { json }: { json?: true }) => (json ? checkAsJson(files) : checkAsText(files))
  )
  addGenerate(seed)
  return seed
}

async function checkAsText(files: readonly string[]): Promise<void> {
  const { environments, paths } = await resolve(files)
  for (const { name, integrations, subscribers, workflows, steps, messages } of environments) {
    const records = { integrations, subscribers, workflows, steps, messages }
    const counts = Object.entries(records).map(([kind, all]) => [kind, all.length])
    process.stdout.write(`${name}: ${formatCounts(Object.fromEntries(counts))}\n`)
  }
  process.stdout.write(`${paths.join(', ')}: no issues\n`)
}

/** `60 messages, 1 integration` */
export function formatCounts(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([kind, count]) => `${count} ${count === 1 ? kind.slice(0, -1) : kind}`)
    .join(', ')
}

async function checkAsJson(files: readonly string[]): Promise<void> {
  const issues = await resolve(files).then(
    () => [],
    (error: unknown) => {
      if (error instanceof SeedError) return error.issues
      throw error
    }
  )
  process.stdout.write(`${JSON.stringify({ ok: issues.length === 0, issues })}\n`)
  if (issues.length > 0) process.exitCode = 1
}

/** Loads the readers only when they are used: `healthcheck` is run every few seconds. */
async function resolve(files: readonly string[]) {
  const [{ readSeeds, seedPath }, { resolveSeeds }] = await Promise.all([
    import('../seeds/read.js'),
    import('../seeds/resolve/resolve.js')
  ])
  return { environments: resolveSeeds(readSeeds(files), wallClock()), paths: files.map(seedPath) }
}
