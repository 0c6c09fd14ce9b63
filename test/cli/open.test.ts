import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { chooseTests, failingRequest, readReport } from '../../src/cli/report-file.js'
import { type ReportedTest, reportOf } from '../../src/client/report.js'
import { createMock } from '../../src/index.js'
import { createTempFolder } from '../support/process.js'

/** Returns the report of a run with a failed test and a passed test. */
async function report(states: 'failed' | 'off') {
  await using mock = await createMock()
  for (const outcome of ['failed', 'passed'] as const) {
    await using env = await mock.environment({ scenario: 'default', name: outcome })
    await env.describeTest({ title: `cart › ${outcome}`, outcome })
    await fetch(`${env.url}/v1/messages?limit=1`, { headers: env.headers })
  }
  return reportOf(await mock.runRecord({ states }))
}

test('opens the first failed test, or the test whose title contains the given text', async () => {
  const failed = await report('failed')
  expect(chooseTests(failed, undefined)).toMatchObject([{ title: 'cart › failed' }])
  expect(chooseTests(failed, 'CART')).toMatchObject([{ title: 'cart › failed' }])
  expect(() => chooseTests(failed, 'passed')).toThrow('write the report with --report-state all')
  expect(() => chooseTests(failed, 'login')).toThrow(
    'no test has "login" in its title; the failed tests are:\n  cart › failed'
  )
})

test('rejects a report that was written with --report-state off', async () => {
  const off = await report('off')
  expect(off.baselines).toEqual([])
  expect(() => chooseTests(off, undefined)).toThrow('was written with --report-state off')
})

test('rejects a file that is missing, damaged or not a report', () => {
  const folder = createTempFolder()
  const write = (content: string) => {
    const file = join(folder, 'run.html')
    writeFileSync(file, content)
    return file
  }
  expect(() => readReport(join(folder, 'none.html'))).toThrow('ENOENT')
  expect(() => readReport(write('<html></html>'))).toThrow('is not a report')
  const data = '<script id="report" type="text/plain" data-encoding="deflate-raw">AAAA</script>'
  expect(() => readReport(write(data))).toThrow('is damaged: download or write the report again')
})

test('stops at the request in the error, or else at one that failed or has a hint', () => {
  const requests = [1, 2, 3].map((sequence) => ({
    ...{ sequence, status: 200, path: `/v1/${sequence}` },
    query: sequence === 3 ? { limit: '0' } : {}
  }))
  const hints = [{ requests: [3] }]
  const find = (fields: object) =>
    failingRequest({ requests, hints: [], ...fields } as unknown as ReportedTest)
  expect(find({})).toBeUndefined()
  expect(find({ hints })).toBe(3)
  expect(find({ hints, error: 'GET /v1/2 returned nothing' })).toBe(2)
  expect(find({ error: 'GET /v1/1 and then /v1/3?limit=0' })).toBe(3)
  expect(find({ hints, requests: [{ ...requests[0], status: 404 }] })).toBe(1)
})
