/**
 * Writes into the documents what the code says, between markers: `npm run docs`. With `--check` it writes nothing, and
 * exits 1 if something is stale.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { isDocumented, planOf } from '../src/control/coverage/plan.js'
import { ASSUMPTION_IDS, type AssumptionId, assume, assumptionRow } from '../src/core/assumptions.js'
import { setIntegrationAsPrimary } from '../src/integrations/routes.js'
import { listMessages } from '../src/messages/routes.js'
import { retrieveWorkflowStep } from '../src/workflow-steps/routes.js'

const GENERATED: Record<string, { file: string; text: () => string }> = {
  assumptions: { file: 'docs/assumptions.md', text: assumptionTable },
  coverage: { file: 'docs/coverage.md', text: coverageTable }
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

function coverageTable(): string {
  const assumptions = assume('document')
  const rows = [setIntegrationAsPrimary, listMessages, retrieveWorkflowStep].map((operation) => {
    const items = planOf(operation).items.filter((item) => isDocumented(item, assumptions))
    const names = (isAnswer: boolean) =>
      items.filter(({ kind }) => (kind === 'status' || kind === 'operation') === isAnswer).map(({ name }) => name)
    return `| \`${operation.id}\` | ${names(true).join(', ')} | ${names(false).join('; ')} |\n`
  })
  return `| operation | called, and answered with | sent with |\n|---|---|---|\n${rows.join('')}`
}

function cell(id: AssumptionId, profile: 'document' | 'live'): string {
  const { [profile]: position, values } = assumptionRow(id)
  return `**${position}**: ${(values as Record<string, string>)[position]?.replaceAll('|', '\\|')}`
}
