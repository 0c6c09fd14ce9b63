import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { createControlServices } from '../../src/control/services.js'
import { openDatabase } from '../../src/db/open.js'
import { seedText } from '../../src/seeds/export.js'
import { readSeeds } from '../../src/seeds/read.js'
import { NOW } from '../support/resolved.js'
import { seedOf } from '../support/shop.js'

/** Strings that must be quoted or escaped in YAML. */
const ODD_TEXTS = [
  ...[
    'null',
    '~',
    'NO',
    '012',
    '1e3',
    '2026-01-01',
    '<<',
    '- a',
    'a: b',
    '# no',
    '{{x}}',
    '&a *b !!c %d',
    '"\'\\'
  ],
  ...[
    ' a ',
    'a\nb\n',
    '\r\n\t',
    '\u0000',
    '\u007f',
    '\u0085\u009f',
    '\u2028\u2029',
    '\ufeff',
    '\ufffe\uffff'
  ],
  ...['\ud800 \udc00', '🦊 田中', 'k'.repeat(2000)]
]

/**
 * A record with `ODD_TEXTS` as field names and values. The record is parsed from JSON, because
 * `__proto__` in an object literal doesn't create a field.
 */
const RECORD = JSON.parse(
  [
    '{"__proto__":{"a":1},"constructor":[]',
    ...ODD_TEXTS.map((text) => `${JSON.stringify(text)}:${JSON.stringify(text)}`),
    '"numbers":[1e300,-5e-324,1e21,-0]}'
  ].join()
)

const textOf = (format: 'json' | 'yaml') =>
  [
    ...seedText(
      { name: '# "no" name', clock: RECORD },
      { integrations: [], messages: [RECORD, { a: [RECORD, {}] }] },
      format
    )
  ].join('')

test('exports any record as one line that YAML 1.1 and 1.2 parsers read back unchanged', () => {
  const yaml = textOf('yaml')
  for (const options of [{}, { merge: true }, { version: '1.1' } as const]) {
    expect(JSON.stringify(parse(yaml, options)) === textOf('json')).toBe(true)
  }
  const [lines, messages] = yaml.split(/(?<=\n {4}messages:\n)/)
  expect(lines).toMatch(
    /^environments:\n {2}- name: "# .*\n {4}clock: .*\n {4}integrations: \[\]\n {4}messages:\n$/
  )
  expect(messages).toMatch(/^( {6}- .*\n){2}$/)
  // Each of these characters either ends a line in YAML or is rejected by strict parsers.
  expect(yaml).not.toMatch(/[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/)
})

/** Seeds a new database at the time `now`. `states` returns the states of its environments. */
async function seededWith(seed: string | object, now: number) {
  const { db, close } = openDatabase()
  onTestFinished(close)
  const defaults = { profile: 'document' as const, assumptions: {} }
  const { environments, seeds } = createControlServices({
    db,
    clock: () => now,
    defaults,
    journal: 0
  })
  const files = readSeeds([{ name: 'seed', seed }])
  await seeds.loadGenerator(files)
  seeds.seed(files)
  const states = () =>
    environments
      .list()
      .map((environment) => [environment.id, ...seeds.export(environment, 'json')].join(''))
  return { seeds, states }
}

const ODD = 'a "quoted": \'one\' # \\ {{payload.name}}\n\t- 田中 🦊\u2028 &x *y'
const ODD_SEED = seedOf({
  name: ODD,
  apiKeys: ['"key"'],
  profile: 'live',
  assumptions: { envelope: 'bare' },
  integrations: [{ providerId: ODD, channel: 'email', name: ODD }],
  subscribers: [{ subscriberId: ODD, firstName: ODD, email: ODD, phone: ODD }],
  workflows: [{ identifier: ODD, steps: [{ type: 'in_app', controlValues: { body: ODD } }] }],
  messages: [{ channel: 'email', subscriberId: ODD, contextKeys: ['b:"#田 \\', 'a:1'] }],
  generate: { messages: 300, subscribers: 30 }
})

test.each([
  ['the default seed', readSeeds(['default'])[0]?.seed ?? ''],
  ['unusual strings and generated messages', ODD_SEED]
])('recreates all environments from their export: %s', async (_, seed) => {
  const first = await seededWith(seed, NOW)
  const text = [...first.seeds.exportAll()].join('')
  // Load the export a day later, to check that no value depends on the time of loading.
  const again = await seededWith(text, NOW + 86_400_000)
  expect(again.states()).toEqual(first.states())
  expect([...again.seeds.exportAll()].join('')).toBe(text)
})
