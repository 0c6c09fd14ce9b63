import { expect, test } from 'vitest'
import { ASSUMPTION_IDS } from '../../../src/domain/assumptions.js'
import { reportJunit, reportText } from '../../../src/remote/conformance/report.js'
import { MAILGUN, SENDGRID, setPrimary } from '../../support/control.js'
import { useMock } from '../../support/mock.js'
import { type ProxyHooks, startProxy, UNLISTED } from './proxy.js'
import { checkTarget, primaryEmail } from './run-conformance.js'

/** Renames `pageSize` to `page_size` in pages of messages. */
const RENAMED_PAGE_SIZE: ProxyHooks = {
  response({ request, response }) {
    if (request.path.startsWith('/v1/messages?'))
      response.text = response.text.replace('"pageSize":', '"page_size":')
  }
}

test('without --allow-changes, a run passes and leaves the mock unchanged', async () => {
  const mock = await useMock()
  const before = (await mock.get('/_mock/state')).text
  const report = await checkTarget(mock.url, { only: ['live', 'primary', 'idempotency'] })
  expect(report.counts).toMatchObject({ failed: 0 })
  expect(report.counts.passed).toBeGreaterThan(8)
  expect(report.profile).toMatchObject({ nearest: 'document', isExact: true })
  expect((await mock.get('/_mock/state')).text).toBe(before)
})

test.each([
  [
    'the primary that the target lists, even if the options name another integration first',
    {},
    SENDGRID
  ],
  [
    'the integration that the options name first, if the target lists no integrations',
    UNLISTED,
    MAILGUN
  ]
])('a run restores %s', async (_, hooks, primary) => {
  const mock = await useMock()
  await mock.post(setPrimary(primary))
  await using proxy = await startProxy(mock.url, hooks)
  const options = { allowChanges: true, integrations: [MAILGUN, SENDGRID] }
  const report = await checkTarget(proxy.url, { ...options, only: ['primary.again'] })
  expect(report).toMatchObject({ counts: { passed: 1 }, notRestored: [] })
  expect(await primaryEmail(mock)).toBe(primary)
})

test("if the target is unreachable, the run's error names the request", async () => {
  await expect(checkTarget('http://127.0.0.1:9')).rejects.toThrow(
    'http://127.0.0.1:9: GET /v1/messages?limit=1: no response'
  )
})

test("if the target rejects the key, the run's error does not contain the key", async () => {
  const mock = await useMock()
  await expect(checkTarget(mock.url, { apiKey: 'not-a-key' })).rejects.toThrow(
    /rejects the key: 401(?!.*not-a-key)/
  )
  await expect(checkTarget(mock.url, { apiKey: 'secret\nkey' })).rejects.toThrow(/^(?!.*secret)/)
})

test('the report shows a failure with its reason, request, rule and source', async () => {
  const mock = await useMock()
  await using proxy = await startProxy(mock.url, RENAMED_PAGE_SIZE)
  const report = await checkTarget(proxy.url, { only: ['wire.list.shape'] })
  const request =
    `curl '${proxy.url}/v1/messages?limit=100' ` +
    '-H "Authorization: ApiKey $NOTIFICATION_MOCK_API_KEY"'
  const rule =
    'A page of messages is JSON in UTF-8 with all required fields. ' +
    'All types and values match the API reference.'
  const source = 'Paginated message list; Message (MessageResponseDto) and everything in it'
  expect(reportText(report).split('\n').slice(0, 5)).toEqual([
    'FAILED   wire.list.shape',
    '         the response must have pageSize',
    `         $ ${request}`,
    `         ${rule}`,
    `         Based on the API reference: ${source}`
  ])
})

test('the report shows the profile and the assumptions that differ from it', async () => {
  const mock = await useMock({ assumptions: { 'total-count': 'absent' } })
  const report = await checkTarget(mock.url, { only: ['live'] })
  const count = ASSUMPTION_IDS.length
  expect(reportText(report)).toMatch(
    new RegExp(
      `^Profile: document, except total-count=absent \\(\\d+ of ${count} assumptions detected\\)$`,
      'm'
    )
  )
})

test('the JUnit report contains a test case for each conformance case', async () => {
  const mock = await useMock()
  await using proxy = await startProxy(mock.url, RENAMED_PAGE_SIZE)
  const report = await checkTarget(proxy.url, { only: ['wire.list.shape', 'paging.page'] })
  const junit = reportJunit(report)
  const counts = `tests="${report.cases.length}" failures="${report.counts.failed}" errors="0"`
  expect(junit).toContain(`<testsuite name="conformance of ${proxy.url}" ${counts}`)
  expect(junit).toContain('<testcase classname="wire" name="wire.list.shape: ')
  expect(junit).toContain('<failure message="the response must have pageSize">curl ')
})

test('with --allow-changes, a run checks all operations of the mock', async () => {
  const mock = await useMock()
  const report = await checkTarget(mock.url, { allowChanges: true, profile: 'document' })
  expect(report.counts).toMatchObject({ failed: 0, noted: 0 })
  expect(report.operations).toMatchObject([
    { checked: 'yes', skipped: 0 },
    { checked: 'yes' },
    { checked: 'yes', skipped: 0 }
  ])
  expect(await primaryEmail(mock)).toBe(SENDGRID)
})

test('if an operation was not checked, the summary shows a command that checks it', async () => {
  const mock = await useMock()
  await using proxy = await startProxy(mock.url, UNLISTED)
  const report = await checkTarget(proxy.url, { allowChanges: true, workflows: ['order-shipped'] })
  expect(report.operations[2]).toMatchObject({ checked: 'no', cases: 0 })
  const flags =
    '--allow-changes --workflow order-shipped ' +
    '--integration <id of the primary> --integration <id of another>'
  const lines = reportText(report).split('\n')
  const first = lines.findIndex((line) => line.startsWith('listMessages: '))
  expect(lines[first - 1] ?? '').toBe('')
  expect(lines.slice(first)).toEqual(
    expect.arrayContaining([
      'setIntegrationAsPrimary: NOT CHECKED',
      '  the target lists no integrations: name two per channel, the current primary first',
      `  $ notification-mock conformance --target ${proxy.url} ${flags}`
    ])
  )
})
