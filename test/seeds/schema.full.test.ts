import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv, type AnySchemaObject } from 'ajv'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { findIssues } from '../../src/schema/validation.js'
import { Seed } from '../../src/seeds/format.js'
import { anySeed } from '../support/seeds.js'

const root = join(import.meta.dirname, '../..')
const schema: AnySchemaObject = JSON.parse(readFileSync(join(root, 'seeds/schema.json'), 'utf8'))

/** Validates seeds as an editor does: with draft-07, and without loading other schema files. */
const ajv = new Ajv({ allowUnionTypes: true })
const accepts = ajv.compile(schema)

/** Yields all objects in a schema with their paths. */
function* nodes(node: unknown, path = ''): Generator<[string, Record<string, unknown>]> {
  if (typeof node !== 'object' || node === null) return
  yield [path, node as Record<string, unknown>]
  for (const [name, inner] of Object.entries(node)) yield* nodes(inner, `${path}/${name}`)
}

test('the schema describes list items, and every object sets `additionalProperties`', () => {
  const [, ...objects] = [...nodes(schema)].filter(([, node]) => node.type === 'object')
  for (const [path, node] of objects) expect(node, path).toHaveProperty('additionalProperties')
  const fields = schema.properties.environments.items.properties
  for (const list of ['integrations', 'subscribers', 'workflows', 'messages']) {
    expect(fields[list].items.description, list).toMatch(/\w/)
  }
})

test.each(readdirSync(join(root, 'seeds')).filter((name) => name.endsWith('.yaml')))(
  '%s refers to the schema in its first line, and the schema accepts it',
  (name) => {
    const text = readFileSync(join(root, 'seeds', name), 'utf8')
    expect(text).toMatch(/^# yaml-language-server: \$schema=\.\/schema\.json\n/)
    expect(accepts(parse(text, { merge: true })), JSON.stringify(accepts.errors)).toBe(true)
  }
)

describe('the schema agrees with the server about', () => {
  test('valid seeds', () => {
    fc.assert(
      fc.property(anySeed(), (seed) => {
        expect(findIssues(Seed, seed)).toEqual([])
        expect(accepts(seed), JSON.stringify(accepts.errors)).toBe(true)
      }),
      { numRuns: 40 }
    )
  })

  test('seeds with one changed value', () => {
    const changed = fc.tuple(
      anySeed(),
      fc.nat(),
      fc.oneof(fc.jsonValue({ maxDepth: 1 }), fc.constantFrom('', 'email'))
    )
    let rejectedCount = 0
    fc.assert(
      fc.property(changed, ([seed, number, value]) => {
        const wrong = withChange(seed, number, value)
        const isValid = findIssues(Seed, wrong).length === 0
        if (!isValid) rejectedCount += 1
        expect(accepts(wrong), JSON.stringify(wrong)).toBe(isValid)
      }),
      { numRuns: 120 }
    )
    expect(rejectedCount).toBeGreaterThan(20)
  })
})

/**
 * Returns a copy of the seed, with one value replaced or one unknown field added. `number` selects
 * the field and the kind of change.
 */
function withChange(seed: object, number: number, value: unknown): unknown {
  const copy = JSON.parse(JSON.stringify(seed))
  const fields = [...nodes(copy)].flatMap(([, node]) =>
    Object.keys(node).map((name) => ({ node, name }))
  )
  const field = fields[number % fields.length]
  if (!field) return value
  if (number % 7 === 0 && !Array.isArray(field.node)) field.node[`${field.name}s`] = value
  else field.node[field.name] = value
  return copy
}
