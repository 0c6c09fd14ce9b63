/**
 * Writes seeds/default.parsed.json, the checked value of seeds/default.yaml: reading that takes longer than all the rest of a start.
 *
 *     tsx scripts/default-seed.ts            write it
 *     tsx scripts/default-seed.ts --check    write nothing; exit 1 when it is stale
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packagedHash, readSeeds } from '../src/seeds/read.js'

const folder = join(import.meta.dirname, '../seeds')
const file = join(folder, 'default.parsed.json')
const yaml = readFileSync(join(folder, 'default.yaml'), 'utf8')
const [read] = readSeeds([{ name: 'default.yaml', seed: yaml }])
const text = `${JSON.stringify({ sha256: packagedHash(yaml, read?.seed), seed: read?.seed })}\n`

if (!process.argv.includes('--check')) writeFileSync(file, text)
else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
  console.error('seeds/default.parsed.json is stale: run npm run docs')
  process.exitCode = 1
}
