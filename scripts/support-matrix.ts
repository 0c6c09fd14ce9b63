/**
 * Builds the support matrix, which lists the conformance cases for each coverage item of an
 * operation and for each assumption.
 */
import { ASSUMPTION_IDS, assume, PROFILES, type Profile } from '../src/domain/assumptions.js'
import type { ConformanceCase } from '../src/remote/conformance/case.js'
import { CASES } from '../src/remote/conformance/cases/index.js'
import { Skipped } from '../src/remote/response-checks.js'
import { createServiceUnderTest, type ServiceUnderTest } from '../src/remote/service-under-test.js'
import { Target } from '../src/remote/target.js'
import { startServer } from '../src/server.js'
import { startProxy } from '../test/remote/conformance/proxy.js'
import { DEVELOPMENT, MAILGUN, SENDGRID } from '../test/support/control.js'

/** An operation in a server's coverage. */
interface CoveredOperation {
  operation: string
  method: string
  path: string
  items: { id: string; kind: string; name: string; count: number }[]
}

/**
 * The profiles in which a case covers an item, by the id of the coverage item and the id of the
 * case.
 */
type CoveringCases = Map<string, Map<string, Profile[]>>

const MAX_CITED = 3
const LETTERS = { document: 'D', live: 'L' }

/** Allows the cases to change data, and names the records of the default seed that they use. */
const RECORDS = {
  allowChanges: true,
  workflows: ['order-shipped', 'order-confirmed', 'back-in-stock'],
  steps: [],
  integrations: [SENDGRID, MAILGUN, '66f1c2a47c9b1a0012ad0005'],
  foreignIntegration: '6703aa1c5d2e8b0013b70001'
}

/**
 * Returns the tables in Markdown. Starts a server for each profile and runs the cases against it
 * one at a time, to measure the coverage of each case.
 */
export async function supportTables(): Promise<string> {
  const coveringCases: CoveringCases = new Map()
  const operations: CoveredOperation[] = []
  for (const profile of PROFILES) await runCases(profile, coveringCases, operations)
  const titles = new Set(
    operations.map(({ operation, method, path }) => `${operation}: ${method} ${path}`)
  )
  const tables = [...titles].map((title) => {
    const items = operations.flatMap(({ operation, items }) =>
      title.startsWith(`${operation}:`) ? items : []
    )
    const names = new Map(
      items.map(({ id, kind, name }) => [id, kind === 'operation' ? name : `${kind} \`${name}\``])
    )
    return table(
      title,
      [...names].map(([id, name]) => [name, caseCell(coveringCases, id)])
    )
  })
  return [...tables, assumptionTable()].join('\n')
}

async function runCases(
  profile: Profile,
  coveringCases: CoveringCases,
  operations: CoveredOperation[]
): Promise<void> {
  const { url, app } = await startServer({ port: 0, logLevel: 'silent', profile })
  // The proxy adds a route that lists the integrations, because some cases need this list.
  const proxy = await startProxy(url)
  for (const conformanceCase of CASES.filter(
    ({ documentOnly }) => profile === 'document' || !documentOnly
  )) {
    await fetch(`${url}/_mock/coverage/server`, { method: 'DELETE' })
    const service = createServiceUnderTest(
      new Target({ url: proxy.url, apiKey: DEVELOPMENT }),
      RECORDS
    )
    await runCase(conformanceCase, service, profile)
    const coverage = await (await fetch(`${url}/_mock/coverage/server`)).json()
    await service.integrations.restore()
    const covered = (coverage as { operations: CoveredOperation[] }).operations
    if (conformanceCase === CASES[0]) operations.push(...covered)
    for (const { id, count } of covered.flatMap(({ items }) => items)) {
      if (count === 0) continue
      const cases = coveringCases.get(id) ?? new Map<string, Profile[]>()
      coveringCases.set(
        id,
        cases.set(conformanceCase.id, [...(cases.get(conformanceCase.id) ?? []), profile])
      )
    }
  }
  await proxy[Symbol.asyncDispose]()
  await app.close()
}

async function runCase(
  { id, basis, run }: ConformanceCase,
  service: ServiceUnderTest,
  profile: Profile
): Promise<void> {
  try {
    const value = await run(service)
    if (!('assumption' in basis) || value === profile) return
  } catch (error) {
    if (error instanceof Skipped) return
    throw new Error(`${id} fails in the profile ${profile}`, { cause: error })
  }
  throw new Error(`${id} detects the wrong value in the profile ${profile}`)
}

function assumptionTable(): string {
  const rows = ASSUMPTION_IDS.map((id): [string, string] => {
    const cases = CASES.filter(({ basis }) => 'assumption' in basis && basis.assumption === id)
    const values = PROFILES.map((profile) => `\`${assume(profile)[id]}\` ${LETTERS[profile]}`).join(
      ', '
    )
    return [
      `\`${id}\`: ${values}`,
      cases.map((conformanceCase) => `\`${conformanceCase.id}\``).join(', ')
    ]
  })
  return table('Assumptions', rows)
}

function table(title: string, rows: [string, string][]): string {
  const lines = rows.map(([part, cases]) => `| ${part} | ${cases || 'none, only tests'} |\n`)
  return `### ${title}\n\n| part | conformance cases |\n|---|---|\n${lines.join('')}`
}

/**
 * Returns the table cell for an item. It names up to `MAX_CITED` cases that cover the item,
 * starting with the cases that cover the fewest items. Then it counts the other cases and lists the
 * letters of the profiles where any case covers the item.
 */
function caseCell(coveringCases: CoveringCases, item: string): string {
  const cases = coveringCases.get(item) ?? new Map<string, Profile[]>()
  const breadth = (id: string) =>
    [...coveringCases.values()].filter((cases) => cases.has(id)).length
  const named = [...cases.keys()]
    .sort((one, other) => breadth(one) - breadth(other))
    .map((id) => `\`${id}\``)
  const others = named.length > MAX_CITED ? ` and ${named.length - MAX_CITED} more` : ''
  const profiles = new Set([...cases.values()].flat())
  const letters = PROFILES.flatMap((profile) => (profiles.has(profile) ? LETTERS[profile] : []))
  const suffix = letters.length > 0 ? ` (${letters.join(', ')})` : ''
  return `${named.slice(0, MAX_CITED).join(', ')}${others}${suffix}`
}
