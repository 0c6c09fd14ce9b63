import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { readSeeds, SeedError } from '../../src/seeds/read.js'

const schema = JSON.parse(readFileSync('seeds/schema.json', 'utf8'))
const ajv = new Ajv({ strict: false, allErrors: true })

test('the published JSON Schema is that of the format', () => {
  execFileSync(process.execPath, ['--import', 'tsx', 'scripts/seed-schema.ts', '--check'])
})

test('the default seed names it, and it accepts the default seed by itself', () => {
  const text = readFileSync('seeds/default.yaml', 'utf8')
  expect(text.split('\n')[0]).toBe('# yaml-language-server: $schema=./schema.json')
  const validate = ajv.compile(schema)
  expect(validate(parse(text)), JSON.stringify(validate.errors)).toBe(true)
})

test.each([
  ['an unknown field', { environments: [{ name: 'A', colour: 'red' }] }],
  ['a missing field', { environments: [{ name: 'A', integrations: [{ channel: 'email' }] }] }],
  ['a word outside an enum', { environments: [{ name: 'A', messages: [{ channel: 'fax' }] }] }],
  ['a null where none may be', { environments: [{ name: 'A', messages: [{ channel: 'email', subject: null }] }] }],
  [
    'a mistake deep in a recursive part',
    {
      environments: [
        {
          name: 'A',
          workflows: [
            {
              identifier: 'w',
              steps: [
                {
                  type: 'email',
                  controls: {
                    uiSchema: { properties: { a: { component: 'DATA', properties: { b: { component: 'X' } } } } }
                  }
                }
              ]
            }
          ]
        }
      ]
    }
  ]
])('it refuses what the reader refuses: %s', (_name, seed) => {
  expect(ajv.compile(schema)(seed)).toBe(false)
  expect(() => readSeeds([{ name: 'seed.json', seed }])).toThrow(SeedError)
})

test('every reference in it leads somewhere in it', () => {
  const references = [...JSON.stringify(schema).matchAll(/"\$ref":"([^"]+)"/g)].map(([, reference = '']) => reference)
  expect(references.length).toBeGreaterThan(30)
  for (const reference of references) {
    expect(schema.definitions, reference).toHaveProperty([reference.replace('#/definitions/', '')])
  }
})
