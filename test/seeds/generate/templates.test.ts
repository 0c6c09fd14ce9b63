import { describe, expect, test } from 'vitest'
import { SeedError } from '../../../src/seeds/errors.js'
import { compile, compileEmail } from '../../../src/seeds/generate/templates.js'

const SCOPE = {
  payload: {
    name: 'Ada',
    left: 3,
    none: null,
    dueOn: '2026-03-08',
    user: { email: 'ada@example.com' },
    'odd name': 'odd',
    lines: [
      { name: 'Tea', amount: 2 },
      { name: 'Mug', amount: 1 }
    ],
    tags: ['a', 'b']
  },
  subscriber: { firstName: 'Grace' },
  steps: { 'digest-step': { eventCount: 4 } }
}

const createScope = (globals: object) => ({ globals, time: { left: 300 } })
const rendered = (source: string) => compile(source)(createScope(SCOPE))
const contentOf = (body: string) => compileEmail(body)(createScope(SCOPE)) as string

test.each([
  ['{{payload.name}} and {{ subscriber.firstName }}, {{payload.left}}', 'Ada and Grace, 3'],
  ["{{payload['odd name']}} {{payload.lines[1].name}}", 'odd Mug'],
  ['{{payload.tags}} {{payload.user}}', 'ab {"email":"ada@example.com"}'],
  ['{{payload.gone}}{{payload.gone.deeper}}{{payload.none}}{{payload.constructor}}', ''],
  ["{{payload.gone | default: 'there' | upcase}}", 'THERE'],
  ["{{payload.dueOn | date: '%a %-d %B %Y, %H:%M'}}", 'Sun 8 March 2026, 00:00'],
  ["{{'2026-03-08T23:30:00-02:00' | date: '%d %H:%M'}}", '09 01:30'],
  [
    '{% if payload.left == 3 and payload.tags contains "b" %}three{% else %}few{% endif %}',
    'three'
  ],
  ['{% for line in payload.lines %}{{line.name}}: {{line.amount}};{% endfor %}', 'Tea: 2;Mug: 1;']
])('renders %j as %j', (template, text) => {
  expect(rendered(template)).toBe(text)
})

test.each([
  ['a time without a zone', "{{'2026-03-08T23:30' | date: '%H'}}", '2026-03-08T23:30'],
  ['a value that is not a time', "{{payload.name | date: '%Y'}}", 'Ada'],
  [
    'the input of filters with random or time-dependent results',
    "{{payload.tags | sample}}{{'now' | date: '%s'}}",
    'abnow'
  ],
  ['an unclosed block', '{% if payload.name %}not closed', '{% if payload.name %}not closed'],
  ['an unclosed `{{`', 'Hi {{payload.name, and so on', 'Hi {{payload.name, and so on']
])('does not change %s', (_, template, text) => {
  expect(rendered(template)).toBe(text)
})

test.each([
  ['a loop of 3,000,000 iterations', '{% for i in (1..3000000) %}{{payload.name}}{% endfor %}'],
  ['`{{}` repeated 350,000 times', '{{}'.repeat(350_000)]
])('returns the template unchanged if the rendered text would be too long: %s', (_, template) => {
  expect(rendered(template)).toBe(template)
})

test.each([
  [
    'nested loops over the payload',
    `${'{% for i in payload.tags %}'.repeat(30)}a${'{% endfor %}'.repeat(30)}`
  ],
  [
    'millions of outputs in a loop',
    `{% for i in (1..9000) %}${'{{payload.gone}}'.repeat(500)}{% endfor %}`
  ]
])('rejects templates that take too long to render: %s', (_, template) => {
  const started = process.cpuUsage()
  expect(() => rendered(template)).toThrow(SeedError)
  expect(process.cpuUsage(started).user).toBeLessThan(2_000_000)
})

describe('compileEmail()', () => {
  test('keeps HTML, and wraps any other text in a paragraph', () => {
    expect(contentOf('Hello\n{{payload.name}}')).toBe('<p>Hello<br>Ada</p>')
    expect(contentOf('<h1>{{payload.name}}</h1>')).toBe('<h1>Ada</h1>')
  })

  test('turns a block editor document into a list of blocks', () => {
    const text = (value: string) => ({ type: 'text', text: value, marks: [{ type: 'bold' }] })
    const content = [
      { type: 'heading', attrs: { level: 2 }, content: [text('Hello & welcome')] },
      {
        type: 'paragraph',
        content: [text('Dear '), { type: 'variable', attrs: { id: 'payload.name' } }]
      },
      {
        type: 'bulletList',
        content: [{ type: 'listItem', content: [{ type: 'paragraph', content: [text('one')] }] }]
      },
      {
        type: 'button',
        attrs: { text: 'Open {{payload.name}}', url: 'https://example.com/{{payload.left}}' }
      }
    ]
    const styles = { textAlign: 'left' }
    expect(contentOf(JSON.stringify({ type: 'doc', content }))).toEqual([
      { type: 'text', content: 'Hello & welcome', styles },
      { type: 'text', content: 'Dear Ada', styles },
      { type: 'text', content: 'one', styles },
      { type: 'button', content: 'Open Ada', url: 'https://example.com/3', styles }
    ])
  })

  test.each([
    '{"type":"doc"',
    '{"type":"other"}',
    '{"type":"doc","content":[null]}',
    `${'{"type":"doc","content":['.repeat(3000)}${']}'.repeat(3000)}`
  ])('wraps an invalid or very deeply nested document in a paragraph: %#', (body) => {
    expect(contentOf(body)).toContain(`<p>${body}</p>`)
  })
})
