import { existsSync } from 'node:fs'
import { type Browser, type BrowserContextOptions, chromium, type Page } from '@playwright/test'
import { onTestFinished, type TestContext } from 'vitest'

const CHROMIUM = '/usr/bin/chromium'
const FLAGS = [
  '--host-resolver-rules=MAP mock.test 127.0.0.1',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync'
]

export interface OpenedPage {
  page: Page
  /**
   * `requested` contains the URLs of all requests. `troubles` contains uncaught errors, console
   * errors and warnings, and failed requests.
   */
  events: { requested: string[]; troubles: string[] }
}

let browser: Promise<Browser> | undefined

/** Opens a page with its own storage, in a browser that all tests of this process share. */
export async function openPage(
  context: TestContext,
  options: BrowserContextOptions = {}
): Promise<OpenedPage> {
  // In CI, never skip the test, because CI must have the browser.
  if (!existsSync(CHROMIUM) && !process.env.CI)
    context.skip(`needs a browser: ${CHROMIUM} does not exist`)
  browser ??= chromium.launch({ executablePath: CHROMIUM, args: FLAGS })
  const browserContext = await (await browser).newContext(options)
  onTestFinished(() => browserContext.close())
  const events: OpenedPage['events'] = { requested: [], troubles: [] }
  browserContext.on('request', (request) => events.requested.push(request.url()))
  browserContext.on('requestfailed', (request) => {
    // Leaving a page aborts its open requests, such as the inspector's stream.
    const isAborted = request.failure()?.errorText === 'net::ERR_ABORTED'
    if (!isAborted) events.troubles.push(`${request.url()} ${request.failure()?.errorText}`)
  })
  browserContext.on(
    'response',
    (response) => response.ok() || events.troubles.push(`${response.url()} ${response.status()}`)
  )
  browserContext.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning')
      events.troubles.push(message.text())
  })
  browserContext.on('weberror', (error) => events.troubles.push(String(error.error())))
  return { page: await browserContext.newPage(), events }
}
