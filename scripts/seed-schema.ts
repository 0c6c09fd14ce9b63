/**
 * Writes seeds/schema.json, the JSON Schema of seed files, from the TypeBox schema in
 * src/seeds/format.ts. Editors use seeds/schema.json to complete and check a seed that contains
 * this line:
 *
 *     # yaml-language-server: $schema=…/seeds/schema.json
 *
 * Usage:
 *
 *     tsx scripts/seed-schema.ts            write it
 *     tsx scripts/seed-schema.ts --check    write nothing; exit 1 if it is stale
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { namedSchemas } from '../src/schema/typebox.js'
import { Seed } from '../src/seeds/format.js'

const ROOT = join(import.meta.dirname, '..')
const FILE = join(ROOT, 'seeds/schema.json')

/** Definitions whose values may be null in a seed. `removeNulls` removes the nulls. */
const NULLABLE = ['MessageContent', 'Placeholder']
const NULL = { type: 'null', description: 'The same as leaving out the field' }

// Draft-07 is the newest version that the YAML language server supports well.
const schema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Seed of notification-mock',
  ...rewritten(Seed),
  patternProperties: { '^x-': { description: 'Ignored; use it for YAML anchors' } },
  definitions: Object.fromEntries(
    reachable(Seed).map(([name, definition]) => [
      name,
      NULLABLE.includes(name) ? { anyOf: [rewritten(definition), NULL] } : rewritten(definition)
    ])
  )
}
const text = formatted(JSON.stringify(schema, null, 2))

if (!process.argv.includes('--check')) writeFileSync(FILE, text)
else if (read() !== text) {
  console.error('seeds/schema.json is stale: run tsx scripts/seed-schema.ts')
  process.exitCode = 1
}

/** Formats JSON with Biome, because the lint step also checks seeds/schema.json. */
function formatted(json: string): string {
  const { status, stdout, stderr } = spawnSync(
    'node_modules/.bin/biome',
    ['format', '--stdin-file-path=seeds/schema.json'],
    {
      cwd: ROOT,
      input: json,
      encoding: 'utf8'
    }
  )
  if (status !== 0) throw new Error(stderr)
  return stdout
}

function read(): string | undefined {
  try {
    return readFileSync(FILE, 'utf8')
  } catch {
    return undefined
  }
}

/**
 * Returns the names and definitions of all named schemas that a schema refers to, directly or
 * indirectly, sorted by name.
 */
function reachable(root: object): [string, object][] {
  const named = new Map(namedSchemas(Seed).map((schema) => [String(schema.$id), schema]))
  const definitions = new Map<string, object>()
  const open = [root]
  for (let next = open.pop(); next; next = open.pop()) {
    for (const name of references(next)) {
      const definition = named.get(name)
      if (!definition) throw new Error(`there is no schema ${name}`)
      if (definitions.has(name)) continue
      definitions.set(name, definition)
      open.push(definition)
    }
  }
  return [...definitions].sort(([one], [other]) => (one < other ? -1 : 1))
}

function references(node: unknown): string[] {
  if (typeof node !== 'object' || node === null) return []
  return Object.entries(node).flatMap(([key, value]) =>
    key === '$ref' ? [String(value).replace(/#$/, '')] : references(value)
  )
}

/** Returns a plain JSON copy whose references point to `definitions`. */
function rewritten(definition: object): object {
  return JSON.parse(JSON.stringify(definition), (key, value) => {
    if (key === '$ref') return `#/definitions/${String(value).replace(/#$/, '')}`
    // Remove `examples` and `format`, because they describe responses. For example, the format
    // `date-time` requires a time, but a timestamp in a seed may be a date without a time. Also
    // remove `$id`, because the references point to `definitions`.
    if (isSchema(value))
      return Object.fromEntries(
        Object.entries(value).filter(([name]) => !/^(\$id|examples|format)$/.test(name))
      )
    return value
  })
}

function isSchema(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  // A named union has an `$id` but no `type`.
  return '$id' in value || (('examples' in value || 'format' in value) && 'type' in value)
}
