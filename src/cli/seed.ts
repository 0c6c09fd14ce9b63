import type { Command } from 'commander'
import { wallClock } from '../clock.js'
import { readSeedFile, SeedError, seedPath } from '../seeds/read.js'
import { resolveSeeds } from '../seeds/resolve.js'
import { jsonOption } from './options.js'

export function addSeed(program: Command): void {
  const seed = program.command('seed').description('work with seed files')
  seed
    .command('check')
    .description('tell every mistake in seed files; several are checked together, as serve would load them')
    .argument('<file...>', 'seed files, or names of seeds that come with the package')
    .addOption(jsonOption('print the outcome as JSON'))
    .action((files: string[], { json }: { json?: true }) => (json ? checkAsJson(files) : check(files)))
}

function check(files: readonly string[]): void {
  for (const world of worldsOf(files)) {
    const counts = (['integrations', 'subscribers', 'workflows', 'steps', 'messages'] as const).map(
      (part) => `${world[part].length} ${part}`
    )
    process.stdout.write(`${world.name}: ${counts.join(', ')}\n`)
  }
  process.stdout.write(`${files.map(seedPath).join(', ')}: no mistakes\n`)
}

function checkAsJson(files: readonly string[]): void {
  const mistakes = mistakesIn(files)
  process.stdout.write(`${JSON.stringify({ ok: mistakes.length === 0, mistakes })}\n`)
  if (mistakes.length > 0) process.exitCode = 1
}

function mistakesIn(files: readonly string[]): SeedError['mistakes'] {
  try {
    worldsOf(files)
    return []
  } catch (error) {
    if (error instanceof SeedError) return error.mistakes
    throw error
  }
}

function worldsOf(files: readonly string[]) {
  return resolveSeeds(
    files.map((file) => readSeedFile(file)),
    wallClock()
  )
}
