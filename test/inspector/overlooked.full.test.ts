import { expect, test } from 'vitest'
import { ask, givenInspector, requestRows } from '../support/inspector.js'

test('who waits for requests is told of another environment that they came to, and taken there', async (context) => {
  const { page, mock, events } = await givenInspector(context)
  await page.getByRole('heading', { name: 'Nothing has come yet' }).waitFor()
  const production = (await mock.listEnvironments()).find(({ name }) => name === 'Production')
  const [key = ''] = await mock.apiKeys(production?.environmentId ?? '')
  // It expires, and would not if it were looked at again and again.
  const passing = await mock.environment({ name: 'Passing', ttl: '1h' })
  await ask(passing, '/v1/messages?limit=2')
  await ask(mock.attach(key), '/v1/messages?limit=1')
  await page.getByText('Requests have come with the key of').getByRole('link', { name: 'Production' }).click()
  await requestRows(page).filter({ hasText: 'limit=1' }).waitFor()
  await page.getByRole('button', { name: 'Environment Production' }).waitFor()
  expect(events.requested.filter((asked) => asked.includes(passing.id))).toEqual([])
})

test('a request for what another environment has tells which one', async (context) => {
  const { page, env, mock } = await givenInspector(context)
  const production = (await mock.listEnvironments()).find(({ name }) => name === 'Production')
  const [key = ''] = await mock.apiKeys(production?.environmentId ?? '')
  const [integration] = await mock.attach(key).integrations.list()
  await ask(env, `/v1/integrations/${integration?._id}/set-primary`, { method: 'POST' })
  const hint = page.getByText('has it: was the key of that environment meant?')
  await hint.getByRole('link', { name: 'Production' }).click()
  await page.waitForURL((url) => url.hash.startsWith('#/integrations?environment=Production'))
})

test('the arrow down goes on from the search to the list', async (context) => {
  const { page, env } = await givenInspector(context)
  await ask(env, '/v1/messages')
  await requestRows(page).first().waitFor()
  await page.locator('body').press('/')
  await page.keyboard.type('messages')
  expect(await page.getByRole('searchbox').inputValue()).toBe('messages')
  await expect.poll(() => new URL(page.url()).hash).toContain('q=messages')
  await page.keyboard.press('ArrowDown')
  await expect.poll(() => page.evaluate('document.activeElement.matches("[data-item]")')).toBe(true)
})

test('in a narrow window everything of the bar and every view stands in sight', async (context) => {
  const { page } = await givenInspector(context, { viewport: { width: 390, height: 800 } })
  await page.getByRole('heading', { name: 'Requests', exact: true }).waitFor()
  const parts = [
    page.getByRole('banner').getByRole('button'),
    page.getByRole('navigation', { name: 'Views' }).getByRole('link')
  ]
  for (const part of parts) {
    expect(await part.count()).toBeGreaterThanOrEqual(5)
    for (const each of await part.all()) {
      const box = await each.boundingBox()
      expect(box && box.x >= 0 && box.x + box.width <= 390 && box.y + box.height <= 800).toBe(true)
    }
  }
})
