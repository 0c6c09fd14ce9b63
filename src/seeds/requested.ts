import { invalidFields } from '../core/errors.js'
import { remembered } from '../core/remember.js'
import { runInSlices } from '../core/slices.js'
import { suggest } from '../core/suggest.js'
import { SeedError } from './errors.js'
import { loadGenerator, needsGenerator } from './generate/load.js'
import { packagedNames } from './packaged.js'
import { readingSeeds, readSeed, type SeedFile } from './read.js'

/** What a request may have generated: a server that many use must not grow by gigabytes for one of them. */
const MAX_GENERATED = { messages: 100_000, subscribers: 10_000 }

/** What a request asks to load: a seed, text or value, or the first environment of a packaged one. */
export type Requested = { seed: string | object } | { scenario: string }

/**
 * Reads what a request asks for, and loads what it takes to generate messages. Rejects with SeedError what a request may not
 * ask for, and with `invalid` an unknown scenario.
 */
export function readRequested(requested: Requested, check: () => void): Promise<SeedFile> {
  return 'scenario' in requested ? readScenario(requested.scenario) : readRequestedSeed(requested.seed, check)
}

async function readRequestedSeed(seed: string | object, check: () => void): Promise<SeedFile> {
  const file = await readSeed(seed, check)
  const issues = file.seed.environments.flatMap(({ generate }, index) =>
    (['messages', 'subscribers'] as const).flatMap((field) => {
      if (!generate || (generate[field] ?? 0) <= MAX_GENERATED[field]) return []
      const problem = `must be at most ${MAX_GENERATED[field]} in a request`
      return file.issueAt(['environments', index, 'generate', field], `${problem}; ${GENERATE_REMEDY}`)
    })
  )
  if (issues.length > 0) throw new SeedError(issues)
  if (needsGenerator(file.seed)) await loadGenerator()
  return file
}

const GENERATE_REMEDY = 'start the server with the seed, or put more into a data file before: seed generate --data'

async function readScenario(name: string): Promise<SeedFile> {
  const names = packagedNames()
  if (!names.includes(name)) {
    const meant = suggest(name, names)
    const hint = meant ? `; did you mean ${meant}?` : ''
    const messages = [`scenario must be the name of a packaged seed, ${names.join(', ')}${hint}`]
    throw invalidFields({ scenario: { messages, value: name } })
  }
  return readFirst(name)
}

/** Remembers them: a packaged seed never changes, and its YAML takes longer to read than to load. */
const readFirst = remembered(async (name: string): Promise<SeedFile> => {
  const [file] = await runInSlices(readingSeeds([{ packaged: name }]))
  const { seed, ...rest } = file as SeedFile
  const first = { environments: seed.environments.slice(0, 1) }
  if (needsGenerator(first)) await loadGenerator()
  return { ...rest, seed: first }
})
