import { describe, expect, test } from 'vitest'
import { compile, compileEmail } from '../../../src/seeds/generate/templates.js'

const SCOPE = {
  payload: {
    name: 'Ada',
    left: 3,
    none: null,
    no: false,
    empty: '',
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

describe('a template', () => {
  test.each([
    ['no variables', 'no variables'],
    ['', ''],
    ['{{payload.name}} and {{ subscriber.firstName }}', 'Ada and Grace'],
    ['{{payload.user.email}}', 'ada@example.com'],
    ["{{payload['odd name']}}", 'odd'],
    ['{{payload.lines[1].name}}', 'Mug'],
    ['{{payload.tags}}', 'ab'],
    ['{{payload.user}}', '{"email":"ada@example.com"}'],
    ['{{steps.digest-step.eventCount}}', '4'],
    ['{{payload.gone}}{{payload.gone.deeper}}{{payload.none}}', ''],
    ['{{payload.constructor}}{{payload.toString}}', ''],
    ['{{payload.lines.size}} {{payload.tags.first}} {{payload.tags.last}}', '2 a b'],
    ["{{'text'}} {{4.5}} {{true}}", 'text 4.5 true'],
    ['{{-payload.name-}}', 'Ada'],
    ['a {{- payload.name -}} b', 'aAdab'],
    ['a {%- comment %} x {{payload.name}} {% endcomment -%} b', 'ab']
  ])('%j becomes %j', (template, text) => {
    expect(compile(template)(SCOPE)).toBe(text)
  })

  test.each([
    ["{{payload.gone | default: 'there'}}", 'there'],
    ["{{payload.name | default: 'there'}}", 'Ada'],
    ["{{payload.name | upcase | append: '!'}}", 'ADA!'],
    ["{{payload.name | downcase | prepend: '@'}}", '@ada'],
    ["{{'gRACE' | capitalize}}", 'Grace'],
    ["{{' a ' | strip}}", 'a'],
    ["{{'<b>' | escape}}", '&lt;b&gt;'],
    ['{{payload.lines | size}}', '2'],
    ["{{payload.tags | join: ', '}}", 'a, b'],
    ['{{payload.tags | first}}{{payload.tags | last}}', 'ab'],
    ["{{'a long text' | truncate: 6}}", 'a l...'],
    ["{{payload.dueOn | date: '%d %B %Y'}}", '08 March 2026'],
    ["{{payload.dueOn | date: '%a %-d %b %y, %H:%M'}}", 'Sun 8 Mar 26, 00:00'],
    ["{{'2026-03-08T23:30:00-02:00' | date: '%d %H:%M'}}", '09 01:30'],
    ["{{'2026-03-08T23:30' | date: '%H'}}", '2026-03-08T23:30'],
    ["{{payload.name | date: '%Y'}}", 'Ada'],
    ["{{'a|b' | upcase}}", 'A|B'],
    ['{{payload.name | unheard_of: 3}}', 'Ada']
  ])('with a filter, %j becomes %j', (template, text) => {
    expect(compile(template)(SCOPE)).toBe(text)
  })

  test.each([
    ['{% if payload.name %}yes{% endif %}', 'yes'],
    ['{% if payload.gone %}yes{% else %}no{% endif %}', 'no'],
    ['{% if payload.empty %}as in Liquid{% endif %}', 'as in Liquid'],
    ['{% unless payload.no %}yes{% endunless %}', 'yes'],
    ['{% if payload.left > 3 %}many{% elsif payload.left == 3 %}three{% else %}few{% endif %}', 'three'],
    ['{% if payload.left >= 3 and payload.name != "Ada" or payload.no %}yes{% else %}no{% endif %}', 'no'],
    ['{% if payload.tags contains "b" and payload.left < 4 and payload.left <= 3 %}yes{% endif %}', 'yes'],
    ['{% if payload.none == nil %}yes{% endif %}', 'yes'],
    ['{% for line in payload.lines %}{{line.name}}: {{line.amount}};{% endfor %}', 'Tea: 2;Mug: 1;'],
    ['{% for a in payload.tags %}{% for b in payload.tags %}{{a}}{{b}} {% endfor %}{% endfor %}', 'aa ab ba bb '],
    ['{% for line in payload.gone %}never{% endfor %}', ''],
    ['{% assign x = 3 %}a', 'a'],
    ['{% if payload.name %}not closed', '{% if payload.name %}not closed'],
    ['a{% endif %}b', 'a{% endif %}b'],
    ['Hi {{payload.name, and so on', 'Hi {{payload.name, and so on']
  ])('with tags, %j becomes %j', (template, text) => {
    expect(compile(template)(SCOPE)).toBe(text)
  })
})

describe('a template that takes too much stays as it stands:', () => {
  test.each([
    ['a loop over millions', '{% for i in (1..3000000) %}{{payload.name}}{% endfor %}'],
    ['loops in loops', `${'{% for i in (1..99) %}'.repeat(4)}{{payload.name}}${'{% endfor %}'.repeat(4)}`],
    ['thousands of outputs in a loop', `{% for i in (1..9000) %}${'{{payload.name}}'.repeat(500)}{% endfor %}`],
    ['thousands of filters in a loop', `{% for i in (1..9000) %}{{payload.gone${' | x'.repeat(2000)}}}{% endfor %}`],
    ['a text of megabytes', `{% for i in (1..500) %}${'x'.repeat(10_000)}{% endfor %}`],
    ['a long source', `{{payload.name}} ${'x'.repeat(100_000)}{% if payload.name %}{% endif %}`]
  ])('%s', (_, template) => {
    const render = compile(template)
    const started = performance.now()
    expect(render(SCOPE)).toBe(template)
    expect(performance.now() - started).toBeLessThan(1000)
  })
})

describe('the content of an email', () => {
  const contentOf = (body: string) => compileEmail(body, 'On {{payload.dueOn}}', 'Kettle & Clay')(SCOPE)

  test('has a page around it, with its sender', () => {
    const html = contentOf('<p>Hello {{payload.name}}</p>')
    expect(html).toMatch(/^<!DOCTYPE html>.*<\/html>$/)
    expect(html).toContain('<title>On 2026-03-08</title>')
    expect(html).toContain('>Kettle &amp; Clay<')
    expect(html).toContain('><p>Hello Ada</p><')
  })

  test('is a paragraph when the body is not HTML', () => {
    expect(contentOf('Hello\n{{payload.name}}')).toContain('<p>Hello<br>Ada</p>')
  })

  test('is the body as it is when that is a whole document', () => {
    expect(contentOf('<HTML><body>{{payload.name}}</body></HTML>')).toBe('<HTML><body>Ada</body></HTML>')
  })

  test('is not taken for a document of the block editor when it only begins like one', () => {
    expect(contentOf('{"type":"doc"')).toContain('<p>{"type":"doc"</p>')
    expect(contentOf('{"type":"other"}')).toContain('<p>{"type":"other"}</p>')
  })

  test.each([
    '{"type":"doc","content":[null]}',
    '{"type":"doc","content":[{"type":"text","content":{}}]}',
    '{"type":"doc","content":[{"content":null}]}',
    '{"type":"doc","content":[{"type":"button","attrs":null}]}',
    '{"type":"doc","content":[{"content":[{"type":"variable","attrs":null}]}]}',
    '{"type":"doc","content":[{"text":7}]}',
    `${'{"type":"doc","content":['.repeat(200)}${']}'.repeat(200)}`,
    `{"type":"doc","content":[${Array(6000).fill('{"text":"a"}')}]}`
  ])('is not taken for one when its nodes are none, or far too many: %#', (body) => {
    expect(contentOf(body)).toContain(`<p>${body}</p>`)
  })

  test('takes no more characters than one text may, and no more work, however many blocks it has', () => {
    const bodyOf = (text: string) => JSON.stringify({ type: 'doc', content: Array(300).fill({ type: 'text', text }) })
    const long = { payload: { a: 'x'.repeat(9000) } }
    const blocks = compileEmail(bodyOf('{{payload.a}}'), '', '')(long) as { content: string }[]
    expect(blocks.filter(({ content }) => content !== '{{payload.a}}')).toHaveLength(Math.floor(2 ** 20 / 9000))
    const loop = '{% for i in (1..9999) %}{{i}}{% endfor %}'
    const worked = contentOf(bodyOf(loop)) as unknown as { content: string }[]
    expect(worked.filter(({ content }) => content !== loop)).toHaveLength(1)
  })

  test('is the blocks of a document of the block editor', () => {
    const text = (words: string) => ({ type: 'text', text: words, marks: [{ type: 'bold' }] })
    const content = [
      { type: 'heading', attrs: { level: 2 }, content: [text('Hello & welcome')] },
      { type: 'paragraph', content: [text('Dear '), { type: 'variable', attrs: { id: 'payload.name' } }] },
      { type: 'bulletList', content: [{ type: 'listItem', content: [{ type: 'paragraph', content: [text('one')] }] }] },
      { type: 'button', attrs: { text: 'Open {{payload.name}}', url: 'https://example.com/{{payload.left}}' } }
    ]
    const styles = { textAlign: 'left' }
    expect(contentOf(JSON.stringify({ type: 'doc', content }))).toEqual([
      { type: 'text', content: 'Hello & welcome', styles },
      { type: 'text', content: 'Dear Ada', styles },
      { type: 'text', content: 'one', styles },
      { type: 'button', content: 'Open Ada', url: 'https://example.com/3', styles }
    ])
  })
})
