import { setTimeout as delay } from 'node:timers/promises'
import type { Page } from '@playwright/test'
import { expect, test } from 'vitest'
import {
  expectAccessible,
  type OpenedInspector,
  openInspector,
  requestRows,
  sendRequest
} from '../support/inspector.js'

const items = (page: Page) => page.locator('main [data-item]')

test('the list shows requests and environment changes together, newest first', async (context) => {
  const inspector = await openInspector(context, { colorScheme: 'dark' })
  const { page, env } = inspector
  await env.clock.set('2030-01-01T00:00:00Z')
  await sendRequest(env, '/v1/messages?limit=1')
  await env.snapshot('before <b>it</b>')
  await sendRequest(env, '/v1/integrations/mailgun-eu/set-primary', { method: 'POST' })
  await env.latency.set('none')
  await env.clock.set('2030-01-01T00:30:00Z')
  await sendRequest(env, '/v1/messages?limit=2')
  const list = page.getByRole('list', { name: 'Requests, newest first' })
  await expect.poll(() => requestRows(page).count()).toBe(3)
  await expect
    .poll(async () =>
      (await list.getByRole('listitem').allInnerTexts()).map((text) =>
        text.replace(/\s+/g, ' ').trim()
      )
    )
    .toEqual([
      expect.stringMatching(/^GET \/v1\/messages\?limit=2 200/),
      expect.stringMatching(/clock/i),
      expect.stringMatching(/latency/i),
      expect.stringMatching(/^Mailgun \(EU\) became primary for email/),
      expect.stringMatching(/^POST .*set-primary 200/),
      expect.stringContaining('before <b>it</b>'),
      expect.stringMatching(/^GET \/v1\/messages\?limit=1 200/),
      expect.stringMatching(/clock/i)
    ])
  await expectAccessible(inspector)
})

test('the inspector shows changes that other clients make', async (context) => {
  const { page, env, go, events } = await openInspector(context)
  await sendRequest(env, '/v1/messages?limit=1')
  await expect.poll(() => requestRows(page).count()).toBe(1)
  await env.reset()
  await page.getByRole('heading', { name: 'No requests yet' }).waitFor()
  await env.clock.set('2030-02-03T04:05:06Z')
  await page.getByRole('button', { name: /^Clock: 2030-02-03 04:05/ }).waitFor()

  await go('#/integrations')
  await page.getByRole('link', { name: /^SendGrid/ }).waitFor()
  await env.integrations.add({
    identifier: 'theirs',
    name: 'Theirs',
    providerId: 'ses',
    channel: 'email'
  })
  await page.getByRole('link', { name: /^Theirs/ }).waitFor()
  await env.faults.add({ times: 'always', effect: { status: 503 } })
  await page.getByRole('button', { name: /1 fault/ }).waitFor()
  await env.reset()
  await page.getByRole('link', { name: /^Theirs/ }).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: /1 fault/ }).waitFor({ state: 'detached' })
  expect(events.troubles).toEqual([])
})

test("a list under the mouse doesn't change until the mouse leaves it", async (context) => {
  const { page, env } = await openInspector(context, { hash: '#/messages' })
  await items(page).nth(1).hover()
  const first = await items(page).first().innerText()
  await env.messages.add({ channel: 'sms', content: 'Newest of all' })
  await delay(2000)
  expect(await items(page).first().innerText()).toBe(first)
  await page.mouse.move(700, 5)
  await page.getByRole('link', { name: /Newest of all/ }).waitFor()
})

test('a burst of changes causes only a few reloads, and only of visible data', async (context) => {
  const { page, env, events } = await openInspector(context, { hash: '#/integrations' })
  await page.getByRole('link', { name: /^SendGrid/ }).waitFor()
  events.requested.length = 0
  for (let count = 0; count < 41; count++) {
    const integration = count % 2 === 0 ? 'mailgun-eu' : 'sendgrid-main'
    await sendRequest(env, `/v1/integrations/${integration}/set-primary`, { method: 'POST' })
  }
  const mailgun = page.getByRole('switch', { name: 'Mailgun (EU) is primary' })
  await expect.poll(() => mailgun.isChecked()).toBe(true)
  const paths = events.requested.map((url) => new URL(url).pathname)
  expect(paths.filter((path) => path === '/_mock/integrations').length).toBeLessThan(10)
  expect(paths.filter((path) => /clock|faults|latency|keys/.test(path))).toEqual([])
})

/** Creates an environment for a test, sends a request with a typo, and describes the test. */
async function runTest({ mock }: OpenedInspector, title: string, outcome: 'passed' | 'failed') {
  const env = await mock.environment({ from: 'Development', name: `of ${title}` })
  await sendRequest(env, '/v1/messages?limt=1')
  await env.describeTest({ title, file: 'shop.test.ts:7', outcome })
  return env
}

test('the list of environments shows new tests, and links to removed tests', async (context) => {
  const inspector = await openInspector(context, { viewport: { width: 390, height: 800 } })
  const { page } = inspector
  await page.getByRole('button', { name: 'Environment Development' }).click()
  await page.getByRole('button', { name: 'All environments and tests…' }).click()
  const first = await runTest(inspector, 'pays', 'failed')
  await runTest(inspector, 'ships', 'passed')
  const rows = page.getByRole('list', { name: 'Environments' }).getByRole('link')
  await rows.filter({ hasText: 'ships' }).waitFor()
  expect((await rows.allInnerTexts()).slice(-2).map((text) => text.split('\n')[0])).toEqual([
    'ships',
    'pays'
  ])
  await first.remove()
  await page.getByRole('searchbox', { name: 'Search environments' }).fill('failed removed')
  await rows.filter({ hasText: 'failed · removed · shop.test.ts:7 · of pays' }).waitFor()
  expect(await rows.count()).toBe(1)
  await expectAccessible(inspector)
  await rows.click()
  await page.getByRole('heading', { name: 'pays', exact: true }).waitFor()
  await page.getByText('has no parameter limt').first().waitFor()
  await expectAccessible(inspector)
  await page.getByRole('link', { name: 'Open another environment' }).click()
  await page.getByRole('button', { name: 'Environment Development' }).waitFor()
})
