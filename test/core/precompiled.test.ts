import { existsSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { TSchema } from '@sinclair/typebox'
import type { ValidateFunction } from 'ajv'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ajvFor } from '../../src/core/validation.js'
import { listMessagesQuery } from '../../src/messages/query.js'
import { validatorName } from '../../src/prebuilt.js'
import { Seed, seedFormatSchemas } from '../../src/seeds/format.js'
import { readSeeds } from '../../src/seeds/read.js'
import { givenPackage } from '../support/process.js'

const seeds = join(import.meta.dirname, '../../seeds')
const SEEDS = readdirSync(seeds)
  .filter((name) => name.endsWith('.yaml'))
  .flatMap((name) => readSeeds([join(seeds, name)]).map(({ seed }) => seed as unknown))

/** What the build has compiled of a schema, beside what Ajv makes of it now. */
async function givenValidators(schema: TSchema, named: readonly TSchema[] = []) {
  const file = join(await givenPackage(), 'dist/validators', `${validatorName(schema, named)}.cjs`)
  expect(existsSync(file), 'the build has compiled it').toBe(true)
  const built: ValidateFunction = createRequire(import.meta.url)(file)
  return { built, fresh: ajvFor(schema, named).compile(schema) }
}

function expectSame({ built, fresh }: { built: ValidateFunction; fresh: ValidateFunction }, value: unknown): void {
  expect(built(value)).toBe(fresh(value))
  // As JSON, since TypeBox's own marks on the schemas, which errors show, are in no code.
  expect(JSON.stringify(built.errors)).toBe(JSON.stringify(fresh.errors))
}

/** The value with something else at a place that the numbers lead to: its way down ends when they do, or where it ends. */
function broken(value: unknown, way: readonly number[], other: unknown): unknown {
  const [turn, ...rest] = way
  if (typeof value !== 'object' || value === null || turn === undefined) return other
  const keys = Object.keys(value)
  const key = keys[turn % (keys.length + 1)] ?? 'added'
  const copy = (Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>
  copy[key] = broken(copy[key], rest, other)
  return copy
}

const way = fc.array(fc.nat(40), { minLength: 1, maxLength: 8, size: 'max' })
const other = fc.oneof(fc.constantFrom(null, '', 'email', 1.5, -1, true, [], {}), fc.jsonValue())

test('the validator of seeds that the build has compiled finds in any seed what Ajv finds', async () => {
  const validators = await givenValidators(Seed, seedFormatSchemas)
  for (const seed of SEEDS) {
    expectSame(validators, seed)
    expect(validators.built.errors).toBeNull()
  }
  let refused = 0
  fc.assert(
    fc.property(fc.constantFrom(...SEEDS), fc.array(fc.tuple(way, other), { maxLength: 3 }), (seed, changes) => {
      const value = changes.reduce((whole, [place, change]) => broken(whole, place, change), seed)
      expectSame(validators, value)
      if (validators.built.errors) refused += 1
    }),
    { numRuns: 400 }
  )
  expect(refused).toBeGreaterThan(100)
})

test.each([0, 1, 2, 3, 4, 5, 6, 7])('so do those of the query of the list, here of switches %i', async (bits) => {
  const switches = { anyChannel: (bits & 1) > 0, anyContextKey: (bits & 2) > 0, anyLimit: (bits & 4) > 0 }
  const validators = await givenValidators(listMessagesQuery(switches))
  const field = fc.oneof(other, fc.constantFrom('push', 'pager', ['tenant:a'], ['tenant'], 10, 1001, 0))
  const query = fc.record(
    {
      channel: field,
      subscriberId: field,
      transactionId: field,
      contextKeys: field,
      page: field,
      limit: field,
      x: field
    },
    { requiredKeys: [] }
  )
  fc.assert(fc.property(query, (value) => expectSame(validators, value)))
})
