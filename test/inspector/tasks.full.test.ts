import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, type TestContext, test } from 'vitest'
import { parse } from 'yaml'
import type { AttachedEnvironment } from '../../src/client/index.js'
import {
  type ClickCounter,
  countClicks,
  expectAccessible,
  expectAccessibleInBoth,
  openInspector,
  requestRows,
  sendRequest
} from '../support/inspector.js'
import { openReport, reportedTests, reportOfScript } from '../support/opened-report.js'
import { createTempFolder } from '../support/process.js'

/**
 * The number of clicks that each task in the inspector or the test report takes. Typing doesn't
 * count.
 */
const CLICKS = {
  'see why a request got 422': 0,
  'make the next two list calls fail': 3,
  'make an integration primary': 1,
  'add a message': 4,
  'copy a request as curl': 2,
  'take a snapshot, change something, restore and undo': 6,
  'advance the clock by a day': 2,
  'open one of 10,000 messages by its transaction': 0,
  'open one of 10,000 messages by its id': 0,
  'open one of 10,000 messages by a word that it contains': 0,
  'export the state as a seed': 2,
  'delay each response by 2 s': 2,
  'replay a request': 1,
  'edit a request and send it again': 3,
  'compare two responses': 3,
  'open the requests of a test': 2,
  'see the leftover changes of a test': 1,
  'show only the failed tests of a report': 1,
  'read on a phone why a test in a report failed': 1
}
type Task = keyof typeof CLICKS

const tested = new Set<Task>()

/** Defines a test that does one or more tasks and expects exactly their clicks in `CLICKS`. */
function task(
  names: Task | Task[],
  run: (context: TestContext, clicks: ClickCounter) => Promise<void>
): void {
  const tasks = [names].flat()
  for (const name of tasks) tested.add(name)
  const clicks = tasks.reduce((sum, name) => sum + CLICKS[name], 0)
  const noun = clicks === 1 ? 'click' : 'clicks'
  test(`${tasks.join('; ')}: ${clicks} ${noun}`, async (context) => {
    const counter = countClicks()
    await run(context, counter)
    expect(counter.count).toBe(clicks)
  })
}

const COPYING = { permissions: ['clipboard-read', 'clipboard-write'] }

/** Returns the name of the primary email integration. */
const emailPrimary = async (env: AttachedEnvironment) =>
  (await env.integrations.list()).find(({ channel, primary }) => channel === 'email' && primary)
    ?.name

task('see why a request got 422', async (context) => {
  const { page, env } = await openInspector(context)
  await sendRequest(env, '/v1/messages?limit=5000')
  await sendRequest(env, '/v1/messages')
  const detail = page.getByRole('group', { name: 'Request 1' })
  await detail.getByText('limit must be a whole number from 1 to 1000').first().waitFor()
  const body = detail.getByRole('group', { name: 'Response body' })
  expect(await body.innerText()).toContain('"statusCode": 422')
})

task('make the next two list calls fail', async (context, clicks) => {
  const inspector = await openInspector(context, { hash: '#/workflows' })
  const { page, env } = inspector
  await clicks.click(page.getByRole('button', { name: '0 faults' }))
  await clicks.click(page.getByRole('button', { name: 'twice' }))
  await clicks.click(page.getByRole('button', { name: '500', exact: true }))
  await page.getByText(/^List messages: 500, twice .*hit 0 requests/).waitFor()
  await expectAccessibleInBoth(inspector)
  const statuses = []
  for (let count = 0; count < 3; count++) statuses.push(await sendRequest(env, '/v1/messages'))
  expect(statuses).toEqual([500, 500, 200])
  await page.getByText('hit 2 requests').waitFor()
  await page.getByRole('button', { name: '0 faults' }).waitFor()
})

task('make an integration primary', async (context, clicks) => {
  const inspector = await openInspector(context, { hash: '#/integrations' })
  const { page, env } = inspector
  const mailgun = page.getByRole('switch', { name: 'Mailgun (EU) is primary' })
  await clicks.click(mailgun)
  await page.getByText('Mailgun (EU) is primary for email, instead of SendGrid').waitFor()
  expect(await emailPrimary(env)).toBe('Mailgun (EU)')
  await expect.poll(() => mailgun.isChecked()).toBe(true)
  expect(await page.getByRole('switch', { name: 'SendGrid is primary' }).isChecked()).toBe(false)
  const [request] = await env.requests.list({ operation: 'setIntegrationAsPrimary' })
  expect(request).toMatchObject({ method: 'POST', status: 200 })
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect.poll(() => emailPrimary(env)).toBe('SendGrid')
  await expectAccessibleInBoth(inspector)
})

task('add a message', async (context, clicks) => {
  const inspector = await openInspector(context, { hash: '#/messages' })
  const { page, env } = inspector
  await page.getByRole('list', { name: 'Messages, newest first' }).waitFor()
  await clicks.click(page.getByRole('button', { name: 'Add', exact: true }))
  const dialog = page.getByRole('dialog', { name: 'Add a message' })
  // The subscriber field already has focus.
  await page.keyboard.type('user-ada')
  await clicks.click(dialog.getByText('sms', { exact: true }))
  await clicks.click(dialog.getByLabel('Content'))
  await page.keyboard.type('Your tea is here')
  await expectAccessible(inspector)
  await clicks.click(dialog.getByRole('button', { name: 'Add a message' }))
  await page.locator('.bubble').getByText('Your tea is here').waitFor()
  expect((await env.state()).environments[0]?.messages?.at(-1)).toMatchObject({
    channel: 'sms',
    phone: '+447700900142',
    content: 'Your tea is here'
  })
})

task('copy a request as curl', async (context, clicks) => {
  const { page, env } = await openInspector(context, COPYING)
  const body = `{"note":"it's \\"quoted\\" and שלום"}`
  const path = '/v1/integrations/sendgrid-main/set-primary?note=%5Ba%5D%20%26%20b&note=2'
  const headers = { 'idempotency-key': `it's`, 'content-type': 'application/json' }
  await sendRequest(env, path, { method: 'POST', headers, body })
  const copied = () => page.evaluate<string>('navigator.clipboard.readText()')
  await clicks.click(requestRows(page).first())
  await clicks.click(page.getByRole('button', { name: 'Copy as curl' }))
  await expect.poll(copied).toMatch(/^curl/)
  expect(await copied()).toContain(env.apiKey)
  await promisify(execFile)('sh', ['-c', await copied()])
  const again = async () =>
    (await env.requests.list({ order: 'newest' })).filter(({ status }) => status)
  await expect.poll(async () => (await again()).length).toBe(2)

  await page.getByRole('button', { name: 'More copy formats' }).click()
  await page.getByRole('button', { name: 'Copy as fetch' }).click()
  await expect.poll(copied).toMatch(/^await fetch/)
  await new Function(`return (async () => { ${await copied()} })()`)()
  await expect.poll(async () => (await again()).length).toBe(3)
  const sent = (await again()).map(({ path, query, headers, body }) => [
    path,
    query,
    headers['idempotency-key'],
    body
  ])
  expect(sent[0]).toEqual(sent[2])
  expect(sent[1]).toEqual(sent[2])

  await page.getByRole('button', { name: 'More copy formats' }).click()
  await page.getByRole('button', { name: 'Copy as a verify() call' }).click()
  await expect.poll(copied).toMatch(/^await env\.requests\.verify\(\{/)
  const run = new Function('env', `return (async () => { return ${await copied()} })()`)
  expect(await run(env)).toMatchObject({ matched: 3 })
})

task('take a snapshot, change something, restore and undo', async (context, clicks) => {
  const { page, env } = await openInspector(context, { hash: '#/integrations' })
  const dialog = page.getByRole('dialog', { name: 'Snapshots and changes' })
  await clicks.click(page.getByRole('button', { name: 'Changes' }))
  await dialog.getByText('No changes since then.').waitFor()
  await clicks.click(dialog.getByRole('button', { name: 'Take a snapshot' }))
  const newest = dialog.getByRole('listitem', { name: /^snapshot, / })
  await newest.getByText('No changes since then.').waitFor()
  await page.keyboard.press('Escape')
  await clicks.click(page.getByRole('switch', { name: 'Mailgun (EU) is primary' }))
  await expect.poll(() => emailPrimary(env)).toBe('Mailgun (EU)')
  await clicks.click(page.getByRole('button', { name: 'Changes' }))
  await clicks.click(newest.getByRole('button', { name: 'Restore' }))
  await expect.poll(() => emailPrimary(env)).toBe('SendGrid')
  await newest.getByText('No changes since then.').waitFor()
  await clicks.click(dialog.getByRole('button', { name: 'Undo' }).last())
  await expect.poll(() => emailPrimary(env)).toBe('Mailgun (EU)')
  // Undo deletes the snapshot that the restore created.
  await expect.poll(async () => (await env.snapshots()).length).toBe(1)
})

task('advance the clock by a day', async (context, clicks) => {
  const { page, env } = await openInspector(context, { hash: '#/workflows' })
  await clicks.click(page.getByRole('button', { name: /^Clock: / }))
  await clicks.click(page.getByRole('button', { name: '+1 day' }))
  await page.getByText('+1 d from the system time').first().waitFor()
  expect((await env.clock.get()).setting).toEqual({ mode: 'offset', by: 86_400_000 })
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect.poll(async () => (await env.clock.get()).setting.mode).toBe('wall')
})

task(
  [
    'open one of 10,000 messages by its transaction',
    'open one of 10,000 messages by its id',
    'open one of 10,000 messages by a word that it contains'
  ],
  async (context) => {
    const { page, env, url } = await openInspector(context, {
      args: ['--seed', await seedOf(10_000)]
    })
    const { messages } = await env.messages.search({ page: 900, limit: 10 })
    const [{ _id = '', transactionId } = { transactionId: '' }] = messages
    await env.messages.change(_id, { subject: 'A rhododendron' })
    for (const text of [transactionId, _id, 'rhododendron']) {
      await page.goto(`${url}/#/integrations`)
      await page.getByRole('heading', { level: 1, name: 'Integrations' }).waitFor()
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox').waitFor()
      await page.keyboard.insertText(text)
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'A rhododendron' }).waitFor()
      expect(new URL(page.url()).hash).toBe(`#/messages/${_id}?q=${text}`)
    }
    // A link opens the message even if the list doesn't contain it.
    await page.goto(`${url}/#/messages/${_id}?q=nothing`)
    await page.getByRole('heading', { name: 'A rhododendron' }).waitFor()
  }
)

/** Writes a seed file that generates the given number of messages. Returns the file's path. */
async function seedOf(messages: number): Promise<string> {
  const file = join(createTempFolder(), 'many.yaml')
  await writeFile(
    file,
    `environments:
  - name: Many
    apiKeys: [many-key]
    workflows: [{ identifier: news, name: News, steps: [{ stepId: email-step, type: email }] }]
    generate: { messages: ${messages}, randomSeed: 7 }
`
  )
  return file
}
task('export the state as a seed', async (context, clicks) => {
  const { page, env } = await openInspector(context, { hash: '#/workflows' })
  const downloaded = page.waitForEvent('download')
  await clicks.click(page.getByRole('button', { name: 'Environment Development' }))
  await clicks.click(page.getByRole('button', { name: 'Export as a seed' }))
  const download = await downloaded
  expect(download.suggestedFilename()).toBe('development.yaml')
  const file = join(createTempFolder(), 'all.yaml')
  await download.saveAs(file)
  expect(parse(readFileSync(file, 'utf8'))).toEqual(await env.state())
})

task('delay each response by 2 s', async (context, clicks) => {
  const { page, env } = await openInspector(context, { hash: '#/messages' })
  await clicks.click(page.getByRole('button', { name: '0 faults' }))
  await clicks.click(page.getByRole('button', { name: '2 s', exact: true }))
  await page.getByText('each response is delayed by 2000 ms').waitFor()
  await page.getByRole('button', { name: '0 faults, latency 2000 ms' }).waitFor()
  expect(await env.latency.get()).toEqual({ delay: 2000, spread: 0 })
  await page.getByRole('button', { name: 'Bad' }).click()
  await page.getByText('each response is delayed by at least 400 ms, 1000 ms on average').waitFor()
  await page.getByRole('button', { name: '500 ms', exact: true }).click()
  await page.getByText('each response is delayed by 500 ms').waitFor()
  await sendRequest(env, '/v1/messages')
  expect((await env.requests.list()).at(-1)?.flags.delayed).toBe(500)
  await page.getByRole('button', { name: 'None' }).click()
  await expect.poll(async () => (await env.latency.get()).delay).toBe(0)
})

task('replay a request', async (context, clicks) => {
  const inspector = await openInspector(context, { colorScheme: 'dark' })
  const { page, env } = inspector
  await env.faults.add({ effect: { status: 503 } })
  await sendRequest(env, '/v1/messages?limit=1')
  await clicks.click(page.getByRole('button', { name: 'Replay' }))
  const now = page.getByRole('group', { name: 'Now' })
  await now.waitFor()
  await page.getByText('Now · 200').waitFor()
  await page.getByText(/^different status, \d+ differences$/).waitFor()
  expect(await page.locator('.is-different').count()).toBeGreaterThan(0)
  await expectAccessible(inspector)
  expect(await env.requests.list()).toMatchObject([
    { status: 503, query: { limit: '1' } },
    { status: 200, query: { limit: '1' } }
  ])
  await page.getByRole('button', { name: 'Replay' }).click()
  await page.getByRole('tab', { name: 'Response' }).click()
  expect(await page.getByRole('group', { name: 'Now' }).count()).toBe(0)

  // The original response and the replay's are truncated and redacted alike, so they are equal.
  await sendRequest(env, '/v1/messages?limit=60')
  await requestRows(page).filter({ hasText: 'limit=60' }).first().click()
  await page.getByRole('group', { name: 'Response body' }).getByText('"totalCount"').waitFor()
  await page.getByText('Truncated: the response had').waitFor()
  await page.getByRole('button', { name: 'Replay' }).click()
  await page.getByText('The responses are equal').waitFor()
})

task('edit a request and send it again', async (context, clicks) => {
  const inspector = await openInspector(context)
  const { page, env } = inspector
  await sendRequest(env, '/v1/messages?limit=5000&chanel=email')
  await clicks.click(requestRows(page).first())
  await clicks.click(page.getByRole('link', { name: 'Edit and resend' }))
  await page.getByLabel('limit', { exact: true }).fill('2')
  await page.getByLabel('Other parameters').fill('')
  await clicks.click(page.getByRole('button', { name: 'Send', exact: true }))
  const response = page.getByRole('group', { name: 'Response', exact: true })
  await response.getByRole('group', { name: 'Response body' }).getByText('"pageSize": 2').waitFor()
  await expectAccessibleInBoth(inspector)
  expect(await env.requests.get(2)).toMatchObject({ status: 200, query: { limit: '2' } })
  await response.getByRole('link', { name: 'Open as #2' }).click()
  await page.getByRole('group', { name: 'Request 2' }).waitFor()
})

task('compare two responses', async (context, clicks) => {
  const { page, env } = await openInspector(context)
  await sendRequest(env, '/v1/messages?limit=2')
  await sendRequest(env, '/v1/messages?limit=2')
  // Wait for both requests. Otherwise, the first row may still be the older request.
  await requestRows(page).nth(1).waitFor()
  await clicks.click(requestRows(page).first())
  await clicks.click(page.getByRole('button', { name: 'Compare with another request' }))
  await clicks.click(page.getByRole('button', { name: /^#1 200/ }))
  await page.getByText('The responses are equal').waitFor()
})

task('open the requests of a test', async (context, clicks) => {
  const { page, mock } = await openInspector(context)
  for (const title of ['pays', 'ships']) {
    const env = await mock.environment({ from: 'Development' })
    await sendRequest(env, `/v1/messages?transactionId=${title}`)
    await env.describeTest({ title, file: 'shop.test.ts:7', outcome: 'failed' })
  }
  await clicks.click(page.getByRole('button', { name: 'Environment Development' }))
  await clicks.click(page.getByRole('button', { name: 'pays' }))
  await requestRows(page).filter({ hasText: 'transactionId=pays' }).waitFor()
  expect(await requestRows(page).count()).toBe(1)
})

/** A script that runs three tests: the second leaves a change, and the third fails. */
const RUN_OF_THREE = `for (const title of ['one', 'two', 'three']) {
  const env = await mock.environment({ from: 'Development' })
  await fetch(env.url + '/v1/messages?transactionId=' + title, { headers: env.headers })
  if (title === 'two') await env.messages.add({ channel: 'sms', content: 'Your tea is here' })
  const outcome = title === 'three' ? 'failed' : 'passed'
  await env.describeTest({ title: 'test ' + title, outcome, error: 'expected 1 to be 2' })
  await env.remove()
}`

task('see the leftover changes of a test', async (context, clicks) => {
  const { page } = await openReport(context, await reportOfScript(RUN_OF_THREE))
  await clicks.click(reportedTests(page).filter({ hasText: 'test two' }))
  await page
    .getByRole('group', { name: 'test two' })
    .getByText(/leftover change: /)
    .waitFor()
})

task('show only the failed tests of a report', async (context, clicks) => {
  const { page } = await openReport(context, await reportOfScript(RUN_OF_THREE))
  await clicks.click(page.getByRole('button', { name: 'Show only failed: 1' }))
  await expect.poll(() => reportedTests(page).count()).toBe(1)
  expect(await reportedTests(page).innerText()).toContain('test three')
})

task('read on a phone why a test in a report failed', async (context, clicks) => {
  const phone = { viewport: { width: 390, height: 800 } }
  const { page } = await openReport(context, await reportOfScript(RUN_OF_THREE), phone)
  await clicks.click(reportedTests(page).filter({ hasText: 'test three' }))
  const details = page.getByRole('group', { name: 'test three' })
  await details.getByText('expected 1 to be 2').first().waitFor()
  await details.getByText('transactionId=three').first().waitFor()
})

test('each task in `CLICKS` has a test', () => {
  expect([...tested].sort()).toEqual(Object.keys(CLICKS).sort())
})
