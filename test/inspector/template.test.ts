import { expect, test } from 'vitest'
import { templateParts, variablesIn } from '../../src/inspector/views/workflows/template.js'

test('variables and tags are told apart from the text around them', () => {
  expect(templateParts('Hi {{name}}, {% if a %}yes{% endif %}{{x')).toEqual([
    'Hi ',
    '{{name}}',
    ', ',
    '{% if a %}',
    'yes',
    '{% endif %}',
    '{{x'
  ])
  expect(templateParts('{{{a}}')).toEqual(['', '{{{a}}', ''])
  expect(templateParts('{{% a %}')).toEqual(['{', '{% a %}', ''])
  expect(
    variablesIn(['{{ payload.photos[0].url }} payload.other', { a: "{% if b.c-d == 'x' %}", var: 'e.f' }])
  ).toEqual(['payload.photos[0].url', 'e.f', 'b.c-d'])
})

test.each(['{{', '{%', '{{%', '{{a}', '}}{{', '{{a.b'])('a long text of nothing but %s is read at once', (text) => {
  const long = text.repeat(100_000)
  for (const each of [long, `{{${'a'.repeat(100_000)}}}`]) {
    const startedAt = performance.now()
    expect(templateParts(each).join('')).toBe(each)
    variablesIn(each)
    expect(performance.now() - startedAt).toBeLessThan(1000)
  }
})
