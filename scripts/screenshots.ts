/**
 * Takes screenshots of a report and of each view of the inspector, in both color schemes and at
 * four widths. Copies the screenshots that the README and the docs show to docs/. Run
 * `npm run build` first, because the report uses the template of the last build.
 *
 *     npm run screenshots
 *     npx tsx scripts/screenshots.ts [folder]     default: screenshots/, which git ignores
 */
import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Browser, chromium } from '@playwright/test'
import { createMock, type Environment, type Mock } from '../src/index.js'

const root = join(import.meta.dirname, '..')
const folder = process.argv[2] ?? join(root, 'screenshots')

/** The URL fragment of each view. */
const VIEWS: Record<string, string> = {
  requests: '#/requests',
  messages: '#/messages?channel=email',
  integrations: '#/integrations',
  workflows: '#/workflows/order-shipped/email-step',
  coverage: '#/coverage'
}
const OPENED = ['messages', 'integrations']
const WIDTHS = { 390: 844, 820: 1000, 1280: 800, 1920: 1080 }
const IN_DOCS = ['requests-light-1280', 'messages-dark-1280', 'requests-dark-390']

await using mock = await createMock({ port: 0, logLevel: 'silent' })
await sendSampleRequests(mock)
mkdirSync(folder, { recursive: true })
const report = join(folder, 'report.html')
await writeReport(report)
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox']
})
try {
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const [width, height] of Object.entries(WIDTHS)) {
      await takeScreenshots(browser, colorScheme, { width: Number(width), height })
    }
  }
} finally {
  await browser.close()
}
for (const name of IN_DOCS)
  copyFileSync(join(folder, `${name}.png`), join(root, `docs/inspector-${name}.png`))
copyFileSync(join(folder, 'report-light-1280.png'), join(root, 'docs/report-light-1280.png'))

async function takeScreenshots(
  browser: Browser,
  colorScheme: 'light' | 'dark',
  viewport: { width: number; height: number }
) {
  const page = await browser.newPage({ colorScheme, viewport })
  for (const [name, fragment] of Object.entries(VIEWS)) {
    await page.goto(`${mock.url}/${fragment}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    // On wide screens, open the first item of the list.
    if (viewport.width >= 760 && OPENED.includes(name))
      await page.locator('main [data-item]').first().click()
    // Wait for a fixed time: the inspector keeps a stream open, so the network never becomes idle.
    await page.waitForTimeout(700)
    const file = `${name}-${colorScheme}-${viewport.width}.png`
    await page.screenshot({ path: join(folder, file) })
    console.log(file)
  }
  await page.goto(pathToFileURL(report).href)
  await page.getByRole('list', { name: 'Tests' }).waitFor()
  await page.screenshot({ path: join(folder, `report-${colorScheme}-${viewport.width}.png`) })
  await page.close()
}

/** Writes a report with six tests. Three of them fail. */
async function writeReport(file: string): Promise<void> {
  await using mock = await createMock({ port: 0, logLevel: 'silent' })
  const request = (env: Environment, path: string, headers = env.headers) =>
    fetch(env.url + path, { headers })
  await runTest(
    mock,
    'inbox › shows e-mails only',
    'expected 5 email messages, got in_app, push, sms',
    async (env) => {
      await request(env, '/v1/messages?chanel=email&limit=5')
      await request(env, '/v1/messages?page=1')
      await request(env, '/v2/workflows/order-shipped/steps/email-step')
    }
  )
  await runTest(
    mock,
    'settings › loads with the stored key',
    'expected 200, got 401',
    async (env) => {
      await request(env, '/v1/messages', { authorization: 'ApiKey develpment-key' })
    }
  )
  await runTest(
    mock,
    'settings › switches the provider back',
    'expected SendGrid to be primary',
    async (env) => {
      await fetch(`${env.url}/v1/integrations/mailgun-eu/set-primary`, {
        method: 'POST',
        headers: env.headers
      })
    }
  )
  for (const title of [
    'inbox › pages to the end',
    'inbox › empty state',
    'checkout › retries a 503 once'
  ]) {
    await runTest(mock, title, undefined, async (env) => {
      if (title.includes('503'))
        await env.faults.add({ operation: 'listMessages', effect: { status: 503 } })
      await request(env, '/v1/messages?limit=40')
      await request(env, '/v1/messages?limit=40&page=1')
    })
  }
  await mock.report(file, { command: 'npm test', exitCode: 1 })
}

async function runTest(
  mock: Mock,
  title: string,
  error: string | undefined,
  run: (env: Environment) => Promise<void>
): Promise<void> {
  const env = await mock.environment({ from: 'Development' })
  await run(env)
  await env.describeTest({
    title,
    outcome: error === undefined ? 'passed' : 'failed',
    ...(error && { error })
  })
  await env.remove()
}

/**
 * Sends valid and invalid requests, as an app would, so that the inspector has something to show.
 */
async function sendSampleRequests({ url, attach, apiKeys, listEnvironments }: Mock): Promise<void> {
  const [{ environmentId } = { environmentId: '' }] = await listEnvironments()
  const [apiKey = ''] = await apiKeys(environmentId)
  const env = attach(apiKey)
  await env.faults.add({
    operation: 'listMessages',
    match: { query: { channel: 'push' } },
    effect: { status: 429 }
  })
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
