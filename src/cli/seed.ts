import { type Command, Option } from 'commander'
import { wallClock } from '../core/clock.js'
import { SeedError, type SeedIssue } from '../seeds/errors.js'
import { addGenerate } from './generate.js'
import { addOptions } from './options.js'
import { addSeedExport } from './seed-export.js'
import { addSeedList, addSeedNew } from './seed-new.js'

export function addSeed(program: Command): Command {
  const seed = program
    .command('seed')
    .description('work with seeds: list, check, begin, export and generate them')
    .helpCommand(false)
  const command = seed
    .command('check')
    .description('list every issue in seed files; several are checked together, as serve would load them')
    .argument('<file...>', 'seed files, or names of seeds that come with the package')
  addOptions(command, [new Option('--json', 'print the outcome as JSON')]).action(check)
  addSeedList(seed)
  addSeedNew(seed)
  addSeedExport(seed)
  addGenerate(seed)
  return seed
}

async function check(files: string[], { json }: { json?: true }): Promise<void> {
  const { readSeeds, resolveSeeds, seedPath } = await import('./work.js')
  try {
    const environments = resolveSeeds(readSeeds(files), wallClock())
    const lines = environments.map(({ name, integrations, subscribers, workflows, steps, messages }) => {
      const counts = Object.entries({ integrations, subscribers, workflows, steps, messages })
      return `${name}: ${formatCounts(Object.fromEntries(counts.map(([kind, all]) => [kind, all.length])))}\n`
    })
    process.stdout.write(
      json ? outcomeJson({ issues: [], more: 0 }) : `${lines.join('')}${files.map(seedPath).join(', ')}: no issues\n`
    )
  } catch (error) {
    if (!json || !(error instanceof SeedError)) throw error
    process.stdout.write(outcomeJson(error))
    process.exitCode = 1
  }
}

function outcomeJson({ issues, more }: { issues: readonly SeedIssue[]; more: number }): string {
  return `${JSON.stringify({ ok: issues.length === 0, issues, more })}\n`
}

/** `60 messages, 1 integration` */
export function formatCounts(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([kind, count]) => `${count} ${count === 1 ? kind.slice(0, -1) : kind}`)
    .join(', ')
}
