/**
 * Writes `seeds/schema.json`, the JSON Schema of the seed format, by which editors complete and check a seed file:
 * `npm run docs`. With `--check` it writes nothing, and exits 1 if the file is stale.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { Seed, seedFormatSchemas } from '../src/seeds/format.js'

const FILE = new URL('../seeds/schema.json', import.meta.url)

const fresh = `${JSON.stringify(seedJsonSchema(), null, 2)}\n`
if (!process.argv.includes('--check')) {
  writeFileSync(FILE, fresh)
} else if (readFileSync(FILE, 'utf8') !== fresh) {
  console.error('seeds/schema.json is stale; run npm run docs')
  process.exitCode = 1
}

/**
 * The format as one JSON Schema of draft 7, which is what editors know best: the schemas of the wire that it refers to
 * stand under `definitions`, those that it does not are left out.
 */
function seedJsonSchema(): object {
  const named = new Map(seedFormatSchemas.map((schema) => [schema.$id, schema]))
  const definitions: Record<string, unknown> = {}
  const root = embedded(Seed)
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Seed of notification-mock',
    ...root,
    definitions
  }

  /** A copy whose references lead to `definitions`, which is filled on the way. */
  function embedded(node: unknown): object {
    return JSON.parse(JSON.stringify(node), (field, value) => {
      if (field === '$id') return undefined
      if (field !== '$ref') return value
      const name = String(value).replace(/#$/, '')
      if (!(name in definitions)) {
        // Before its inside is looked at, since a schema may refer to itself.
        definitions[name] = undefined
        definitions[name] = embedded(named.get(name))
      }
      return `#/definitions/${name}`
    })
  }
}
