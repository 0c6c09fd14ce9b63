import { expect, test } from 'vitest'
import { openInspector } from '../support/inspector.js'

test('a narrow window shows every button of the bar and the link of every view', async (context) => {
  const { page } = await openInspector(context, { viewport: { width: 390, height: 800 } })
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
