import { expect, test } from 'vitest'
import { ask, givenInspector, requestRows } from '../support/inspector.js'

test('every view tells that a fault is on, also one that a test has set, and a faulted request leads to it', async (context) => {
  const { page, env } = await givenInspector(context, { hash: '#/workflows' })
  await env.faults.add({ operation: 'listMessages', times: 2, effect: { status: 503 } })
  expect(await ask(env, '/v1/messages')).toBe(503)
  await page.getByRole('button', { name: /1 fault/ }).waitFor()
  expect(await ask(env, '/v1/messages')).toBe(503)
  await page.getByRole('button', { name: /1 fault/ }).waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'Requests' }).click()
  await requestRows(page).first().click()
  await page.getByRole('link', { name: 'The rule fault-1' }).click()
  await page.waitForURL((url) => url.hash.startsWith('#/faults'))
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

test('a list that the server did not answer says so in words', async (context) => {
  const { page, url } = await givenInspector(context, { hash: '#/workflows' })
  await page.getByRole('link', { name: 'Messages' }).waitFor()
  await page.route('**/v1/messages**', (route) => route.abort())
  await page.getByRole('link', { name: 'Messages' }).click()
  await page.getByRole('alert').getByText(`no answer from ${url}`).waitFor()
  await page.unroute('**/v1/messages**')
  await page.getByRole('alert').getByRole('button', { name: 'Try again' }).click()
  await page.locator('main [data-item]').first().waitFor()
})

test('beside a list of messages or integrations, what is open follows the arrows, and Escape closes it where one was', async (context) => {
  const { page, go } = await givenInspector(context, { hash: '#/messages' })
  const hash = () => new URL(page.url()).hash
  const focused = () => page.evaluate('document.activeElement?.getAttribute("href")')
  const items = page.locator('main [data-item]')
  for (const view of ['messages', 'integrations']) {
    await go(`#/${view}`)
    await items.nth(2).waitFor()
    const first = (await items.nth(1).getAttribute('href')) ?? ''
    const second = (await items.nth(2).getAttribute('href')) ?? ''
    await items.nth(1).focus()
    await page.keyboard.press('Enter')
    await expect.poll(hash).toBe(first)
    await page.getByTitle('Close (Esc)').waitFor()
    await page.keyboard.press('ArrowDown')
    await expect.poll(hash).toBe(second)
    await expect.poll(focused).toBe(second)
    await page.keyboard.press('Escape')
    await expect.poll(hash).toBe(`#/${view}`)
    await expect.poll(focused).toBe(second)
  }
})
