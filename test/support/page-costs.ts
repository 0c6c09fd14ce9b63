import type { Page } from '@playwright/test'

/** Measures a page's rows, elements and memory, none of which depend on the machine's speed. */
export async function measurePage(page: Page) {
  await page.evaluate(`
    window.maxRows = 0
    new MutationObserver(() => {
      maxRows = Math.max(maxRows, document.querySelectorAll('.list li').length)
    }).observe(document.body, { childList: true, subtree: true })
  `)
  const devtools = await page.context().newCDPSession(page)
  return {
    /** Returns the largest number of list rows that existed at the same time. */
    maxRows: () => page.evaluate<number>('maxRows'),
    /** Returns the number of elements in the page. */
    elements: () => page.evaluate<number>('document.querySelectorAll("*").length'),
    /** Collects garbage, then returns the used size of the JavaScript heap in bytes. */
    async heap(): Promise<number> {
      await devtools.send('HeapProfiler.collectGarbage')
      return (await devtools.send('Runtime.getHeapUsage')).usedSize
    }
  }
}
