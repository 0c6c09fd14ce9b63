import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readSeeds } from '../../src/seeds/read.js'
import { givenFolder } from '../support/process.js'

const seeds = join(import.meta.dirname, '../../seeds')

test('the default seed read from JSON is the one that its YAML describes', () => {
  const copy = join(givenFolder(), 'default.yaml')
  cpSync(join(seeds, 'default.yaml'), copy)
  const [[packaged], [yaml]] = [readSeeds(['default']), readSeeds([copy])]
  expect(packaged?.seed).toEqual(yaml?.seed)
})

test('an issue in a seed that was read from JSON is located in its YAML', () => {
  const [file] = readSeeds(['default'])
  const line = readFileSync(join(seeds, 'default.yaml'), 'utf8')
    .split('\n')
    .findIndex((each) => /name: Development/.test(each))
  expect(file?.issueAt(['environments', 0, 'name'], 'x')).toMatchObject({ line: line + 1 })
})
