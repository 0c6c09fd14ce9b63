import { join } from 'node:path'
import { packageRoot } from '../platform/package.js'

/** The seeds in seeds/ by name, the default first, each with a sentence on what it is for. */
const DESCRIPTIONS = {
  default: 'The notifications of a small web shop, and of a bicycle shop that must never see them',
  empty: 'The environments and API keys of `default` without any data',
  everything: 'What the other seeds lack of the values that the API reference allows',
  failures: 'Every error and every warning that a message can have, among messages that were sent',
  'many-pages': 'Pagination: 137 messages, 24 of them created at the same instant',
  'one-page': 'A list that fits on one page: 7 messages about one order, on every channel',
  steps: 'Steps of every type, with every control, component, placeholder and issue',
  'two-tenants': 'Context keys: two tenants whose messages your code must keep apart',
  unicode: 'Unusual text: right to left, emoji, HTML, control characters, names to escape in a URL'
}

/** Returns the names of the built-in seeds, the default first. */
export function builtInSeedNames(): string[] {
  return Object.keys(DESCRIPTIONS)
}

export function listBuiltInSeeds(): { name: string; description: string }[] {
  return Object.entries(DESCRIPTIONS).map(([name, description]) => ({ name, description }))
}

export function builtInSeedPath(name: string): string {
  return join(packageRoot(), 'seeds', `${name}.yaml`)
}
