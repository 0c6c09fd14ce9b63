import type { Page } from '@playwright/test'

/** Starts measuring a page's long tasks and memory, as the browser reports them. */
export async function watchPage(page: Page) {
  await page.evaluate(`
    window.longTasks = []
    new PerformanceObserver((list) => {
      longTasks.push(...list.getEntries().map(({ duration }) => duration))
    }).observe({ type: 'longtask' })
  `)
  const devtools = await page.context().newCDPSession(page)
  return {
    /** Returns the duration of each task above 50 ms, in milliseconds. */
    longTasks: () => page.evaluate<number[]>('longTasks'),
    /** Returns the bytes in use after a garbage collection. */
    async heap(): Promise<number> {
      await devtools.send('HeapProfiler.collectGarbage')
      return (await devtools.send('Runtime.getHeapUsage')).usedSize
    }
  }
}
