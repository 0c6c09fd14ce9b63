import { expect, test } from 'vitest'
import { describe } from '../../src/cli/open.js'
import { reopenTests } from '../../src/cli/reopen-test.js'
import type { ReopenableTest } from '../../src/cli/report-file.js'
import { connect, type Environment, type SeedEnvironment } from '../../src/client/index.js'
import { type Report, reportOf } from '../../src/client/report.js'
import { createMock } from '../../src/index.js'
import { setPrimary } from '../support/control.js'
import { SECRET_PART, SECRET_TEXTS } from '../support/secret-texts.js'

const TEXTS = SECRET_TEXTS.map(([, text]) => text)
const API_KEY = 'hunter2-api-key-1'

/** The seed of the test's environment. Secrets are in texts and in fields such as `password`. */
const SEED: Partial<SeedEnvironment> = {
  subscribers: [{ subscriberId: 'ada', data: { password: 'hunter2', texts: TEXTS } }],
  integrations: [
    {
      ...{ identifier: 'mail', providerId: 'ses', channel: 'email', name: 'Mail' },
      credentials: { apiKey: 'hunter2', secretKey: 'hunter2' }
    }
  ],
  messages: TEXTS.map((content) => ({ channel: 'sms', subscriberId: 'ada', content })),
  stubs: TEXTS.map((body, index) => ({
    ...{ method: 'GET', path: `/v1/topics/${index}`, status: 200 },
    headers: { 'set-cookie': 'session=hunter2', 'x-api-key': 'hunter2' },
    body: { body, token: 'hunter2' }
  }))
}

const FAULTS = [{ effect: { status: 500, body: { token: 'hunter2', texts: TEXTS } } }]

/** Returns headers that contain the text, or no headers if the text has line breaks. */
const headersWith = (text: string) =>
  text.includes('\n') ? {} : { 'idempotency-key': text, 'x-note': text }

/** Sends all secrets, both in requests to the API and in control requests. */
async function plant(env: Environment): Promise<void> {
  for (const [index, text] of TEXTS.entries()) {
    const note = encodeURIComponent(text)
    await fetch(`${env.url}${setPrimary('mail')}?note=${note}`, {
      method: 'POST',
      headers: { ...env.headers, 'x-secret': 'hunter2', ...headersWith(text) },
      body: text
    })
    await fetch(`${env.url}/v1/topics/${index}`, { headers: env.headers })
    await env.messages.add({ channel: 'sms', content: text })
    await env.stubs.add({ method: 'PUT', path: `/v1/topics/${index}`, status: 200, body: text })
    await env.faults.add({ operation: 'listMessages', effect: { status: 500, body: { text } } })
  }
  await env.integrations.change('mail', {
    name: String(TEXTS[0]),
    credentials: { apiKey: 'hunter2' }
  })
  await env.seed(`messages:\n  - { channel: sms, content: x, payload: { password: hunter2 } }`)
}

async function recordPlanted(): Promise<Report> {
  await using mock = await createMock({ logLevel: 'silent' })
  await using env = await mock.environment({ seed: SEED, apiKey: API_KEY, faults: FAULTS })
  const error = TEXTS.join('\n')
  await env.describeTest({ title: 'planted', outcome: 'failed', error })
  await plant(env)
  return reportOf(await mock.runRecord({ states: 'failed' }))
}

const ROUTES = [
  ...['replay', 'requests', 'requests/changes', 'requests/1', 'state', 'stubs', 'faults', 'diff'],
  ...['messages?limit=100', 'integrations', 'environments', 'report?states=all', 'coverage']
]

/** Reopens the test. Returns the lines that `open` prints, and the server's responses. */
async function outputsOf(report: Report): Promise<Record<string, string>> {
  const tests = report.tests as ReopenableTest[]
  const opened = await reopenTests(report, { tests, before: undefined, logLevel: 'silent' })
  const { url } = opened.server
  const { headers } = connect(url).attach(opened.apiKey)
  const outputs: Record<string, string> = { lines: describe(report, opened).join('\n') }
  for (const route of ROUTES) {
    const response = await fetch(`${url}/_mock/${route}`, { headers })
    outputs[`${response.status} ${route}`] = await response.text()
  }
  await opened.server.close()
  return outputs
}

test("neither the report nor the reopened server contains the test's secrets", async () => {
  const report = await recordPlanted()
  const reopened = await outputsOf(report)
  expect(Object.keys(reopened).slice(1)).toEqual(ROUTES.map((route) => `200 ${route}`))
  // The HTML file contains exactly this JSON.
  const outputs = { report: JSON.stringify(report), ...reopened }
  const leaks = Object.entries(outputs).flatMap(([output, text]) => {
    const at = text.search(SECRET_PART)
    return at < 0 ? [] : [`${output}: ${text.slice(Math.max(0, at - 120), at + 60)}`]
  })
  expect(leaks).toEqual([])
})
