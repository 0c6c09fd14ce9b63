import { hash } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildServices } from './app.js'
import { DEFAULTS } from './config.js'
import { openDatabase } from './db/open.js'
import type { EnvironmentData } from './seeds/environment-data.js'
import { readSeeds, seedPath } from './seeds/read.js'

/** A database that the default seed has been put into, so that a start need not read, check and resolve it. */
export interface Template {
  file: string
  worlds: SeededWorld[]
}

/** What is to be told of a world that has been seeded. */
export type SeededWorld = Pick<EnvironmentData, 'id' | 'organizationId' | 'name' | 'apiKeys'>

/** Beside the bundle, which the build makes together with them. Run from its source the server has no template. */
const FOLDER = dirname(fileURLToPath(import.meta.url))
const FILE = join(FOLDER, 'template.db')
const FACTS = join(FOLDER, 'template.json')

interface Facts {
  /** SHA-256 of the seed file, so that a seed that has been edited since is read again. */
  seed: string
  worlds: SeededWorld[]
}

/** The template of these seeds; undefined when there is none, or a seed has been edited since it was made. */
export function findTemplate(seeds: readonly string[]): Template | undefined {
  if (seeds !== DEFAULTS.seeds && String(seeds) !== String(DEFAULTS.seeds)) return undefined
  if (!existsSync(FACTS)) return undefined
  const { seed, worlds } = JSON.parse(readFileSync(FACTS, 'utf8')) as Facts
  return seed === seedHash() ? { file: FILE, worlds } : undefined
}

/**
 * Makes the template, for the build. Throws if anything in the seed but the age of its environments depends on the time:
 * then it would be another one at each start.
 */
export function writeTemplate(): void {
  const early = `${FILE}.early`
  seedInto(early, 0)
  const worlds = seedInto(FILE, 1e12)
  const isSame = readFileSync(early).equals(readFileSync(FILE))
  rmSync(early)
  if (!isSame) throw new Error('the default seed depends on the time: give all times in it')
  const told = worlds.map(({ id, organizationId, name, apiKeys }) => ({ id, organizationId, name, apiKeys }))
  writeFileSync(FACTS, JSON.stringify({ seed: seedHash(), worlds: told } satisfies Facts))
}

function seedInto(file: string, now: number): EnvironmentData[] {
  rmSync(file, { force: true })
  const { db, close } = openDatabase(file, { draft: true })
  const services = buildServices({ db, clock: () => now, defaults: DEFAULTS, journal: 0 })
  const { environments: worlds } = services.seeds.seed(readSeeds(DEFAULTS.seeds))
  services.seeds.setAge(0)
  // Without what lies about of former values.
  db.client.exec('VACUUM')
  close()
  return worlds
}

function seedHash(): string {
  return hash('sha256', DEFAULTS.seeds.map((seed) => readFileSync(seedPath(seed), 'utf8')).join('\n'), 'hex')
}
