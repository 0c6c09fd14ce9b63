import { expect, test } from 'vitest'
import { expectAccessible, openInspector } from '../support/inspector.js'

// Check each page in only one theme, because axe needs many seconds for /docs.
test('the docs are accessible, even on a screen that is 320 pixels wide', async (context) => {
  const viewport = { width: 320, height: 800 }
  const inspector = await openInspector(context, { viewport })
  const { page, url, events } = inspector
  for (const [path, colorScheme] of [
    ['/docs', 'light'],
    ['/docs/types/NewFaultRule', 'dark']
  ] as const) {
    await page.emulateMedia({ colorScheme })
    await page.goto(url + path)
    for (const summary of await page.locator('#listMessages summary, #listRequests summary').all())
      await summary.click()
    await expectAccessible(inspector)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320)
  }
  expect(events.troubles).toEqual([])
})

test('/docs and the files it loads are smaller than 60 KB in total', async (context) => {
  const { page, url, events } = await openInspector(context)
  await page.goto(`${url}/docs?environment=Production`, { waitUntil: 'networkidle' })
  const files = events.requested.filter((file) => file.startsWith(`${url}/docs`))
  expect(files).toContain(`${url}/docs/style.css`)
  const bodies = await Promise.all(files.map(async (file) => (await fetch(file)).arrayBuffer()))
  const size = bodies.reduce((sum, { byteLength }) => sum + byteLength, 0)
  expect(size).toBeLessThan(60_000)
})

test('`Try it` sends a request with the API key of the chosen environment', async (context) => {
  const { page, mock } = await openInspector(context)
  await page.getByRole('button', { name: 'Environment Development' }).click()
  await page.getByRole('button', { name: 'Production', exact: true }).first().click()
  await page.getByRole('button', { name: 'More', exact: true }).click()
  const [docs] = await Promise.all([
    page.context().waitForEvent('page'),
    page.getByRole('button', { name: 'API documentation' }).click()
  ])
  await docs.locator('#listMessages').getByRole('link', { name: 'Try it' }).click()
  await docs.getByRole('button', { name: 'Send', exact: true }).click()
  await docs.getByText('"totalCount"').waitFor()
  const environments = await mock.listEnvironments()
  const production = environments.find(({ name }) => name === 'Production')
  const [key = ''] = await mock.apiKeys(production?.environmentId ?? '')
  expect(await mock.attach(key).requests.list()).toMatchObject([{ operation: 'listMessages' }])
})

test('`Try it` opens the form for a control route', async (context) => {
  const { page, url, env } = await openInspector(context)
  await page.goto(`${url}/docs`)
  await page.locator('#addFault summary').click()
  await page.locator('#addFault').getByRole('link', { name: 'Try it' }).click()
  await page.getByLabel('Body').fill('{"effect":{"status":503}}')
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await page.getByRole('group', { name: 'Response body' }).getByText('503').waitFor()
  expect(await env.faults.list()).toMatchObject([{ effect: { status: 503 } }])
})
