import type { Page } from '@playwright/test'
import { expect, test } from 'vitest'
import type { AttachedEnvironment } from '../../src/client/index.js'
import { expectAccessible, openInspector, sendRequest } from '../support/inspector.js'

/** Opens the palette and enters a search text. */
async function search(page: Page, text: string): Promise<void> {
  // Press Escape only if the palette is open. Otherwise, Escape would close the open request.
  if (await page.getByRole('combobox').isVisible()) await page.keyboard.press('Escape')
  await page.getByRole('combobox').waitFor({ state: 'detached' })
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').waitFor()
  await page.keyboard.insertText(text)
}

/** Searches the palette for the text, and runs the only command that matches. */
async function run(page: Page, text: string): Promise<void> {
  await search(page, text)
  const option = page.getByRole('option', { name: text })
  await option.waitFor()
  expect(await page.getByRole('option').count()).toBe(1)
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
}

const CHANGING = ['clock +1', 'built-in seed', 'reset', 'latency', 'fault', 'primary for', 'replay']

test('Enter in the palette changes nothing unless the user selects a command', async (context) => {
  const { page, env } = await openInspector(context)
  await sendRequest(env, '/v1/messages?limit=5000')
  await page.getByRole('button', { name: 'Replay' }).waitFor()
  for (const text of CHANGING) {
    await search(page, text)
    await page.getByText('Press ↓ to choose an action that changes something').waitFor()
    expect(await page.getByRole('option', { selected: true }).count()).toBe(0)
    await page.keyboard.press('Enter')
    await page.getByRole('combobox').waitFor()
  }
  await search(page, '')
  await page.getByRole('option', { name: 'Go to Requests', selected: true }).waitFor()
  expect(await env.requests.list()).toHaveLength(1)
  expect((await env.clock.get()).setting).toEqual({ mode: 'wall' })
  await run(page, 'Replay the open request')
  await page.getByText('Now · 422').waitFor()
})

test('the palette preselects a record, not a command that changes something', async (context) => {
  const { page } = await openInspector(context, { hash: '#/messages' })
  await search(page, 'mailgun')
  await page.getByRole('option', { name: 'Make Mailgun (EU) primary for email' }).waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL('**/#/integrations/mailgun-eu')
})

test('the palette shows all names in full, even on a phone', async (context) => {
  const { page } = await openInspector(context, { viewport: { width: 390, height: 800 } })
  await page.getByRole('button', { name: 'Find anything' }).click()
  await page.getByRole('option', { name: 'built-in seed' }).first().waitFor()
  const cut = await page.evaluate(`[...document.querySelectorAll('[role=option], [role=option] *')]
    .filter((element) => getComputedStyle(element).display !== 'inline')
    .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
    .map(({ textContent }) => textContent)`)
  expect(cut).toEqual([])
})

test('the palette sets latency, faults and primaries, and undoes each change', async (context) => {
  const { page, env } = await openInspector(context, { hash: '#/workflows' })
  await page.getByRole('heading', { name: 'Workflows', exact: true }).waitFor()
  await run(page, 'Latency: 2 s')
  await expect.poll(async () => (await env.latency.get()).delay).toBe(2000)
  await run(page, 'Fault: Set primary, 503, once')
  await expect.poll(async () => (await env.faults.list()).length).toBe(1)
  await run(page, 'Undo: Set primary: 503, once')
  await expect.poll(async () => (await env.faults.list()).length).toBe(0)
  await run(page, 'Undo: Latency: 2 s')
  await expect.poll(async () => (await env.latency.get()).delay).toBe(0)
  await run(page, 'Make Mailgun (EU) primary for email')
  await expect.poll(() => primaries(env)).toContain('mailgun-eu')
  await run(page, 'Undo: Mailgun (EU) is primary for email')
  await expect.poll(() => primaries(env)).toContain('sendgrid-main')
})

const primaries = async (env: AttachedEnvironment) =>
  (await env.integrations.list()).filter(({ primary }) => primary).map((item) => item.identifier)

test('the palette scrolls to the selected command', async (context) => {
  const { page } = await openInspector(context)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.keyboard.press('Control+k')
  const options = page.getByRole('listbox', { name: 'Results' }).getByRole('option')
  // Wait until the commands that load built-in seeds are listed.
  await options.filter({ hasText: 'built-in seed' }).first().waitFor()
  const count = await options.count()
  for (let index = 1; index < count; index++) await page.keyboard.press('ArrowDown')
  expect(await options.last().getAttribute('aria-selected')).toBe('true')
  const isVisibleInList = async () => {
    const list = await page.getByRole('listbox', { name: 'Results' }).boundingBox()
    const option = await options.last().boundingBox()
    return list && option && option.y + option.height <= list.y + list.height + 1
  }
  await expect.poll(isVisibleInList, { timeout: 20_000 }).toBe(true)
})

test('the palette finds all kinds of records, or reports that nothing matches', async (context) => {
  const inspector = await openInspector(context)
  const { page, env } = inspector
  await sendRequest(env, '/v1/messages?limit=7', { headers: { 'x-request-id': 'trace-4711' } })
  const results = page.getByRole('listbox', { name: 'Results' })
  for (const [text, option] of [
    ['trace-4711', /GET \/v1\/messages\?limit=7.*#1 · 200/],
    ['#1', /GET \/v1\/messages\?limit=7/],
    ['mailgun-eu', /Mailgun \(EU\)/],
    ['order-shipped', /Order shipped/],
    ['user-ada', /Your order is on its way.*email · Ada Byron/],
    ['user-ada', /All messages with “user-ada”/]
  ] as const) {
    await search(page, text)
    await results.getByRole('option', { name: option }).first().waitFor()
  }
  await expectAccessible(inspector)
  // The arrow key selects the first result, even if it is pressed before the results arrive.
  await search(page, 'mailgun-eu')
  await page.keyboard.press('ArrowDown')
  await results.getByRole('option', { name: /Mailgun/, selected: true }).waitFor()
  await search(page, 'no-such-thing-anywhere')
  await page.getByText('No matches').waitFor()
  await expectAccessible(inspector)
})
