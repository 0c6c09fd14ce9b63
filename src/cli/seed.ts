import type { Command } from 'commander'
import { wallClock } from '../core/clock.js'
import type { World } from '../seeds/environment-data.js'
import { placeOf, SeedError, type SeedMistake } from '../seeds/errors.js'
import { addGenerate } from './generate.js'
import { jsonOption } from './options.js'

export function addSeed(program: Command): Command {
  const seed = program
    .command('seed')
    .description('work with seeds: `seed check <file>` tells every mistake in one, `seed generate` makes messages')
    .helpCommand(false)
  seed
    .command('check')
    .description('tell every mistake in seed files; several are checked together, as serve would load them')
    .argument('<file...>', 'seed files, or names of seeds that come with the package')
    .addOption(jsonOption('print the outcome as JSON'))
    .action((files: string[], { json }: { json?: true }) => (json ? checkAsJson(files) : check(files)))
  addGenerate(seed)
  return seed
}

async function check(files: readonly string[]): Promise<void> {
  const worlds = await worldsOf(files)
  const { seedPath } = await import('../seeds/read.js')
  for (const world of worlds) process.stdout.write(`${world.name}: ${contentsOf(world)}\n`)
  process.stdout.write(`${files.map(seedPath).join(', ')}: no mistakes\n`)
}

function contentsOf(world: World): string {
  return (['integrations', 'subscribers', 'workflows', 'steps', 'messages'] as const)
    .map((part) => `${world[part].length} ${world[part].length === 1 ? part.slice(0, -1) : part}`)
    .join(', ')
}

async function checkAsJson(files: readonly string[]): Promise<void> {
  const mistakes = await issuesIn(files)
  const placed = mistakes.map((mistake) => ({ place: placeOf(mistake), ...mistake }))
  process.stdout.write(`${JSON.stringify({ ok: mistakes.length === 0, mistakes: placed })}\n`)
  if (mistakes.length > 0) process.exitCode = 1
}

async function issuesIn(files: readonly string[]): Promise<readonly SeedMistake[]> {
  try {
    await worldsOf(files)
    return []
  } catch (error) {
    if (error instanceof SeedError) return error.mistakes
    throw error
  }
}

/** Loaded only when it is used: `healthcheck` is run every few seconds. */
async function worldsOf(files: readonly string[]): Promise<World[]> {
  const [{ readSeeds }, { resolveSeeds }] = await Promise.all([
    import('../seeds/read.js'),
    import('../seeds/resolve/resolve.js')
  ])
  return resolveSeeds(readSeeds(files), wallClock())
}
