import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { mergeReports } from '../../src/cli/merged-report.js'
import { chooseTests, readReport } from '../../src/cli/report-file.js'
import { runMarkdown } from '../../src/cli/summary.js'
import { type Report, reportOf, unauthenticatedDuring } from '../../src/client/report.js'
import { lazily } from '../../src/domain/lazily.js'
import { createMock } from '../../src/index.js'
import { writeReport } from '../../src/platform/report-template.js'
import { createTempFolder } from '../support/process.js'
import { runHere } from './here.js'

/**
 * Returns the report of a run with one test for each outcome. Each test sends one request with a
 * valid key and one without. After the tests, one more request is sent, outside any test.
 */
async function createReport(name: string, outcomes: readonly ('failed' | 'passed')[]) {
  const seed = { environments: [{ name: 'Development', apiKeys: ['development-key'] }] }
  await using mock = await createMock({ seeds: [], seed, logLevel: 'error' })
  for (const outcome of outcomes) {
    await using env = await mock.environment({ from: 'Development', name: outcome })
    await env.describeTest({ title: 'same title', outcome })
    await fetch(`${env.url}/v1/messages?page=1`, { headers: env.headers })
    await fetch(`${env.url}/v1/messages?transactionId=${name}-${outcome}`)
  }
  const headers = { authorization: 'ApiKey development-key' }
  await fetch(`${mock.url}/v1/subscribers?of=${name}`, { headers })
  const exitCode = outcomes.includes('failed') ? 1 : 0
  return reportOf(await mock.runRecord({ states: 'failed' }), { command: `test ${name}`, exitCode })
}

const createReports = lazily(() =>
  Promise.all([createReport('a', ['passed', 'failed']), createReport('b', ['failed'])])
)

/** Returns copies of the reports of two runs. */
async function readTwo() {
  const [a, b] = structuredClone(await createReports())
  return [
    { file: 'a.html', report: a },
    { file: 'b.html', report: b }
  ] as const
}

/** Writes the reports of two runs into a new folder. */
async function writeTwo() {
  const folder = createTempFolder()
  const reports = await readTwo()
  for (const { file, report } of reports) writeReport(join(folder, file), report)
  const run = (...words: string[]) => {
    const isFile = /[.](html|md)$/
    return runHere(words.map((word) => (isFile.test(word) ? join(folder, word) : word)))
  }
  return { folder, run, merged: mergeReports(reports) }
}

test('a merged report lists failed tests first, and keeps the requests of each test', async () => {
  const merged = mergeReports(await readTwo())
  const rows = merged.tests.map((reported) => ({
    outcome: reported.outcome,
    from: reported.mergedFrom,
    requests: reported.requests.length,
    unauthenticated: unauthenticatedDuring(reported, merged).map(({ query }) => query.transactionId)
  }))
  expect(rows).toEqual([
    { outcome: 'failed', from: 'a.html', requests: 1, unauthenticated: ['a-failed'] },
    { outcome: 'failed', from: 'b.html', requests: 1, unauthenticated: ['b-failed'] },
    { outcome: 'passed', from: 'a.html', requests: 1, unauthenticated: ['a-passed'] }
  ])
})

test("a merged report combines all runs' commands, requests, hints and coverage", async () => {
  const { run, others, hints, coverage } = mergeReports(await readTwo())
  expect(run).toMatchObject({
    command: 'test a; test b',
    exitCode: 1,
    mergedFrom: ['a.html', 'b.html']
  })
  expect(others.map(({ query }) => query.of)).toEqual(['a', 'b'])
  const hinted = hints.flatMap(({ requests }) => requests)
  expect(hinted).toEqual(others.map(({ sequence }) => sequence))
  expect(new Set(hinted).size).toBe(2)
  expect(coverage.requests).toBe(8)
})

test('a merged report stores shared baselines once, and `open` finds tests by title', async () => {
  const [a, b] = await readTwo()
  const merged = mergeReports([a, b])
  const opened = chooseTests(merged, 'same title')
  expect(a.report.baselines).toEqual(b.report.baselines)
  expect(merged.baselines).toEqual(a.report.baselines)
  expect(opened).toMatchObject([{ outcome: 'failed', mergedFrom: 'a.html' }])
})

test.each<[string, Partial<Report['run']>]>([
  ['b.html was written by version 0.0.1, but this is version', { version: '0.0.1' }],
  ['b.html is a merged report', { mergedFrom: ['c.html'] }],
  ['a.html and b.html had different profiles or assumptions', { profile: 'live' }],
  ['had different profiles or assumptions', { assumptions: { 'vendor-names': 'novu' } }]
])("rejects reports that can't be merged: %s", async (message, run) => {
  const [a, b] = await readTwo()
  Object.assign(b.report.run, run)
  expect(() => mergeReports([a, b])).toThrow(message)
})

test('merge-reports writes its files, and fails if the coverage is below --min', async () => {
  const { folder, run, merged } = await writeTwo()
  const { percentage } = merged.coverage
  const flags = ['--report', 'all.html', '--summary', 'all.md']
  expect(await run('merge-reports', 'a.html', 'b.html', ...flags, '--min', '5')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`Coverage of the API: ${percentage} %`)
  })
  expect(readReport(join(folder, 'all.html')).tests).toHaveLength(3)
  expect(readFileSync(join(folder, 'all.md'), 'utf8')).toContain('2 of 3 failed')
  expect(await run('merge-reports', 'a.html', 'b.html', '--min', '90')).toMatchObject({
    code: 1,
    stderr: `error: the coverage of the API is ${percentage} %, below the minimum of 90 %\n`
  })
})

test("a merged summary omits a run's hints if that run allowed them", async () => {
  const [a, b] = await readTwo()
  const countHints = () => runMarkdown(mergeReports([a, b])).match(/ hint: /g)?.length
  expect(countHints()).toBe(2)
  a.report.run.allowedHints = ['path-not-mocked']
  expect(countHints()).toBe(1)
})

test.each([
  ['a.html is listed twice', ['b.html', 'a.html', 'a.html']],
  ["can't read none.html: ENOENT", ['a.html', 'none.html']],
  ['--report would replace a.html', ['a.html', '--report', 'a.html']],
  ["can't write none/x.html: its folder does not exist", ['a.html', '--report', 'none/x.html']]
])('merge-reports exits with 2 and prints no coverage: %s', async (message, words) => {
  const { folder, run } = await writeTwo()
  const { code, stderr, stdout } = await run('merge-reports', ...words)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr.replaceAll(`${folder}/`, '')).toContain(message)
})
