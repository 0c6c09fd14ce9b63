import { expect, test } from 'vitest'
import {
  countClicks,
  expectAccessible,
  expectAccessibleInBoth,
  openInspector,
  requestRows,
  sendRequest
} from '../support/inspector.js'

test('three clicks make the next two list calls fail with 500, and every view shows that a fault is active', async (context) => {
  const inspector = await openInspector(context, { hash: '#/workflows' })
  const { page, env } = inspector
  const clicks = countClicks()
  await clicks.click(page.getByRole('button', { name: '0 faults' }))
  await clicks.click(page.getByRole('button', { name: 'twice' }))
  await clicks.click(page.getByRole('button', { name: '500', exact: true }))
  expect(clicks.count).toBe(3)
  await page.getByText(/^List messages: 500, twice .*hit 0 requests/).waitFor()
  await expectAccessibleInBoth(inspector)
  const statuses = []
  for (let count = 0; count < 3; count++) statuses.push(await sendRequest(env, '/v1/messages'))
  expect(statuses).toEqual([500, 500, 200])
  // The page shows the requests as they arrive.
  await page.getByText('hit 2 requests').waitFor()
  await page.getByRole('button', { name: '0 faults' }).waitFor()
  // Undo doesn't renew a fault that is used up.
  const { id: used = '' } = (await env.faults.list())[0] ?? {}
  await page.getByRole('button', { name: `Remove ${used}` }).click()
  const told = page.locator('.toast').filter({ hasText: `Removed ${used}` })
  await told.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('Undone').waitFor()
  expect(await sendRequest(env, '/v1/messages')).toBe(200)
  // Other clients add faults too.
  await page.getByRole('button', { name: '0 faults' }).click()
  await env.faults.add({ times: 'always', effect: { status: 429 } })
  await sendRequest(env, '/v1/messages')
  await page.getByRole('button', { name: '1 fault', exact: true }).waitFor()
  await env.faults.add({ times: 'always', effect: { status: 429 } })
  await page.getByRole('button', { name: 'Remove fault-3' }).click()
  await expect.poll(async () => (await env.faults.list()).map(({ id }) => id)).toEqual(['fault-2'])
  await page.getByRole('button', { name: 'Remove all' }).click()
  await expect.poll(() => env.faults.list()).toEqual([])
  // A request that a fault affected names its rule.
  await page.keyboard.press('Escape')
  await page.getByRole('link', { name: 'Requests' }).click()
  await requestRows(page).filter({ hasText: '429' }).click()
  await page.getByText('rule fault-2').first().waitFor()
})

test('two clicks delay responses by 2 s, and a preset sets its own delay', async (context) => {
  const { page, env } = await openInspector(context, { hash: '#/messages' })
  const clicks = countClicks()
  await clicks.click(page.getByRole('button', { name: '0 faults' }))
  await clicks.click(page.getByRole('button', { name: '2 s', exact: true }))
  await page.getByText('each response is delayed by 2000 ms').waitFor()
  expect([clicks.count, await env.latency.get()]).toEqual([2, { delay: 2000, spread: 0 }])
  await page.getByRole('button', { name: 'Bad' }).click()
  await page.getByText('each response is delayed by at least 400 ms, 1000 ms on average').waitFor()
  await page.getByRole('button', { name: '500 ms', exact: true }).click()
  await page.getByText('each response is delayed by 500 ms').waitFor()
  await sendRequest(env, '/v1/messages')
  expect((await env.requests.list()).at(-1)?.flags.delayed).toBe(500)
  await page.getByRole('button', { name: 'None' }).click()
  await expect.poll(async () => (await env.latency.get()).delay).toBe(0)
})

test('each fault affects the client as named, a rule can be written as JSON, and rules are described in words', async (context) => {
  const inspector = await openInspector(context, { viewport: { width: 390, height: 800 } })
  const { page, env } = inspector
  await page.getByRole('button', { name: '0 faults' }).click()
  await page.getByRole('button', { name: 'Any request' }).click()
  for (const [name, met] of [
    ['503', 503],
    ['429', 429],
    ['Reset', undefined],
    ['Cut off', undefined],
    ['Lost response', undefined]
  ] as const) {
    await page.getByRole('button', { name, exact: true }).click()
    await expect
      .poll(async () => (await env.faults.list()).filter(({ hits }) => hits === 0).length)
      .toBe(1)
    expect(await sendRequest(env, '/v1/messages').catch(() => undefined)).toBe(met)
  }
  await page.getByRole('button', { name: 'always' }).click()
  await page.getByRole('button', { name: 'Timeout' }).click()
  await expect.poll(async () => (await env.faults.list()).at(-1)?.effect).toEqual({ delay: 60_000 })
  await page.getByRole('button', { name: 'Write a rule as JSON…' }).click()
  const dialog = page.getByRole('dialog', { name: 'New fault rule' })
  const rule = {
    operation: 'listMessages',
    match: { query: { channel: 'email' } },
    every: 2,
    effect: { status: 200 }
  }
  await dialog.getByLabel('JSON').fill(JSON.stringify(rule, null, 2))
  await dialog.getByRole('button', { name: 'Add the rule' }).click()
  await dialog.getByRole('button', { name: /^Line \d+: effect.status/ }).waitFor()
  await expectAccessible(inspector)
  await dialog.getByLabel('JSON').fill(JSON.stringify({ ...rule, effect: { status: 502 } }))
  await dialog.getByRole('button', { name: 'Add the rule' }).click()
  await page
    .getByText(
      'List messages: {"status":502}, once {"match":{"query":{"channel":"email"}},"every":2} · hit 0 requests'
    )
    .waitFor()
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  await page.getByRole('button', { name: 'Remove all' }).click()
  await expect.poll(() => env.faults.list()).toEqual([])
  // Earlier toasts also have an Undo button.
  const told = page.locator('.toast').filter({ hasText: 'Removed all faults' })
  await told.getByRole('button', { name: 'Undo' }).click()
  await expect
    .poll(async () => (await env.faults.list()).at(-1))
    .toMatchObject({ every: 2, effect: { status: 502 } })
})
