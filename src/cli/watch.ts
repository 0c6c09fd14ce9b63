import type { SeedChange } from '../seeds/service.js'
import type { SeedReload } from '../seeds/watch.js'
import { formatCounts } from './seed.js'

/** Prints the outcome of a change of the seed files: what it did on stdout, what is wrong with it on stderr. */
export function printReload(reload: SeedReload, json: boolean): void {
  const { applied, files } = reload
  if (json) {
    const outcome = applied ? { environments: reload.changes } : { issues: reload.error.issues }
    process.stdout.write(`${JSON.stringify({ event: 'seed-changed', applied, files, ...outcome })}\n`)
  } else if (applied) {
    const lines = reload.changes.length === 0 ? ['nothing that changes the data'] : reload.changes.map(formatChange)
    process.stdout.write(lines.map((line) => `seed changed: ${files.join(', ')}: ${line}\n`).join(''))
  }
  if (!applied)
    process.stderr.write(`${reload.error.message}\nthe changed seed is not applied: the data stays as it was\n`)
}

function formatChange({ name, change, apiKeys, records }: SeedChange): string {
  if (change === 'reloaded') return `${name} reloaded (${formatCounts(records)})`
  const keys = change === 'added' && apiKeys.length > 0 ? `, with the key ${apiKeys.join(', ')}` : ''
  return `${name} ${change}${keys}`
}
