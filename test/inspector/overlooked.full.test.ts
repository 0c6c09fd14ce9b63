import { expect, test } from 'vitest'
import { ask, givenInspector, requestRows } from '../support/inspector.js'

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
