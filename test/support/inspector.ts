import { createRequire } from 'node:module'
import { join } from 'node:path'
import { AxeBuilder } from '@axe-core/playwright'
import type { BrowserContextOptions, Locator, Page } from '@playwright/test'
import { expect, onTestFinished, type TestContext } from 'vitest'
import { type AttachedEnvironment, type ConnectedMock, connect } from '../../src/client/index.js'
import { type OpenedPage, openPage } from './browser.js'
import { buildPackage, startCommand } from './process.js'

const require = createRequire(import.meta.url)

export interface OpenedInspector extends OpenedPage {
  url: string
  mock: ConnectedMock
  /** The first environment, which the inspector shows when it opens. */
  env: AttachedEnvironment
  /** Opens a URL of the inspector, such as `#/messages?channel=email`. */
  go(hash: string): Promise<void>
}

interface Options extends BrowserContextOptions {
  /**
   * Command-line arguments of the server. Without them, the server runs in the test's process and
   * has the default seed.
   */
  args?: readonly string[]
  hash?: string
}

/** Starts a server from the current source, and opens its inspector. */
export async function openInspector(
  context: TestContext,
  { args, hash = '', ...options }: Options = {}
): Promise<OpenedInspector> {
  const { url } = await (args ? startCommand(args) : startInProcess())
  const mock = connect(url)
  const [environment] = await mock.listEnvironments()
  const [apiKey = ''] = environment ? await mock.apiKeys(environment.environmentId) : []
  const opened = await openPage(context, options)
  await opened.page.goto(`${url}/${hash}`)
  return {
    ...opened,
    url,
    mock,
    env: mock.attach(apiKey),
    go: async (next) => {
      await opened.page.goto(`${url}/${next}`)
    }
  }
}

/**
 * Starts a server in this process, which takes a tenth of the time of `startCommand`. Closes the
 * server when the test ends.
 */
async function startInProcess(): Promise<{ url: string }> {
  const library = join(await buildPackage(), 'dist/index.cjs')
  const { createMock }: typeof import('../../src/index.js') = require(library)
  const mock = await createMock({ seeds: ['default'], logLevel: 'silent' })
  onTestFinished(() => mock.close())
  return mock
}

/** Expects that axe finds no accessibility violations on the page. */
export async function expectAccessible({ page }: Pick<OpenedPage, 'page'>): Promise<void> {
  // Wait until animations end, because an element that is fading in has a lower contrast.
  await page.evaluate(`Promise.allSettled(document.getAnimations()
    .filter(({ effect }) => effect?.getTiming().iterations !== Infinity)
    .map(({ finished }) => finished))`)
  // Exclude sandboxed frames: axe can't run in them, and they are not part of the inspector.
  const { violations } = await new AxeBuilder({ page })
    .exclude('iframe[sandbox]')
    .options({ rules: { 'target-size': { enabled: true } }, resultTypes: ['violations'] })
    // Without legacy mode, axe opens a second page for each check, which doubles its time.
    .setLegacyMode()
    .analyze()
  const descriptions = violations.map(
    ({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(' | ')}`
  )
  expect(descriptions).toEqual([])
}

/** Runs `expectAccessible` in the light theme and in the dark theme. */
export async function expectAccessibleInBoth({ page }: Pick<OpenedPage, 'page'>): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await expectAccessible({ page })
  }
}

export interface ClickCounter {
  readonly count: number
  click(target: Locator): Promise<void>
}

/** Returns a click counter. Tests click with it, to check how many clicks a task takes. */
export function countClicks(): ClickCounter {
  let count = 0
  return {
    get count(): number {
      return count
    },
    async click(target: Locator): Promise<void> {
      count += 1
      await target.click()
    }
  }
}

/** Locates the rows of the request list. */
export const requestRows = (page: Page) =>
  page.getByRole('list', { name: 'Requests, newest first' }).getByRole('link')

/** Sends a request as an app would, and returns its status. */
export async function sendRequest(
  env: AttachedEnvironment,
  path: string,
  init: RequestInit = {}
): Promise<number> {
  const response = await fetch(env.url + path, {
    ...init,
    headers: { ...env.headers, ...init.headers }
  })
  await response.arrayBuffer()
  return response.status
}
