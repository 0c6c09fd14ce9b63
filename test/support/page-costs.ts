import type { Page } from '@playwright/test'

/** What a page costs the browser, by its own count, from here on. */
export async function watchPage(page: Page) {
  await page.evaluate(`
    window.longTasks = []
    new PerformanceObserver((list) => longTasks.push(...list.getEntries().map(({ duration }) => duration)))
      .observe({ type: 'longtask' })
  `)
  const devtools = await page.context().newCDPSession(page)
  return {
    /** How long each task of over 50 ms has taken, in milliseconds. */
    longTasks: () => page.evaluate<number[]>('longTasks'),
    /** Bytes in use after a collection of garbage. */
    async heap(): Promise<number> {
      await devtools.send('HeapProfiler.collectGarbage')
      return (await devtools.send('Runtime.getHeapUsage')).usedSize
    }
  }
}
