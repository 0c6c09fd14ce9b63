/** The support matrix: for each row of it, the cases and tests that show it. Used by docs.ts and support.ts. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { assume, PROFILES, type Profile } from '../src/core/assumptions.js'
import { startServer } from '../src/server.js'
import type { ConformanceCase } from '../src/targets/conformance/case.js'
import { CASES } from '../src/targets/conformance/cases/index.js'
import { createSubject } from '../src/targets/conformance/subject.js'
import { Skipped } from '../src/targets/outcome.js'
import { createTarget } from '../src/targets/target.js'
import { startProxy } from '../test/conformance/proxy.js'
import { DEVELOPMENT, MAILGUN, SENDGRID } from '../test/support/control.js'
import { type Shown, shownSoFar, startNoting } from '../test/support/shown.js'
import { type Row, supportSections } from './support-rows.js'

/** What each test file is cited for. */
export type Citations = Record<string, Shown>

/** What nothing shows, by the name of its row, and why. */
const UNSHOWN: Record<string, string> = {}

const MAX_CITED = 3
const LETTERS = { document: 'D', live: 'L', mixed: 'M' }

/** Of the default seed: what names all that cases look for. */
const WORKFLOWS = ['order-shipped', 'order-confirmed', 'back-in-stock']
const INTEGRATIONS = [SENDGRID, MAILGUN, '66f1c2a47c9b1a0012ad0005']

const root = join(import.meta.dirname, '..')
const CITATIONS = join(root, 'test/support/citations.json')

export function readCitations(): Citations {
  return JSON.parse(readFileSync(CITATIONS, 'utf8'))
}

export function writeCitations(citations: Citations): void {
  const json = JSON.stringify(citations, null, 2)
  // A line for each row, as the formatter has it.
  writeFileSync(CITATIONS, `${json.replace(/\[\s+(.*?)\s+\]/gs, (_, list) => `[${list.replace(/\s+/g, ' ')}]`)}\n`)
}

/** Returns the tables, in Markdown. Throws when a row is shown by nothing, or a file is cited that there is not. */
export async function supportTables(): Promise<string> {
  const [sections, cases] = [await supportSections(), await shownByCases()]
  const citations = readCitations()
  const gone = Object.keys(citations).filter((file) => !existsSync(join(root, file)))
  if (gone.length > 0) throw new Error(`docs/support.md cites ${gone.join(', ')}: run npm run support`)
  const rows = sections.flatMap((section) => section.rows)
  const isShown = ({ name }: Row) => [cases, citations].some((all) => Object.values(all).some((shown) => name in shown))
  const unshown = rows.filter((row) => !isShown(row) && !(row.name in UNSHOWN)).map(({ name }) => name)
  if (unshown.length > 0) {
    throw new Error(`no case and no test shows ${unshown.join(', ')}: write one, and run npm run support`)
  }
  const needless = Object.keys(UNSHOWN).filter((name) => !rows.some((row) => row.name === name && !isShown(row)))
  if (needless.length > 0) throw new Error(`UNSHOWN in scripts/support-matrix.ts has ${needless.join(', ')} needlessly`)
  return sections.map(({ title, rows }) => `### ${title}\n\n${table(rows, cases, citations)}`).join('\n')
}

function table(rows: readonly Row[], cases: Citations, citations: Citations): string {
  const lines = rows.map((row) => {
    const { name, what } = row
    const tests = testsOf(citations, row).map(
      (file) => `\`${file.replace('test/', '')}\`${letters(citations, [file], name)}`
    )
    return `| ${what} | ${caseCell(cases, name)} | ${UNSHOWN[name] ?? tests.join(', ')} |\n`
  })
  return `| what | conformance cases | tests |\n|---|---|---|\n${lines.join('')}`
}

/** The cases that show fewest else, and how many others there are. */
function caseCell(cases: Citations, name: string): string {
  const all = citing(cases, name)
  const named = all.slice(0, MAX_CITED).map((id) => `\`${id}\``)
  const others = all.length > MAX_CITED ? ` and ${all.length - MAX_CITED} more` : ''
  return `${named.join(', ')}${others}${letters(cases, all, name)}`
}

/** Returns what shows a row: what shows fewest else first. */
function citing(citations: Citations, name: string): string[] {
  const found = Object.entries(citations).filter(([, shown]) => name in shown)
  return found.sort(byBreadth).map(([source]) => source)
}

/** Returns the test files that show a row: those of the folders that are about it first, of these as `citing`. */
function testsOf(citations: Citations, { name, folders }: Row): string[] {
  const rank = (file: string) => [...folders, ''].findIndex((folder) => file.startsWith(folder))
  return citing(citations, name).sort((one, two) => rank(one) - rank(two))
}

function byBreadth([one, shownByOne]: [string, Shown], [two, shownByTwo]: [string, Shown]): number {
  return Object.keys(shownByOne).length - Object.keys(shownByTwo).length || (one < two ? -1 : 1)
}

function letters(citations: Citations, sources: readonly string[], name: string): string {
  const positions = new Set(sources.flatMap((source) => citations[source]?.[name] ?? []))
  const all = Object.entries(LETTERS).flatMap(([position, letter]) =>
    positions.has(position as Profile) ? [letter] : []
  )
  return all.length > 0 ? ` ${all.join('\u00a0')}` : ''
}

/** Returns, of what every test file shows in each of several runs, what is to be cited: a few files for each row. */
export async function chooseCitations(shown: Citations): Promise<Citations> {
  const rows = (await supportSections()).flatMap((section) => section.rows)
  const chosen: Citations = {}
  for (const row of rows) {
    for (const file of chooseTests(shown, row)) {
      chosen[file] = { ...chosen[file], [row.name]: shown[file]?.[row.name] ?? [] }
    }
  }
  return Object.fromEntries(Object.entries(chosen).sort(([one], [two]) => (one < two ? -1 : 1)))
}

/** The first test, then those with a profile that the former do not have. */
function chooseTests(shown: Citations, row: Row): string[] {
  const files = testsOf(shown, row)
  const chosen: string[] = []
  const positions = new Set<string>()
  while (chosen.length < Math.min(files.length, MAX_CITED)) {
    const left = files.filter((file) => !chosen.includes(file))
    const isMore = (file: string) => shown[file]?.[row.name]?.some((each) => !positions.has(each))
    const next = left.find(isMore) ?? left[0] ?? ''
    chosen.push(next)
    for (const each of shown[next]?.[row.name] ?? []) positions.add(each)
  }
  return chosen
}

/** Returns what each case shows, judged by itself against a server of either profile. */
async function shownByCases(): Promise<Citations> {
  const shown = new Map(CASES.map(({ id }) => [id, new Map<string, Shown[string]>()]))
  for (const profile of PROFILES) {
    const { url, app } = await startServer({ port: 0, logLevel: 'silent', profile })
    // It lists integrations, which some cases need.
    const proxy = await startProxy(url)
    for (const each of CASES) {
      const ofCase = shown.get(each.id)
      for (const [name, positions] of Object.entries(await shownByCase(each, proxy.url, profile))) {
        ofCase?.set(name, [...(ofCase.get(name) ?? []), ...positions])
      }
    }
    await proxy[Symbol.asyncDispose]()
    await app.close()
  }
  return Object.fromEntries([...shown].map(([id, ofCase]) => [id, Object.fromEntries(ofCase)]))
}

async function shownByCase({ id, basis, run }: ConformanceCase, url: string, profile: Profile): Promise<Shown> {
  const subject = createSubject(createTarget({ url, apiKey: DEVELOPMENT }), {
    allowChanges: true,
    workflows: WORKFLOWS,
    steps: [],
    integrations: INTEGRATIONS,
    foreignIntegration: '6703aa1c5d2e8b0013b70001'
  })
  startNoting(profile)
  let position: Awaited<ReturnType<typeof run>>
  try {
    position = await run(subject)
  } catch (error) {
    if (error instanceof Skipped) return {}
    throw new Error(`${id} fails in the profile ${profile}`, { cause: error })
  }
  const shown = shownSoFar()
  await subject.integrations.restore()
  if (!('assumption' in basis)) return shown
  if (position !== profile) throw new Error(`${id} finds another position than that of the profile ${profile}`)
  return { ...shown, [`register.${basis.assumption}=${assume(profile)[basis.assumption]}`]: [profile] }
}
