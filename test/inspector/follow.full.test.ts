import type { Page } from '@playwright/test'
import { expect, test } from 'vitest'
import type { AttachedEnvironment } from '../../src/client/index.js'
import { expectAccessible, givenInspector } from '../support/inspector.js'

/** Sends a request as a product does. */
async function ask({ url, headers }: AttachedEnvironment, path: string): Promise<number> {
  return (await fetch(url + path, { headers })).status
}

const note = (page: Page) => page.getByRole('status').getByText('Meanwhile another client did this')
const items = (page: Page) => page.locator('main [data-item]')

test('an opened request shows what was done to the environment between the requests, in order and with the times apart', async (context) => {
  const inspector = await givenInspector(context, { colorScheme: 'dark' })
  const { page, env, go } = inspector
  await env.clock.set('2030-01-01T00:00:00Z')
  await ask(env, '/v1/messages?limit=1')
  await env.clock.advance('1h')
  await env.snapshot('before <b>it</b>')
  await env.faults.add({ effect: { status: 503 } })
  await ask(env, '/v1/messages?limit=2')
  for (let count = 0; count < 7; count += 1) await env.latency.set('none')
  await env.clock.set('2030-01-01T00:30:00Z')
  await go('#/requests/2')
  const rows = page.getByRole('region', { name: 'Request 2' }).getByRole('listitem')
  await expect.poll(() => rows.count()).toBe(11)
  const texts = (await rows.allInnerTexts()).map((text) => text.replace(/\s+/g, ' '))
  expect(texts).toEqual([
    'change Set the clock',
    '+0.0 ms 200 GET /v1/messages?limit=1',
    '+1 h change Advance the clock',
    '+0.0 ms change Take a snapshot before <b>it</b>',
    '+0.0 ms change Add a fault rule',
    '+0.0 ms 503 GET /v1/messages?limit=2 faulted',
    '+0.0 ms change 3 others, then: Set the latency',
    ...Array.from({ length: 3 }, () => '+0.0 ms change Set the latency'),
    '−30 min change Set the clock'
  ])
  await expectAccessible(inspector)
  // One that is made by the page itself.
  await page.getByRole('button', { name: 'Fail the next one like it' }).click()
  await expect
    .poll(async () => (await rows.last().innerText()).replace(/\s+/g, ' '))
    .toContain('change Add a fault rule')
  expect(await note(page).count()).toBe(0)
})

test('the page follows what others do: a reset, the clock, records and rules', async (context) => {
  const { page, env, go, events } = await givenInspector(context)
  const line = (name: string) => page.getByRole('link', { name, exact: true })
  await ask(env, '/v1/messages?limit=1')
  await line('GET /v1/messages?limit=1').waitFor()
  await env.reset()
  await ask(env, '/v1/messages?limit=2')
  await line('GET /v1/messages?limit=2').waitFor()
  await line('GET /v1/messages?limit=1').waitFor({ state: 'detached' })
  await env.clock.set('2030-02-03T04:05:06Z')
  await page.getByRole('button', { name: 'Clock stopped 2030-02-03 04:05' }).waitFor()
  // It stays one line, also where the time of a stopped clock is told.
  expect(page.viewportSize()?.width).toBe(1280)
  const bar = await page.locator('.top').boundingBox()
  const button = await page.getByRole('button', { name: 'Reset' }).boundingBox()
  expect(bar?.height).toBeLessThan(2 * (button?.height ?? 0))

  await go('#/integrations')
  await line('SendGrid').first().or(items(page).first()).first().waitFor()
  await env.integrations.add({ identifier: 'theirs', name: 'Theirs', providerId: 'ses', channel: 'email' })
  await page.getByRole('link', { name: /^Theirs/ }).waitFor()
  await env.faults.add({ times: 'always', effect: { status: 503 } })
  await page.getByRole('link', { name: 'Faults 1 on' }).waitFor()
  await env.reset()
  await page.getByRole('link', { name: /^Theirs/ }).waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'Faults', exact: true }).waitFor()
  expect(await note(page).count()).toBe(0)
  expect(events.troubles).toEqual([])
})

test('what one types or reads stays as it is while others change it, and says so; what the page does is loaded once', async (context) => {
  const inspector = await givenInspector(context, { hash: '#/integrations/sendgrid-main' })
  const { page, env, events, go } = inspector
  await page.getByRole('button', { name: 'Edit' }).click()
  const form = page.getByRole('dialog', { name: /^Edit/ })
  const name = form.getByLabel('name', { exact: true })
  await name.fill('Typed by me')
  await env.integrations.remove('sendgrid-main')
  await form.getByText('Remove an integration (sendgrid-main). What you see is from before. Your form').waitFor()
  await expectAccessible(inspector)
  expect(await name.inputValue()).toBe('Typed by me')
  await form.getByRole('button', { name: 'Show it now' }).click()
  await page.getByRole('heading', { name: 'There is no integration sendgrid-main' }).waitFor()
  expect(await note(page).count()).toBe(0)

  await page.getByRole('button', { name: 'Add an integration' }).click()
  const add = page.getByRole('dialog', { name: 'Add an integration' })
  await add.getByLabel('providerId').fill('ses')
  await add.getByLabel('channel').selectOption('email')
  await add.getByLabel('name', { exact: true }).fill('Mine')
  const loads = () => events.requested.filter((each) => each.endsWith('/_mock/integrations')).length
  const before = loads()
  await add.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByRole('link', { name: /^Mine/ }).waitFor()
  // By then the page has been told of its own change too.
  await env.clock.set('2030-01-01T00:00:00Z')
  await page.getByRole('button', { name: /^Clock stopped/ }).waitFor()
  await expect.poll(loads).toBe(before + 3)

  await go('#/messages')
  await items(page).nth(1).hover()
  const first = await items(page).first().innerText()
  await env.messages.add({ channel: 'sms', content: 'Newest of all' })
  await note(page).waitFor()
  expect(await items(page).first().innerText()).toBe(first)
  await page.mouse.move(400, 5)
  await page.getByRole('link', { name: /Newest of all/ }).waitFor()
  await note(page).waitFor({ state: 'detached' })
})
