import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { expectAccessible } from '../support/inspector.js'
import {
  openReport,
  reportedTests,
  reportOfScript,
  runWithReport
} from '../support/opened-report.js'
import { modules } from '../support/project.js'

const RUN = `import { expect, test } from 'notification-mock/vitest'
const call = (env, path, init) => fetch(env.url + path, { headers: env.headers, ...init })

test('shows e-mails only', async ({ env }) => {
  const { data } = await (await call(env, '/v1/messages?chanel=email&limit=20')).json()
  expect([...new Set(data.map(({ channel }) => channel))]).toEqual(['email'])
})
test('loads with the stored key', async ({ env }) => {
  const headers = { authorization: 'ApiKey ' + 'old-key-of-mine' }
  const response = await fetch(env.url + '/v1/messages', { headers })
  expect(response.status).toBe(200)
})
test('switches the provider, then switches back', async ({ env }) => {
  await call(env, '/v1/integrations/mailgun-eu/set-primary', { method: 'POST' })
  const { environments: [{ integrations }] } = await env.state()
  expect(integrations.find(({ identifier }) => identifier === 'sendgrid-main').primary).toBe(true)
})
for (let number = 0; number < 27; number++) {
  test('works ' + number, async ({ env }) => {
    expect((await call(env, '/v1/messages?limit=100')).status).toBe(200)
  })
}`

test('a report opened from disk explains why three of 30 tests failed', async (context) => {
  const vitest = [join(modules, '.bin/vitest'), 'run', '--testTimeout=60000', '--hookTimeout=60000']
  const { file, ...result } = await runWithReport({ 'shop.test.js': RUN }, vitest)
  expect(result).toMatchObject({ code: 1, output: expect.stringContaining('the report is in') })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readFileSync(file, 'utf8')).not.toContain('old-key-of-mine')

  const { page, events } = await openReport(context, file)
  const figures = page.getByRole('banner')
  await expect.poll(() => figures.innerText()).toMatch(/failed\s+3\s+passed\s+27/)
  await expect.poll(() => reportedTests(page).first().innerText()).toContain('shows e-mails only')
  const firstScreen = () => page.getByRole('group', { name: /shows|loads|switches/ }).innerText()
  await expect
    .poll(firstScreen)
    .toMatch(/listMessages has no parameter chanel; did you mean channel\?[\s\S]*"totalCount"/)
  await reportedTests(page).nth(1).click()
  await expect
    .poll(firstScreen)
    .toMatch(/without a valid key: no environment has this key[\s\S]*"API Key not found"/)
  await reportedTests(page).nth(2).click()
  await expect
    .poll(firstScreen)
    .toMatch(
      /leftover change: Mailgun \(EU\) \(mailgun-eu\) became primary[\s\S]*Mailgun \(EU\) became primary for email/
    )
  expect(events.troubles).toEqual([])
  expect(events.requested.filter((url) => !url.startsWith('file:'))).toEqual([])
})

test('the buttons and the search filter the tests of a report', async (context) => {
  const file = await reportOfScript(`
    for (const [title, outcome] of [['one', 'passed'], ['two', 'failed'], ['three', 'passed']]) {
      const env = await mock.environment({ from: 'Development' })
      await env.describeTest({ title, outcome, file: title + '.test.js:7' })
      if (title === 'three') await fetch(env.url + '/v1/topics', { headers: env.headers })
    }`)
  const { page } = await openReport(context, file)
  const shown = async () =>
    (await reportedTests(page).allInnerTexts()).map((text) => text.split('\n')[0])
  const press = (name: string) => page.getByRole('button', { name }).click()
  await press('Show only failed: 1')
  await expect.poll(shown).toEqual(['two'])
  await press('Show only not mocked: 1')
  await expect.poll(shown).toEqual(['three'])
  await press('Show only not mocked: 1')
  await page.getByRole('searchbox', { name: 'Search tests' }).fill('passed one.test.js')
  await expect.poll(shown).toEqual(['one'])
})

test('changing the filter opens a listed test, unless the user has opened one', async (context) => {
  const file = await reportOfScript(`
    for (const [title, outcome] of [['one', 'failed'], ['two', 'passed']]) {
      const env = await mock.environment({ from: 'Development' })
      await env.describeTest({ title, outcome })
    }`)
  const { page } = await openReport(context, file)
  await page.getByRole('group', { name: 'one', exact: true }).waitFor()
  await page.getByRole('button', { name: 'Show only passed: 1' }).click()
  await page.getByRole('group', { name: 'two', exact: true }).waitFor()
  await reportedTests(page).first().click()
  await page.getByRole('button', { name: 'Show only failed: 1' }).click()
  await page.getByRole('group', { name: 'two', exact: true }).waitFor()
})

test("on a phone, the labels of a test's four tabs fit", async (context) => {
  const file = await reportOfScript(TWO)
  const { page } = await openReport(context, file, { viewport: { width: 390, height: 800 } })
  await reportedTests(page).filter({ hasText: 'a test that failed' }).click()
  const tabs = page.getByRole('tab')
  await expect.poll(() => tabs.count()).toBe(4)
  const overflows = await tabs.evaluateAll((elements) =>
    elements.map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)
  )
  expect(overflows).toEqual([0, 0, 0, 0])
})

const ATTACK =
  `<img src=x onerror="document.title='struck'"></script>` +
  `<script>document.title='struck'</script>`

test('hostile text in tests, requests and responses is shown as plain text', async (context) => {
  const file = await reportOfScript(
    `const attack = process.argv[2]
    const messages = [{ channel: 'sms', content: attack }]
    const env = await mock.environment({ seed: { environments: [{ name: attack, messages }] } })
    await env.describeTest({ title: attack, error: attack, file: attack, outcome: 'failed' })
    const headers = { ...env.headers, 'x-hostile': attack }
    const ask = (path) => fetch(env.url + path, { headers })
    await ask('/v1/messages?' + new URLSearchParams({ [attack]: attack }))
    await ask('/v1/' + encodeURIComponent(attack))
    const effect = { status: 500, body: { [attack]: attack } }
    await env.faults.add({ operation: 'listMessages', effect })
    await ask('/v1/messages')`,
    ATTACK
  )

  const { page } = await openReport(context, file)
  for (const tab of ['Requests', 'Leftover changes', 'Faults']) {
    await page.getByRole('tab', { name: tab }).click()
    await page.getByRole('tab', { name: tab, selected: true }).waitFor()
  }
  await page.getByRole('tab', { name: 'Requests' }).click()
  const requests = page.getByRole('list', { name: 'Requests' }).getByRole('link')
  for (const request of await requests.all()) {
    await request.click()
    await expect
      .poll(() => page.getByRole('group', { name: 'Response body' }).innerText())
      .toContain('{')
  }
  // The page title contains the command. If the hostile script ran, it would change the title.
  expect(await page.title()).toContain(ATTACK)
  expect(await page.locator('img').count()).toBe(0)

  // On an unprotected page, the same text runs its script. This shows that the test can fail.
  const unguarded = file.replace('run.html', 'unguarded.html')
  writeFileSync(unguarded, `<title>well</title><p>${ATTACK}</p>`)
  await page.goto(pathToFileURL(unguarded).href)
  await expect.poll(() => page.title()).toBe('struck')
})

const TWO = `for (const outcome of ['passed', 'failed']) {
  const env = await mock.environment({ from: 'Development' })
  const error = outcome === 'failed' && { error: 'no' }
  await env.describeTest({ title: 'a test that ' + outcome, outcome, ...error })
  await fetch(env.url + '/v1/messages?chanel=sms', { headers: env.headers })
  await fetch(env.url + '/v1/messages')
  await env.remove()
}`

test('the report is accessible in both themes and on a phone', async (context) => {
  const file = await reportOfScript(TWO)
  for (const [colorScheme, width] of [
    ['light', 1280],
    ['dark', 1280],
    ['light', 390]
  ] as const) {
    const opened = await openReport(context, file, {
      colorScheme,
      viewport: { width, height: 800 }
    })
    await expectAccessible(opened)
    for (const name of ['a test that failed', 'API coverage']) {
      await reportedTests(opened.page).filter({ hasText: name }).click()
      await opened.page.getByRole('group', { name }).waitFor()
      await expectAccessible(opened)
      if (width < 760) await opened.page.getByRole('link', { name: 'Close' }).click()
    }
  }
})

const MANY = `for (let number = 0; number < 200; number++) {
  const env = await mock.environment({ from: 'Development' })
  const outcome = number % 50 === 0 ? 'failed' : 'passed'
  await env.describeTest({ title: 'test ' + number, outcome })
  for (let page = 0; page < 25; page++) {
    const url = env.url + '/v1/messages?limit=1&page=' + page
    await (await fetch(url, { headers: env.headers })).arrayBuffer()
  }
  await env.remove()
}`

test('a report with 5,000 requests is at most 200 KB larger than its data', async (context) => {
  const file = await reportOfScript(MANY)
  const html = readFileSync(file, 'utf8')
  const [data = ''] = /data-encoding="deflate-raw">[^<]*/.exec(html) ?? []
  expect(data.length).toBeGreaterThan(100_000)
  expect(html.length - data.length).toBeLessThan(200_000)
  const { page } = await openReport(context, file)
  await expect.poll(() => page.getByRole('banner').innerText()).toMatch(/requests\s+5,000/)
  await page.getByRole('searchbox').fill('test 199')
  await reportedTests(page).first().click()
  const requests = page.getByRole('list', { name: 'Requests' }).getByRole('link')
  await expect.poll(() => requests.count()).toBe(25)
  // The selected request and the response below the list stay visible.
  await page.setViewportSize({ width: 1280, height: 640 })
  await requests.first().focus()
  await page.keyboard.press('End')
  await expect.poll(() => page.url()).toMatch(/#\/199\/requests\/25$/)
  for (const shown of [
    page.getByRole('heading', { name: 'Response', exact: true }),
    requests.last()
  ]) {
    const { y = 0, height = 0 } = (await shown.boundingBox()) ?? {}
    expect(y + height).toBeLessThan(640)
  }
})
