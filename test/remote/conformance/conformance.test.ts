import { expect, test } from 'vitest'
import { reportJunit, reportText } from '../../../src/remote/conformance/report.js'
import { MAILGUN, SENDGRID, setPrimary } from '../../support/control.js'
import { useMock } from '../../support/mock.js'
import { startProxy, UNLISTED } from './proxy.js'
import { checkTarget, primaryEmail } from './run-conformance.js'

test('without changes allowed, it passes on ours and changes nothing', async () => {
  const mock = await useMock()
  const before = (await mock.get('/_mock/state')).text
  const report = await checkTarget(mock.url, { only: ['live', 'primary', 'idempotency'] })
  expect(report.counts).toMatchObject({ failed: 0 })
  expect(report.counts.passed).toBeGreaterThan(8)
  expect(report.profile).toMatchObject({ nearest: 'document', isExact: true })
  expect((await mock.get('/_mock/state')).text).toBe(before)
})

test.each([
  ['that the target lists is put back, whatever is named', {}, SENDGRID],
  [
    'that is named first of a channel is so at the end, where the target lists none',
    UNLISTED,
    MAILGUN
  ]
])('the primary %s', async (_, change, primary) => {
  const mock = await useMock()
  await mock.post(setPrimary(primary))
  await using proxy = await startProxy(mock.url, change)
  const options = { allowChanges: true, integrations: [MAILGUN, SENDGRID] }
  const report = await checkTarget(proxy.url, { ...options, only: ['primary.again'] })
  expect(report).toMatchObject({ counts: { passed: 1 }, notRestored: [] })
  expect(await primaryEmail(mock)).toBe(primary)
})

test('a target that can not be reached, or rejects the key, is an error that does not have the key', async () => {
  const mock = await useMock()
  await expect(checkTarget('http://127.0.0.1:9')).rejects.toThrow(
    'http://127.0.0.1:9: GET /v1/messages?limit=1: no response'
  )
  await expect(checkTarget(mock.url, { apiKey: 'not-a-key' })).rejects.toThrow(
    /rejects the key: 401(?!.*not-a-key)/
  )
  await expect(checkTarget(mock.url, { apiKey: 'secret\nkey' })).rejects.toThrow(/^(?!.*secret)/)
})

test('a report says what failed, on what it rests, and which profile it is', async () => {
  const mock = await useMock({ assumptions: { 'total-count': 'absent' } })
  await using proxy = await startProxy(mock.url, {
    response({ request, response }) {
      if (request.path.startsWith('/v1/messages?'))
        response.text = response.text.replace('"pageSize":', '"page_size":')
    }
  })
  const report = await checkTarget(proxy.url, { only: ['wire.list.shape', 'live', 'paging.page'] })
  const text = reportText(report)
  expect(text.split('\n').slice(0, 5)).toEqual([
    'FAILED   wire.list.shape',
    '         it must have pageSize',
    `         $ curl -g '${proxy.url}/v1/messages?limit=100' -H "Authorization: ApiKey $NOTIFICATION_MOCK_API_KEY"`,
    '         A page of messages has the fields of the contract, each of its type and from its list of values, in JSON and UTF-8.',
    '         rests on the contract: Paginated message list; Message (MessageResponseDto) and all that it holds'
  ])
  expect(text).toMatch(
    /^Profile: document, but for total-count=absent \(\d+ of 22 rows of the register found out\)$/m
  )
  const junit = reportJunit(report)
  const counts = `tests="${report.cases.length}" failures="${report.counts.failed}" errors="0"`
  expect(junit).toContain(`<testsuite name="conformance of ${proxy.url}" ${counts}`)
  expect(junit).toContain('<testcase classname="wire" name="wire.list.shape: ')
  expect(junit).toContain('<failure message="it must have pageSize">curl -g ')
})

test('ours is checked whole with changes allowed, its integrations found by itself', async () => {
  const mock = await useMock()
  const report = await checkTarget(mock.url, { allowChanges: true, profile: 'document' })
  expect(report.counts).toMatchObject({ failed: 0, noted: 0 })
  const [list, step, primary] = report.operations
  expect(list).toMatchObject({ checked: 'partly', skipped: 1 })
  expect([step, primary]).toMatchObject([{ checked: 'yes' }, { checked: 'yes', skipped: 0 }])
  expect(await primaryEmail(mock)).toBe(SENDGRID)
})

test('an operation that could not be checked is named first, with what would let it be', async () => {
  const mock = await useMock()
  await using proxy = await startProxy(mock.url, UNLISTED)
  const report = await checkTarget(proxy.url, { allowChanges: true, workflows: ['order-shipped'] })
  expect(report.operations[2]).toMatchObject({ checked: 'no', cases: 0 })
  const flags =
    '--allow-changes --workflow order-shipped --integration <id of the primary> --integration <id of another>'
  const lines = reportText(report).split('\n')
  const first = lines.findIndex((line) => line.startsWith('listMessages: '))
  expect(lines[first - 1] ?? '').toBe('')
  expect(lines.slice(first)).toEqual(
    expect.arrayContaining([
      'setIntegrationAsPrimary: NOT CHECKED',
      '  the target lists no integrations; of each channel, name the present primary first',
      `  $ notification-mock conformance --target ${proxy.url} ${flags}`
    ])
  )
})
