import { expect, test } from 'vitest'
import { coverageMarkdown, coverageShortfall, coverageText, fetchCoverage } from '../../src/cli/coverage.js'
import { addFault, DEVELOPMENT, PRODUCTION, SENDGRID, setPrimary } from '../support/control.js'
import { follow, itemsOf } from '../support/coverage.js'
import { givenMock } from '../support/mock.js'
import { runCommand } from '../support/process.js'

const CONFLICT = '409 of setIntegrationAsPrimary'

test('reports the whole server, or one environment, as text, JSON or Markdown', async () => {
  const mock = await givenMock()
  await mock.get('/v1/messages')
  await mock.get('/v1/messages', { key: PRODUCTION })
  const run = (...args: string[]) => runCommand(['coverage', mock.url, ...args])
  // As exec sets it.
  const env = { NOTIFICATION_MOCK_API_KEY: DEVELOPMENT }
  const [text, json, markdown] = await Promise.all([
    runCommand(['coverage', mock.url], { env }),
    run('--json', '--api-key', DEVELOPMENT, '--min', '6'),
    run('--markdown', '--min', '80')
  ])
  expect(text).toMatchObject({ code: 0, stderr: '' })
  expect(text.stdout).toMatch(/^Coverage of the contract: /)
  const own = await fetchCoverage(mock.url, { apiKey: DEVELOPMENT })
  expect(coverageText(own)).toMatch(/^Coverage of the contract in Development: \d/)
  expect(coverageMarkdown(own)).toMatch(/^## Coverage of the contract in Development: \d/)
  expect(text.stdout).toContain(`\n${CONFLICT}: never met; to meet it: `)
  expect(text.stdout).toMatch(/^ {2}listMessages +2 of 19 +2$/m)
  expect(json).toMatchObject({ code: 0, stderr: '' })
  expect(JSON.parse(json.stdout)).toEqual((await mock.get('/_mock/coverage')).json)
  expect(markdown).toMatchObject({
    code: 1,
    stderr: 'error: the coverage of the contract is 5.5 %, below the minimum of 80 %\n'
  })
  expect(markdown.stdout).toBe(coverageMarkdown((await mock.get('/_mock/coverage/server')).json))
})

test('a command line that is wrong ends with 2', async () => {
  for (const args of [['--json', '--markdown'], ['--min', '101'], ['nonsense']]) {
    expect((await runCommand(['coverage', ...args])).code).toBe(2)
  }
})

test('a url that is wrong is not repeated, and its variable is named', async () => {
  for (const url of ['http://me:secret@127.0.0.1:9', 'http://127.0.0.1:9/?key=secret', 'secret']) {
    for (const command of ['coverage', 'status', 'wait']) {
      const { code, stderr } = await runCommand([command], { env: { NOTIFICATION_MOCK_URL: url } })
      expect({ code, stderr }).toEqual({
        code: 2,
        stderr: expect.stringMatching(/^error: NOTIFICATION_MOCK_URL must be (?!.*secret)/)
      })
    }
  }
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

test('names what was not met and how to meet it, and nothing once all is', async () => {
  const mock = await givenMock()
  for (const item of itemsOf(await fetchCoverage(mock.url))) {
    if (!item.name.startsWith('409')) await follow(mock.url, DEVELOPMENT, item)
  }
  const before = await fetchCoverage(mock.url)
  const hint = `POST ${setPrimary(SENDGRID)} with idempotency-key: coverage-in-use (do not wait), then the same again`
  for (const report of [coverageText(before), coverageMarkdown(before)]) {
    expect(report.match(/never met/g)).toHaveLength(1)
    expect(report).toContain(hint)
  }
  const [conflict] = itemsOf(before).filter(({ name }) => name === '409')
  await follow(mock.url, DEVELOPMENT, conflict ?? { requests: [] })
  const after = await fetchCoverage(mock.url)
  for (const report of [coverageText(after), coverageMarkdown(after)]) {
    expect(report).toContain('Coverage of the contract: 100 % (36 of 36)\n')
    expect(report).not.toContain('to meet it')
  }
})

test('tells injected answers, and requests beside the contract as a terminal and a table can show them', async () => {
  const mock = await givenMock()
  for (const status of [500, 503, 422]) {
    await addFault(mock, { effect: { status } })
    await mock.get('/v1/messages')
  }
  await mock.get('/v1/messages?a%1b%60%7Cb=1')
  await mock.get('/v1/topics')
  const coverage = await fetchCoverage(mock.url)
  expect(coverageText(coverage).split('\n')).toEqual(
    expect.arrayContaining([
      '500 of listMessages: injected once',
      '503 of listMessages, which is not documented: injected once',
      expect.stringMatching(/^422 of listMessages: met by a fault only; to meet it: /),
      'a%1B`|b of listMessages, a parameter that it does not read: sent once',
      'GET /v1/topics, which no operation serves: sent once'
    ])
  )
  expect(coverageMarkdown(coverage).split('\n')).toContain(
    '- `` a%1B`\\|b `` of listMessages, a parameter that it does not read: sent once'
  )
})

test('is below the minimum only if it is', () => {
  expect(coverageShortfall({ percentage: 79.9 }, 79)).toBe(undefined)
  expect(coverageShortfall({ percentage: 80 }, 80)).toBe(undefined)
  expect(coverageShortfall({ percentage: 0 })).toBe(undefined)
  expect(coverageShortfall({ percentage: 79.9 }, 80)).toContain('79.9 %, below the minimum of 80 %')
})
