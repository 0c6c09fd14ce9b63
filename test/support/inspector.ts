import { AxeBuilder } from '@axe-core/playwright'
import type { BrowserContextOptions, Locator, Page } from '@playwright/test'
import { expect, type TestContext } from 'vitest'
import { type AttachedEnvironment, type ConnectedMock, connect } from '../../src/client/index.js'
import { type OpenedPage, openPage } from './browser.js'
import { startCommand } from './process.js'

export interface OpenedInspector extends OpenedPage {
  url: string
  mock: ConnectedMock
  /** The environment that the page opens with: the first one. */
  env: AttachedEnvironment
  /** Goes to an address of the page, such as `#/messages?channel=email`. */
  go(hash: string): Promise<void>
}

interface Options extends BrowserContextOptions {
  /** Arguments of the server. */
  args?: readonly string[]
  hash?: string
}

/** The page of a server of its own, built from the source as it is now. */
export async function openInspector(
  context: TestContext,
  { args = [], hash = '', ...options }: Options = {}
): Promise<OpenedInspector> {
  const { url } = await startCommand(args)
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

/** Expects that the page as it is now has nothing that keeps people from using it. */
export async function expectAccessible({ page }: Pick<OpenedPage, 'page'>): Promise<void> {
  // What is still appearing is half transparent, and so has another contrast.
  await page.evaluate(`Promise.allSettled(document.getAnimations()
    .filter(({ effect }) => effect?.getTiming().iterations !== Infinity).map(({ finished }) => finished))`)
  // In a sandboxed frame no script of axe runs, and what it shows is not ours.
  const { violations } = await new AxeBuilder({ page })
    .exclude('iframe[sandbox]')
    .options({ rules: { 'target-size': { enabled: true } } })
    .analyze()
  const found = violations.map(
    ({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(' | ')}`
  )
  expect(found).toEqual([])
}

/** Expects it in the light theme and in the dark one. */
export async function expectAccessibleInBoth({ page }: Pick<OpenedPage, 'page'>): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await expectAccessible({ page })
  }
}

/** Clicks in a page that are counted, to tell how many a task takes. */
export function countClicks() {
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

/** The rows of the list of requests. */
export const requestRows = (page: Page) =>
  page.getByRole('list', { name: 'Requests, newest first' }).getByRole('link')

/** Sends a request as an app does. Returns the status. */
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
