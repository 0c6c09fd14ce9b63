import { expect, test } from 'vitest'
import { coverageMarkdown, coverageText, fetchCoverage } from '../../src/cli/coverage.js'
import type { Coverage } from '../../src/coverage/schemas.js'
import { addFault, DEVELOPMENT, PRODUCTION } from '../support/control.js'
import { useMock } from '../support/mock.js'
import { runHere } from './here.js'

/** Starts a mock, and sends one request to each of two environments. */
async function createUsedMock() {
  const mock = await useMock()
  await mock.get('/v1/messages')
  await mock.get('/v1/messages', { key: PRODUCTION })
  const run = (...args: string[]) =>
    runHere(['coverage', mock.url, ...args], { NOTIFICATION_MOCK_API_KEY: DEVELOPMENT })
  return { mock, run }
}

test('reports the coverage of the whole server as text or Markdown', async () => {
  const { mock, run } = await createUsedMock()
  const whole = (await mock.get('/_mock/coverage/server')).json
  const text = coverageText(whole, 'use --all to list everything')
  expect(await run()).toEqual({ code: 0, stderr: '', stdout: text })
  expect(await run('--all')).toEqual({ code: 0, stderr: '', stdout: coverageMarkdown(whole) })
  expect(coverageMarkdown(whole)).toMatch(/^## Coverage of the API: \d/)
  expect(coverageMarkdown(whole)).toMatch(/^- listMessages: 2 of \d+ covered by 2 requests$/m)
  expect(coverageMarkdown(whole)).toMatch(/^- 409 of setIntegrationAsPrimary: not covered; .+$/m)
})

test('reports the coverage of one environment as JSON', async () => {
  const { mock, run } = await createUsedMock()
  const json = await run('--json', '--api-key', DEVELOPMENT, '--min', '5')
  expect(JSON.parse(json.stdout)).toEqual((await mock.get('/_mock/coverage')).json)
  expect(coverageMarkdown(JSON.parse(json.stdout))).toMatch(
    /^## Coverage of the API in Development: \d/
  )
})

test('prints the report and exits with 1 if the coverage is below --min', async () => {
  const { mock, run } = await createUsedMock()
  const whole = (await mock.get('/_mock/coverage/server')).json
  const low = /^error: the coverage of the API is [\d.]+ %, below the minimum of 80 %\n$/
  expect(await run('--min', '80')).toEqual({
    code: 1,
    stdout: coverageText(whole, 'use --all to list everything'),
    stderr: expect.stringMatching(low)
  })
})

test('without --all, prints at most 12 lines, starting with the totals and typos', async () => {
  const mock = await useMock()
  await mock.get('/v1/messages?chanel=sms')
  const whole: Coverage = (await mock.get('/_mock/coverage/server')).json
  const [primary, list, step] = whole.operations.map(({ total }) => total)
  const lines = coverageText(whole, 'MORE').split('\n')
  expect(lines).toHaveLength(13)
  expect(lines.slice(0, 6)).toEqual([
    `Coverage of the API: ${whole.percentage} % (2 of ${whole.total})`,
    `setIntegrationAsPrimary: 0 of ${primary} covered by 0 requests`,
    `listMessages: 2 of ${list} covered by 1 request`,
    `retrieveWorkflowStep: 0 of ${step} covered by 0 requests`,
    '`chanel` is not a parameter of listMessages: sent once',
    'setIntegrationAsPrimary: never called'
  ])
  // Two items are covered. The first six uncovered items are shown, and the others are counted.
  expect(lines.slice(-2)).toEqual([`and ${whole.total - 2 - 6} more: MORE`, ''])
})

test.each([[['--min', '101']], [['nonsense']]])('%j exits with 2', async (args) => {
  expect((await runHere(['coverage', ...args])).code).toBe(2)
})

test.each([
  ['coverage', 'http://me:secret@127.0.0.1:9'],
  ['healthcheck', 'http://127.0.0.1:9/?key=secret'],
  ['wait', 'secret']
])('%s reports an invalid NOTIFICATION_MOCK_URL without printing it', async (command, url) => {
  const usageError = {
    code: 2,
    stderr: expect.stringMatching(/^error: NOTIFICATION_MOCK_URL must be (?!.*secret)/)
  }
  expect(await runHere([command], { NOTIFICATION_MOCK_URL: url })).toMatchObject(usageError)
})

test('reports why the coverage is unavailable, without printing keys or passwords', async () => {
  const mock = await useMock({ adminToken: 'the-token' })
  await expect(fetchCoverage(mock.url, { apiKey: 'nobody-here' })).rejects.toThrow(
    /^no environment has this key(?!.*nobody-here)/
  )
  await expect(fetchCoverage(mock.url, { adminToken: 'another' })).rejects.toThrow(
    'the admin token is wrong'
  )
  await expect(fetchCoverage(mock.url, { apiKey: 'a\nb' })).rejects.toThrow(
    /^the key or token contains characters/
  )
  await expect(fetchCoverage('http://127.0.0.1:9')).rejects.toThrow(
    'no response from http://127.0.0.1:9'
  )
  await expect(fetchCoverage('http://me:secret@127.0.0.1:9')).rejects.toThrow(
    /^(?!.*secret).*must not contain a user name/
  )
})

test('lists statuses and requests that are not in the API reference', async () => {
  const mock = await useMock()
  for (const status of [503, 422]) {
    await addFault(mock, { effect: { status } })
    await mock.get('/v1/messages')
  }
  await mock.get('/v1/messages?a%1b%60%7Cb=1')
  await mock.get('/v1/topics')
  expect(coverageMarkdown(await fetchCoverage(mock.url)).split('\n')).toEqual(
    expect.arrayContaining([
      '- 503 of listMessages is not documented: injected once',
      expect.stringMatching(/^- 422 of listMessages: covered only by an injected fault; .+$/),
      '- `a\\u001b%60|b` is not a parameter of listMessages: sent once',
      '- `GET /v1/topics` is not mocked: sent once'
    ])
  )
})
