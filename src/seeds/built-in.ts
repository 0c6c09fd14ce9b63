import { join } from 'node:path'
import { packageRoot } from '../platform/package.js'

/** Describes the seeds in `seeds/`. The default seed comes first. */
const DESCRIPTIONS = {
  default: 'Notifications of a small web shop, and a second shop that must not have access to them',
  'busy-inbox': 'Content to design with: a busy inbox, long emails and pictures',
  empty: 'The environments and API keys of `default` without any data',
  everything: 'Values that the API reference allows, but that no other seed contains',
  failures: 'Messages with every possible error and warning, mixed with sent messages',
  'many-pages': 'Pagination: 137 messages, 24 of them created at the same instant',
  'one-page': 'A list that fits on one page: 7 messages about one order, on every channel',
  steps: 'Workflow steps of every type, with every control, component, placeholder and issue',
  'two-tenants': 'Context keys: two tenants whose messages your code must keep apart',
  unicode: 'Unusual text: right-to-left scripts, emoji, HTML, and names that need URL encoding'
}

/** Returns the names of the built-in seeds, starting with the default seed. */
export function builtInSeedNames(): string[] {
  return Object.keys(DESCRIPTIONS)
}

export function listBuiltInSeeds(): { name: string; description: string }[] {
  return Object.entries(DESCRIPTIONS).map(([name, description]) => ({ name, description }))
}

export function builtInSeedPath(name: string): string {
  return join(packageRoot(), 'seeds', `${name}.yaml`)
}
