/**
 * Writes into the documents what the code says, between markers: `npm run docs`. With `--check` it writes nothing, and
 * exits 1 if something is stale.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { ASSUMPTION_IDS, type AssumptionId, assumptionRow } from '../src/core/assumptions.js'

const GENERATED: Record<string, { file: string; text: () => string }> = {
  assumptions: { file: 'docs/assumptions.md', text: assumptionTable }
}

const check = process.argv.includes('--check')
for (const [name, { file, text }] of Object.entries(GENERATED)) {
  const before = readFileSync(file, 'utf8')
  const marked = new RegExp(`(<!-- generated: ${name} -->\n).*?(<!-- end of generated -->)`, 's')
  if (!marked.test(before)) throw new Error(`${file} has no place for ${name}`)
  const after = before.replace(marked, (_whole, open, close) => `${open}${text()}${close}`)
  if (after === before) continue
  if (check) {
    console.error(`${file}: ${name} is stale; run npm run docs`)
    process.exitCode = 1
  } else {
    writeFileSync(file, after)
    console.log(`${file}: ${name} written`)
  }
}

function assumptionTable(): string {
  const rows = ASSUMPTION_IDS.map((id) => `| \`${id}\` | ${cell(id, 'document')} | ${cell(id, 'live')} |\n`)
  return `| assumption | \`document\` | \`live\` |\n|---|---|---|\n${rows.join('')}`
}

function cell(id: AssumptionId, profile: 'document' | 'live'): string {
  const { [profile]: position, values } = assumptionRow(id)
  return `**${position}**: ${(values as Record<string, string>)[position]?.replaceAll('|', '\\|')}`
}
