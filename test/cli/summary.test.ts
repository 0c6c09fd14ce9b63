import { expect, test } from 'vitest'
import { runMarkdown } from '../../src/cli/summary.js'
import { failingHints } from '../../src/client/hints.js'
import { connect } from '../../src/client/index.js'
import { reportOf } from '../../src/client/report.js'
import { useNewMock } from '../support/mock.js'

test("a summary stays below GitHub's limit of 1 MiB, and counts the lines it omits", async () => {
  const { url } = await useNewMock()
  const mock = connect(url)
  const environment = await mock.environment()
  await environment.describeTest({ title: '|'.repeat(2000), outcome: 'failed' })
  const report = reportOf(await mock.runRecord())
  const tests = Array.from({ length: 1000 }, () => report.tests).flat()
  const summary = runMarkdown({ ...report, tests })
  expect(Buffer.byteLength(summary)).toBeLessThan(1024 * 1024)
  expect(summary).toContain('1000 of 1000 failed')
  expect(summary).toContain('- and 700 more lines; --report writes everything to a file\n')
})

test('a summary lists `page-not-requested` hints, although --strict ignores them', async () => {
  const { url } = await useNewMock()
  const env = await connect(url).environment({ from: 'Development' })
  const lists = ['channel=email&limit=5', 'limit=5&page=1']
  for (const query of lists) await fetch(`${url}/v1/messages?${query}`, env)
  const report = reportOf(await connect(url).runRecord())
  const hints = report.tests.flatMap((reported) => reported.hints)
  expect(runMarkdown(report)).toContain('hint: ')
  expect(failingHints(hints)).toEqual([])
  expect(failingHints(hints, { failOn: ['page-not-requested'] })).toHaveLength(1)
})

test('a summary shows why each rejected request of a failed test was rejected', async () => {
  const { url } = await useNewMock()
  const env = await connect(url).environment()
  for (const query of ['limit=0', 'limit=0', 'page=-1'])
    await fetch(`${url}/v1/messages?${query}`, env)
  await env.describeTest({ title: 'lists', outcome: 'failed', error: 'got 422' })
  expect(runMarkdown(reportOf(await connect(url).runRecord()))).toMatch(
    /failed: lists: got 422; GET .v1.messages 422: limit must [^;]*; GET .v1.messages 422: page must /
  )
})

test('a summary first lists the paths that are not mocked, with their counts', async () => {
  const { url } = await useNewMock()
  const mock = connect(url)
  const env = await mock.environment()
  for (let n = 0; n < 2; n++) await fetch(`${url}/v1/events/trigger`, { ...env, method: 'POST' })
  await env.describeTest({ title: 'signs up', outcome: 'failed' })
  const lines = runMarkdown(reportOf(await mock.runRecord())).split('\n')
  expect(lines[2]).toBe('- not mocked: POST /v1/events/trigger (2 requests)')
  expect(lines[3]).toMatch(/^- failed: signs up/)
})
