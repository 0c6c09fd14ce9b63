import { expect, test } from 'vitest'
import { loadGenerator } from '../../src/seeds/generate/load.js'
import { readingSeeds, readSeeds } from '../../src/seeds/read.js'
import { resolving } from '../../src/seeds/resolve/resolve.js'
import { givenOwnMock } from '../support/mock.js'
import { issuesOf, shopJson } from '../support/seed-issues.js'
import { countTurns } from '../support/turns.js'

const numbered = <Item>(count: number, create: (index: number) => Item) =>
  Array.from({ length: count }, (_, index) => create(index))

const withStep = (step: object) => shopJson({ workflows: [{ name: 'w', steps: [{ type: 'custom', ...step }] }] })

/** Takes all steps, and returns how many there were. */
function countSteps(steps: Iterator<unknown>): number {
  let count = 0
  while (!steps.next().done) count += 1
  return count
}

/** Each was done in one go, of a tenth of a second and more. */
test.each<[string, string]>([
  [
    'values to compare with a schema',
    withStep({
      controlValues: { a: numbered(20_000, (index) => index) },
      controls: { dataSchema: { properties: { a: { items: { anyOf: [{ type: 'null' }, { type: 'number' }] } } } } }
    })
  ],
  ['schemas in a schema', withStep({ variables: { allOf: numbered(50_000, () => ({ type: 'string' })) } })],
  ['values in a record', shopJson({ messages: [{ channel: 'sms', payload: { list: numbered(400_000, () => 1) } }] })]
])('tens of thousands of %s take many steps', (_, seed) => {
  expect(countSteps(readingSeeds([{ name: 'seed', seed }]))).toBeGreaterThan(30)
})

test.each<[string, string]>([
  ['is well-formed', ''],
  ['is not', '{% if %}']
])('Liquid of 50,000 characters that %s is read in many steps', (_, end) => {
  const body = numbered(1600, (index) => `{{payload.a${index} | upcase}} `).join('') + end
  const files = readSeeds([{ name: 'seed', seed: withStep({ controlValues: { body } }) }])
  expect(countSteps(resolving(files, 0))).toBeGreaterThan(15)
})

test('a few messages are generated of many long templates in turns with other work', async () => {
  const body = numbered(250, (index) => `<p>{{payload.a${index} | upcase}}</p>`).join('\n')
  const workflows = numbered(40, (index) => ({
    identifier: `w${index}`,
    steps: [{ type: 'email', controlValues: { body } }]
  }))
  const mock = await givenOwnMock({ seed: { environments: [{ name: 'Shop', workflows }] } })
  const environment = mock.services.environments.find('Shop')
  await loadGenerator()
  const turns = countTurns()
  await mock.services.seeds.load(environment, { seed: shopJson({ generate: { messages: 5 } }) }, 'merge')
  expect(turns()).toBeGreaterThan(3)
  expect((await mock.get('/v1/messages')).json.totalCount).toBe(5)
})

test.each<[string, (fields: string[]) => string, RegExp]>([
  [
    'JSON',
    (fields) => `{"a":{${fields.map((name) => `"${name}":1`)}}}`,
    /^seed:1:\d+: is an object of more than 20,000 /
  ],
  [
    'YAML',
    (fields) =>
      `environments:\n- name: Shop\n  messages:\n  - channel: sms\n    payload: {${fields.map((name) => `${name}: 1`)}}`,
    /^seed:4:5 environments\[0\]\.messages\[0\]: has an object of more than 20,000 /
  ]
])('an object of more fields than can be listed in one go is refused: %s', async (_, text, expected) => {
  const { file, request } = await issuesOf(text(numbered(20_001, (index) => `f${index}`)))
  expect(file).toEqual([expect.stringMatching(expected)])
  expect(request).toEqual(file)
})
