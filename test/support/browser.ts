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
  /** What the page asked for, and what went wrong in it. */
  events: { requested: string[]; troubles: string[] }
}

let browser: Promise<Browser> | undefined

/** A new page of a browser that the tests of this process share, with storage of its own. */
export async function openPage(
  context: TestContext,
  options: BrowserContextOptions = {}
): Promise<OpenedPage> {
  // In CI there must be one.
  if (!existsSync(CHROMIUM) && !process.env.CI)
    context.skip(`there is no ${CHROMIUM} to look at the page with`)
  browser ??= chromium.launch({ executablePath: CHROMIUM, args: FLAGS })
  const own = await (await browser).newContext(options)
  onTestFinished(() => own.close())
  const events: OpenedPage['events'] = { requested: [], troubles: [] }
  own.on('request', (request) => events.requested.push(request.url()))
  own.on('requestfailed', (request) => {
    // What was still loading when one left the page, as the inspector's stream always is.
    const isLeft = request.failure()?.errorText === 'net::ERR_ABORTED'
    if (!isLeft) events.troubles.push(`${request.url()} ${request.failure()?.errorText}`)
  })
  own.on(
    'response',
    (response) => response.ok() || events.troubles.push(`${response.url()} ${response.status()}`)
  )
  own.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning')
      events.troubles.push(message.text())
  })
  own.on('weberror', (error) => events.troubles.push(String(error.error())))
  return { page: await own.newPage(), events }
}
