import { expect, test } from 'vitest'
import { openInspector } from '../support/inspector.js'

test('a narrow window shows all buttons in the top bar and all links to views', async (context) => {
  const { page } = await openInspector(context, { viewport: { width: 390, height: 800 } })
  await page.getByRole('heading', { name: 'Requests', exact: true }).waitFor()
  const groups = [
    page.getByRole('banner').getByRole('button'),
    page.getByRole('navigation', { name: 'Views' }).getByRole('link')
  ]
  for (const controls of groups) {
    expect(await controls.count()).toBeGreaterThanOrEqual(5)
    for (const control of await controls.all()) {
      const box = await control.boundingBox()
      expect(box && box.x >= 0 && box.x + box.width <= 390 && box.y + box.height <= 800).toBe(true)
    }
  }
})
