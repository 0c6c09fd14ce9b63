/**
 * Makes pictures of the inspector, of each view in light and dark, wide and narrow: `npm run screenshots`.
 *
 *     npx tsx scripts/screenshots.ts [folder]     by default screenshots/, which git ignores
 *
 * Two of them stand in the README: they are written to docs/ as well.
 */
import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, chromium } from '@playwright/test'
import { createMock, type Mock } from '../src/index.js'

const root = join(import.meta.dirname, '..')
const folder = process.argv[2] ?? join(root, 'screenshots')

/** What each picture shows, by its name: an address of the page. */
const VIEWS: Record<string, string> = {
  requests: '#/requests',
  overview: '#/requests/overview',
  messages: '#/messages?channel=email',
  integrations: '#/integrations',
  workflows: '#/workflows/order-shipped/email-step',
  faults: '#/faults',
  coverage: '#/coverage'
}
const OPENED = ['messages', 'integrations']
const WIDTHS = { 390: 844, 820: 1000, 1280: 800, 1920: 1080 }
const IN_DOCS = ['requests-light-1280', 'messages-dark-1280']

await using mock = await createMock({ port: 0, logLevel: 'silent' })
await useAsProductsDo(mock)
mkdirSync(folder, { recursive: true })
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
try {
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const [width, height] of Object.entries(WIDTHS)) {
      await picture(browser, colorScheme, { width: Number(width), height })
    }
  }
} finally {
  await browser.close()
}
for (const name of IN_DOCS) copyFileSync(join(folder, `${name}.png`), join(root, `docs/inspector-${name}.png`))

async function picture(browser: Browser, colorScheme: 'light' | 'dark', viewport: { width: number; height: number }) {
  const page = await browser.newPage({ colorScheme, viewport })
  for (const [name, address] of Object.entries(VIEWS)) {
    await page.goto(`${mock.url}/${address}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    // Where there is room for it, with the first one open.
    if (viewport.width >= 760 && OPENED.includes(name)) await page.locator('main [data-item]').first().click()
    // The page keeps a stream open, so the network is never idle.
    await page.waitForTimeout(700)
    const file = `${name}-${colorScheme}-${viewport.width}.png`
    await page.screenshot({ path: join(folder, file) })
    console.log(file)
  }
  await page.close()
}

/** Some requests of a product, good and bad ones, so that there is something to see. */
async function useAsProductsDo({ url, attach, apiKeys, listEnvironments }: Mock): Promise<void> {
  const [{ environmentId } = { environmentId: '' }] = await listEnvironments()
  const [apiKey = ''] = await apiKeys(environmentId)
  const env = attach(apiKey)
  await env.faults.add({ operation: 'listMessages', match: { query: { channel: 'push' } }, effect: { status: 429 } })
  const { headers } = env
  const keyed = { ...headers, 'idempotency-key': 'make-mailgun-primary' }
  const post = { method: 'POST', headers: keyed }
  for (const [path, options] of [
    ['/v1/messages?channel=email&limit=5', { headers }],
    ['/v1/messages?chanel=email', { headers }],
    ['/v2/workflows/order-shipped/steps/email-step', { headers }],
    ['/v2/workflows/order-shiped/steps/email-step', { headers }],
    ['/v1/integrations/mailgun-eu/set-primary', post],
    ['/v1/integrations/mailgun-eu/set-primary', post],
    ['/v1/messages?channel=push', { headers }],
    ['/v1/messages?limit=5000', { headers }],
    ['/v1/subscribers', { headers }],
    ['/v1/messages?subscriberId=user-ada', { headers: { authorization: 'ApiKey develpment-key' } }],
    ['/v1/messages?subscriberId=user-ada&limit=10', { headers }]
  ] as const) {
    await (await fetch(url + path, options)).text()
  }
}
