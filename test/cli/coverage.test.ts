import { expect, test } from 'vitest'
import { coverageMarkdown, coverageText, fetchCoverage } from '../../src/cli/coverage.js'
import { addFault, DEVELOPMENT, PRODUCTION } from '../support/control.js'
import { givenMock } from '../support/mock.js'
import { runCommand } from '../support/process.js'
import { runHere } from './here.js'

test('reports the whole server, or one environment, as Markdown or JSON', async () => {
  const mock = await givenMock()
  await mock.get('/v1/messages')
  await mock.get('/v1/messages', { key: PRODUCTION })
  const run = (...args: string[]) => runCommand(['coverage', mock.url, ...args])
  // As exec sets it.
  const env = { NOTIFICATION_MOCK_API_KEY: DEVELOPMENT }
  const [text, markdown, json, low] = await Promise.all([
    runCommand(['coverage', mock.url], { env }),
    run('--all'),
    run('--json', '--api-key', DEVELOPMENT, '--min', '5'),
    run('--min', '80')
  ])
  expect(text).toMatchObject({ code: 0, stderr: '' })
  expect(text.stdout).toBe(coverageText((await mock.get('/_mock/coverage/server')).json, '--all shows all'))
  expect(markdown).toMatchObject({ code: 0, stderr: '' })
  expect(markdown.stdout).toBe(coverageMarkdown((await mock.get('/_mock/coverage/server')).json))
  expect(markdown.stdout).toMatch(/^## Coverage of the contract: \d/)
  expect(markdown.stdout).toMatch(/^\| `listMessages` \| 2 of \d+ \| 2 \|$/m)
  expect(markdown.stdout).toMatch(/^\| 409 of setIntegrationAsPrimary: never met \| .+ \|$/m)
  const own = await fetchCoverage(mock.url, { apiKey: DEVELOPMENT })
  expect(coverageMarkdown(own)).toMatch(/^## Coverage of the contract in Development: \d/)
  expect(json).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(json.stdout)).toEqual((await mock.get('/_mock/coverage')).json)
  expect(low).toMatchObject({
    code: 1,
    stdout: text.stdout,
    stderr: expect.stringMatching(/^error: the coverage of the contract is [\d.]+ %, below the minimum of 80 %\n$/)
  })
})

test('is at most 12 lines unless all are asked for: figures, slips, then what was not met', async () => {
  const mock = await givenMock()
  const textNow = async () => coverageText((await mock.get('/_mock/coverage/server')).json, 'MORE').split('\n')
  await mock.get('/v1/messages?chanel=sms')
  const lines = await textNow()
  expect(lines).toHaveLength(13)
  expect(lines.at(-1)).toBe('')
  expect(lines.slice(0, 6)).toEqual([
    expect.stringMatching(/^Coverage of the contract: [\d.]+ % \(2 of 36\)$/),
    'setIntegrationAsPrimary: 0 of 11 met by 0 requests',
    'listMessages: 2 of 19 met by 1 request',
    'retrieveWorkflowStep: 0 of 6 met by 0 requests',
    '`chanel` of listMessages, which does not read it: sent once',
    'setIntegrationAsPrimary: never called'
  ])
  expect(lines.at(-2)).toBe('and 28 more: MORE')

  const whole = (await mock.get('/_mock/coverage/server')).json
  for (const operation of whole.operations.slice(0, 2)) for (const item of operation.items) item.covered = true
  const short = coverageText(whole, 'MORE').split('\n')
  expect(short).toHaveLength(12)
  expect(short.at(-2)).toBe('500 of retrieveWorkflowStep: never met')
})

test.each([[['--min', '101']], [['nonsense']]])('%j ends with 2', async (args) => {
  expect((await runHere(['coverage', ...args])).code).toBe(2)
})

test.each([
  ['coverage', 'http://me:secret@127.0.0.1:9'],
  ['healthcheck', 'http://127.0.0.1:9/?key=secret'],
  ['wait', 'secret']
])('%s does not repeat a url that is wrong, and names its variable', async (command, url) => {
  const refused = { code: 2, stderr: expect.stringMatching(/^error: NOTIFICATION_MOCK_URL must be (?!.*secret)/) }
  expect(await runHere([command], { NOTIFICATION_MOCK_URL: url })).toMatchObject(refused)
})

test('a report that can not be had is an error that says why, without the key', async () => {
  const mock = await givenMock({ adminToken: 'the-token' })
  await expect(fetchCoverage(mock.url, { apiKey: 'nobody-here' })).rejects.toThrow(
    /^no environment has this key(?!.*nobody-here)/
  )
  await expect(fetchCoverage(mock.url, { adminToken: 'another' })).rejects.toThrow('the admin token is another one')
  await expect(fetchCoverage(mock.url, { adminToken: 'the-token' })).resolves.toMatchObject({ percentage: 0 })
  await expect(fetchCoverage(mock.url, { apiKey: 'a\nb' })).rejects.toThrow(/^the key or token has characters/)
  await expect(fetchCoverage('http://127.0.0.1:9')).rejects.toThrow('no answer from http://127.0.0.1:9')
  await expect(fetchCoverage('nonsense')).rejects.toThrow('nonsense is not the url of a server')
  await expect(fetchCoverage('http://me:secret@127.0.0.1:9')).rejects.toThrow(/^(?!.*secret).*no user name/)
})

test('tells injected answers, and requests beside the contract as a table can show them', async () => {
  const mock = await givenMock()
  for (const status of [500, 503, 422]) {
    await addFault(mock, { effect: { status } })
    await mock.get('/v1/messages')
  }
  await mock.get('/v1/messages?a%1b%60%7Cb=1')
  await mock.get('/v1/topics')
  expect(coverageMarkdown(await fetchCoverage(mock.url)).split('\n')).toEqual(
    expect.arrayContaining([
      '- 500 of listMessages: injected once',
      '- 503 of listMessages, which is not documented: injected once',
      expect.stringMatching(/^\| 422 of listMessages: met by a fault only \| .+ \|$/),
      '- `a\\u001b%60%7Cb` of listMessages, which does not read it: sent once',
      '- `GET /v1/topics`, which no operation serves: sent once'
    ])
  )
})
