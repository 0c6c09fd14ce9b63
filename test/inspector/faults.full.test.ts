import type { Page } from '@playwright/test'
import { expect, test } from 'vitest'
import { expectAccessible, openInspector, requestRows, sendRequest } from '../support/inspector.js'

/** Clicks Undo in the toast with the given text. Other toasts may also have an Undo button. */
async function undo(page: Page, toastText: string): Promise<void> {
  const toast = page.locator('.toast').filter({ hasText: toastText })
  await toast.getByRole('button', { name: 'Undo' }).click()
}

test("Undo doesn't restore a rule that was used up before it was removed", async (context) => {
  const { page, env } = await openInspector(context, { hash: '#/workflows' })
  const { id } = await env.faults.add({ times: 1, effect: { status: 500 } })
  expect(await sendRequest(env, '/v1/messages')).toBe(500)
  await page.reload()
  await page.getByRole('button', { name: '0 faults' }).click()
  await page.getByRole('button', { name: `Remove ${id}` }).click()
  await undo(page, `Removed ${id}`)
  await page.getByText('Undone').waitFor()
  expect(await sendRequest(env, '/v1/messages')).toBe(200)
})

test('the bar shows and removes faults that other clients have added', async (context) => {
  const { page, env } = await openInspector(context, { hash: '#/workflows' })
  await page.getByRole('button', { name: '0 faults' }).click()
  await env.faults.add({ times: 'always', effect: { status: 429 } })
  await page.getByRole('button', { name: '1 fault', exact: true }).waitFor()
  await env.faults.add({ times: 'always', effect: { status: 429 } })
  await page.getByRole('button', { name: 'Remove fault-2' }).click()
  await expect.poll(async () => (await env.faults.list()).map(({ id }) => id)).toEqual(['fault-1'])
  await page.getByRole('button', { name: 'Remove all' }).click()
  await expect.poll(() => env.faults.list()).toEqual([])
})

test('a button adds a fault for similar requests, and Undo removes the fault', async (context) => {
  const inspector = await openInspector(context)
  const { page, env } = inspector
  await sendRequest(env, '/v1/messages?limit=1')
  await requestRows(page).first().click()
  await page.getByRole('button', { name: 'Fail the next similar requests' }).click()
  await expectAccessible(inspector)
  await page.getByRole('button', { name: '500 twice' }).click()
  await page.getByText('GET /v1/messages: 500, twice').waitFor()
  const statuses = []
  for (let count = 0; count < 3; count += 1)
    statuses.push(await sendRequest(env, '/v1/messages?limit=2'))
  expect(statuses).toEqual([500, 500, 200])
  await page.getByRole('button', { name: 'Fail the next similar requests' }).click()
  await page.getByRole('button', { name: 'Lost response always' }).click()
  await page.getByText('GET /v1/messages: Lost response, always').waitFor()
  await page.getByRole('button', { name: 'Undo' }).last().click()
  await expect.poll(async () => (await env.faults.list()).map(({ times }) => times)).toEqual([2])
})

test('the details of a request name the fault rule that was applied to it', async (context) => {
  const { page, env } = await openInspector(context)
  const { id } = await env.faults.add({ effect: { status: 429 } })
  await sendRequest(env, '/v1/messages')
  await requestRows(page).filter({ hasText: '429' }).click()
  await page.getByText(`rule ${id}`).first().waitFor()
})

const PHONE = { viewport: { width: 390, height: 800 } }

const EFFECTS = [
  { effect: '503', status: 503 },
  { effect: '429', status: 429 },
  { effect: 'Reset', status: undefined },
  { effect: 'Cut off', status: undefined },
  { effect: 'Lost response', status: undefined }
]

test('each effect button applies its effect to the next request', async (context) => {
  const { page, env } = await openInspector(context, PHONE)
  await page.getByRole('button', { name: '0 faults' }).click()
  await page.getByRole('button', { name: 'Any request' }).click()
  const countUnused = async () => (await env.faults.list()).filter(({ hits }) => hits === 0).length
  for (const { effect, status } of EFFECTS) {
    await page.getByRole('button', { name: effect, exact: true }).click()
    await expect.poll(countUnused).toBe(1)
    expect(await sendRequest(env, '/v1/messages').catch(() => undefined)).toBe(status)
  }
})

test('the effect Timeout delays responses by a minute', async (context) => {
  const { page, env } = await openInspector(context, PHONE)
  await page.getByRole('button', { name: '0 faults' }).click()
  await page.getByRole('button', { name: 'always' }).click()
  await page.getByRole('button', { name: 'Timeout' }).click()
  await expect.poll(async () => (await env.faults.list()).at(-1)?.effect).toEqual({ delay: 60_000 })
})

const RULE = {
  operation: 'listMessages',
  match: { query: { channel: 'email' } },
  every: 2,
  effect: { status: 502 }
} as const

test('a rule can be written as JSON, and each error is shown at its line', async (context) => {
  const inspector = await openInspector(context, PHONE)
  const { page } = inspector
  await page.getByRole('button', { name: '0 faults' }).click()
  await page.getByRole('button', { name: 'Write a rule as JSON…' }).click()
  const dialog = page.getByRole('dialog', { name: 'New fault rule' })
  const invalidRule = { ...RULE, effect: { status: 200 } }
  await dialog.getByLabel('JSON').fill(JSON.stringify(invalidRule, null, 2))
  await dialog.getByRole('button', { name: 'Add the rule' }).click()
  await dialog.getByRole('button', { name: /^Line \d+: effect.status/ }).waitFor()
  await expectAccessible(inspector)
  await dialog.getByLabel('JSON').fill(JSON.stringify(RULE))
  await dialog.getByRole('button', { name: 'Add the rule' }).click()
  const description =
    'List messages: {"status":502}, once ' +
    '{"match":{"query":{"channel":"email"}},"every":2} · hit 0 requests'
  await page.getByText(description).waitFor()
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
})

test('Undo restores all removed rules', async (context) => {
  const { page, env } = await openInspector(context, PHONE)
  await env.faults.add({ times: 'always', effect: { delay: 60_000 } })
  await env.faults.add(RULE)
  await page.getByRole('button', { name: '2 faults' }).click()
  await page.getByRole('button', { name: 'Remove all' }).click()
  await expect.poll(() => env.faults.list()).toEqual([])
  await undo(page, 'Removed all faults')
  await expect
    .poll(() => env.faults.list())
    .toMatchObject([
      { times: 'always', effect: { delay: 60_000 } },
      { every: 2, effect: { status: 502 } }
    ])
})
