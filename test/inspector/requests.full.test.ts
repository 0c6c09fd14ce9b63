import { setTimeout as delay } from 'node:timers/promises'
import type { Page } from '@playwright/test'
import { expect, test, vi } from 'vitest'
import { type AttachedEnvironment, connect } from '../../src/client/index.js'
import { openPage } from '../support/browser.js'
import { expectAccessible, openInspector, requestRows, sendRequest } from '../support/inspector.js'
import { measurePage } from '../support/page-costs.js'
import { startCommand } from '../support/process.js'

/** Locates the row of the request whose path and query string end with `end`. */
const row = (page: Page, end: string) =>
  requestRows(page).filter({
    has: page.locator('bdi').filter({ hasText: new RegExp(`${end.replace(/[?]/g, '[?]')}$`) })
  })
const search = (page: Page) => page.getByRole('searchbox', { name: 'Search requests' })

/** Locates the pane of the open request. */
const detailOf = (page: Page, sequence: number) =>
  page.getByRole('group', { name: `Request ${sequence}` })

/** Returns the URL of the focused link. */
const focusedLink = (page: Page) => page.evaluate('document.activeElement.getAttribute("href")')

/**
 * Sends five requests: one with a typo, one that changes data, a repeat of it with the same
 * idempotency key, one for an unknown integration, and one to an unknown path.
 */
async function sendExamples(env: AttachedEnvironment): Promise<void> {
  const setMailgun = '/v1/integrations/mailgun-eu/set-primary'
  const headers = { 'idempotency-key': 'order-1', 'content-type': 'application/json' }
  await sendRequest(env, '/v1/messages?limt=5', { headers: { 'x-flavour': 'sweet' } })
  await sendRequest(env, setMailgun, { method: 'POST', headers })
  await sendRequest(env, setMailgun, { method: 'POST', headers })
  const body = '{"a":[1]}'
  await sendRequest(env, '/v1/integrations/nowhere/set-primary', { method: 'POST', body })
  await sendRequest(env, '/v1/subscribers')
}

/** Opens the inspector, then sends `GET /v1/messages` and the five examples. */
async function openWithExamples(context: Parameters<typeof openInspector>[0]) {
  const inspector = await openInspector(context)
  await sendRequest(inspector.env, '/v1/messages')
  await sendExamples(inspector.env)
  await expect.poll(() => requestRows(inspector.page).count()).toBe(6)
  return inspector
}

test('requests appear as they arrive, with status, reason, time and number', async (context) => {
  const inspector = await openInspector(context, { timezoneId: 'Asia/Tokyo' })
  const { page, env, events } = inspector
  await page.getByRole('heading', { name: 'No requests yet' }).waitFor()
  await expectAccessible(inspector)
  await page.getByRole('button', { name: 'Send a request' }).click()
  await row(page, '/v1/messages').waitFor()
  await sendExamples(env)
  await expect.poll(() => requestRows(page).count()).toBe(6)
  const texts = (await requestRows(page).allInnerTexts()).map((text) => text.replace(/\s+/g, ' '))
  expect(texts).toEqual([
    expect.stringMatching(
      /^GET \/v1\/subscribers 404 [\d.]+ ms \d\d:\d\d:\d\d #6 add a stub for it /
    ),
    expect.stringMatching(
      /^POST \/v1\/integrations\/nowhere\/set-primary 404 .*has no integration with .* nowhere/
    ),
    expect.stringMatching(/^POST .*\/set-primary 200 .* replay of the response/),
    expect.stringMatching(
      /^POST \/v1\/integrations\/mailgun-eu\/set-primary 200 [\d.]+ ms [\d:]{8} #3$/
    ),
    expect.stringMatching(/^GET \/v1\/messages[?]limt=5 200 .* limt/),
    expect.stringMatching(/^GET \/v1\/messages 200 [\d.]+ ms [\d:]{8} #1$/)
  ])
  const title = await row(page, '/v1/messages').locator('time').getAttribute('title')
  expect(title).toMatch(/^\d{4}-\d\d-\d\d [\d:]{8} GMT\+0900$/)
  await page.getByText('Mailgun (EU) became primary for email').first().waitFor()
  await expectAccessible(inspector)
  expect(events.troubles).toEqual([])
})

test('a delayed request is pending until it ends, and then shows its status', async (context) => {
  const { page, env } = await openInspector(context)
  // Wait until the list has loaded, so that the pending request comes from the event stream.
  await page.getByRole('heading', { name: 'No requests yet' }).waitFor()
  await env.faults.add({ effect: { delay: 2000, status: 503 } })
  const status = sendRequest(env, '/v1/messages?limit=3')
  await row(page, 'limit=3').filter({ hasText: 'pending' }).waitFor()
  await status
  await row(page, 'limit=3').filter({ hasText: '503' }).waitFor()
  expect(await requestRows(page).count()).toBe(1)
})

test('the keys j and k jump between the differences of two responses', async (context) => {
  const { page, env, go } = await openInspector(context)
  for (const limit of [1, 2]) await sendRequest(env, `/v1/messages?limit=${limit}`)
  await go('#/requests/2')
  await page.getByRole('button', { name: 'Compare with another request' }).click()
  await page.getByRole('button', { name: /^#1 200/ }).click()
  await page.getByRole('status').getByText('2 differences').waitFor()
  const lines = page.locator('.json-line[aria-current]')
  for (const [key, text] of [
    ['j', '"pageSize"'],
    ['j', '{'],
    ['k', '"pageSize"']
  ] as const) {
    await page.keyboard.press(key)
    await lines.first().filter({ hasText: text }).waitFor()
  }
  expect(await lines.allInnerTexts()).toEqual(['"pageSize": 2,', '"pageSize": 1,'])
  await page.getByRole('status').getByText('1 of 2 differences').waitFor()
})

/** Search texts, each with the number of example requests that match. */
const SEARCHES = [
  { text: 'replay', matches: 1 },
  { text: 'path:/v1/messages', matches: 2 },
  { text: 'status:404', matches: 2 },
  { text: 'since:1h subscribers', matches: 1 },
  { text: 'since:2100-01-01', matches: 0 },
  { text: 'status:soon', matches: 0 }
]

test('the search combines words and filters while the user types', async (context) => {
  const inspector = await openWithExamples(context)
  const { page } = inspector
  await page.locator('body').press('/')
  await page.keyboard.type('operation:primary')
  await expect.poll(() => requestRows(page).count()).toBe(3)
  await page.keyboard.type(' status:2xx')
  await expect.poll(() => requestRows(page).count()).toBe(2)
  await page.keyboard.type(' replayed? no')
  await page.getByRole('heading', { name: 'No matching requests' }).waitFor()
  await expectAccessible(inspector)
  for (const { text, matches } of SEARCHES) {
    await search(page).fill(text)
    await expect.poll(() => requestRows(page).count()).toBe(matches)
  }
})

test('the search is kept in the URL, and survives a reload', async (context) => {
  const { page } = await openWithExamples(context)
  await search(page).fill('replay')
  await expect.poll(() => new URL(page.url()).hash).toBe('#/requests?q=replay')
  await page.reload()
  await expect.poll(() => requestRows(page).count()).toBe(1)
  await search(page).fill('')
  await expect.poll(() => requestRows(page).count()).toBe(6)
})

test('the arrow keys move from the search to the list and open a request', async (context) => {
  const inspector = await openWithExamples(context)
  const { page, events } = inspector
  await search(page).press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  const detail = detailOf(page, 5)
  await detail.getByText('environment Development has no integration').first().waitFor()
  expect(new URL(page.url()).hash).toBe('#/requests/5')
  await expect.poll(() => focusedLink(page)).toBe('#/requests/5')
  await detail.getByRole('tab', { name: 'Request' }).click()
  await detail.getByText('ApiKey ***').waitFor()
  const body = detail.getByRole('group', { name: 'Request body' })
  expect(await body.innerText()).toMatch(/"a": *\[\s*1\s*\]/)
  await expectAccessible(inspector)
  expect(events.troubles).toEqual([])
})

test('the arrow keys move between the tabs of a request', async (context) => {
  const inspector = await openWithExamples(context)
  const { page, go } = inspector
  await go('#/requests/5')
  const detail = detailOf(page, 5)
  await detail.getByRole('tab', { name: 'Request' }).press('ArrowRight')
  await detail.getByText('The request changed nothing.').waitFor()
  await expectAccessible(inspector)
})

test('the selected tab stays selected when another request is opened', async (context) => {
  const { page, go } = await openWithExamples(context)
  await go('#/requests/5')
  await detailOf(page, 5).getByRole('tab', { name: 'Changes' }).click()
  await requestRows(page).nth(1).focus()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  const changesTab = detailOf(page, 3).getByRole('tab', { name: 'Changes 2' })
  expect(await changesTab.getAttribute('aria-selected')).toBe('true')
  await detailOf(page, 3).getByText('is no longer primary').waitFor()
})

test('after Escape closes a request, the newest failed request opens', async (context) => {
  const { page, go } = await openWithExamples(context)
  await go('#/requests/3')
  // Load all requests at once. If they arrive one by one, an older failed request may be opened
  // first.
  await page.reload()
  await detailOf(page, 3).waitFor()
  await page.keyboard.press('Escape')
  await expect.poll(() => focusedLink(page)).toBe('#/requests/3')
  await detailOf(page, 6).waitFor()
})

/** Returns the name and the outline of the focused element. */
const describeFocus = (page: Page) =>
  page.evaluate<{ label: string; outline: string }>(`(() => {
    const element = document.activeElement
    const label = element.closest('ol')?.ariaLabel ?? element.ariaLabel ?? element.textContent
    // If the search field has focus, its container shows the outline.
    const isInput = element.matches('input')
    return { label, outline: isInput ? 'solid' : getComputedStyle(element).outlineStyle }
  })()`)

test('Tab reaches the list within eight stops, each with a focus outline', async (context) => {
  const { page, env } = await openInspector(context)
  await sendRequest(env, '/v1/messages')
  await row(page, '/v1/messages').waitFor()
  const stops: string[] = []
  for (let count = 0; count < 8; count += 1) {
    await page.keyboard.press('Tab')
    const { label, outline } = await describeFocus(page)
    expect({ label, outline }).toEqual({ label, outline: 'solid' })
    stops.push(label)
  }
  expect(stops).toContain('Requests, newest first')
})

test("the URL of a deleted request shows that the request doesn't exist", async (context) => {
  const inspector = await openInspector(context, { colorScheme: 'dark' })
  const { page, env, go } = inspector
  await sendRequest(env, '/v1/messages?limit=1')
  await row(page, 'limit=1').waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill('delete all requests')
  page.once('dialog', (question) => question.accept())
  // The palette doesn't preselect an action that deletes something.
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'No requests yet' }).waitFor()
  expect(await env.requests.list()).toEqual([])
  await go('#/requests/1')
  await page.getByText('the journal has no such request').waitFor()
  await expectAccessible(inspector)
})

test('a failed request opens by itself, and has no link to close it', async (context) => {
  const { page, env } = await openInspector(context)
  await sendRequest(env, '/v1/messages?limit=-1')
  await detailOf(page, 1).waitFor()
  expect(await page.getByRole('link', { name: 'Close' }).count()).toBe(0)
})

const PHONE = { viewport: { width: 390, height: 700 } }

/** Locates the button that shows the new requests. */
const newRequestsButton = (page: Page, count: number) =>
  page.getByRole('button', { name: `${count} new` })

test('a new request waits behind a button while the mouse is over the list', async (context) => {
  const { page, env } = await openInspector(context, PHONE)
  await sendRequest(env, '/v1/messages?page=1')
  await row(page, 'page=1').hover()
  await sendRequest(env, '/v1/messages?limit=1')
  await newRequestsButton(page, 1).waitFor()
  expect(await row(page, 'limit=1').count()).toBe(0)
  await newRequestsButton(page, 1).click()
  await row(page, 'limit=1').waitFor()
})

test('a new request waits while the list has focus', async (context) => {
  const { page, env } = await openInspector(context, PHONE)
  await sendRequest(env, '/v1/messages?limit=1')
  await row(page, 'limit=1').focus()
  await sendRequest(env, '/v1/messages?limit=2')
  await newRequestsButton(page, 1).waitFor()
  await page.evaluate('document.activeElement.blur()')
  await row(page, 'limit=2').waitFor()
  expect(await newRequestsButton(page, 1).count()).toBe(0)
})

test('a new request waits while the list is scrolled down, so no row moves', async (context) => {
  const { page, env } = await openInspector(context, PHONE)
  for (let count = 0; count < 60; count += 1) await sendRequest(env, `/v1/messages?page=${count}`)
  await row(page, 'page=59').waitFor()
  const scroll = (top: number) =>
    page.locator('.list').evaluate((list, to) => list.scrollTo(0, to), top)
  await scroll(900)
  const topOfRow = () =>
    row(page, 'page=35').evaluate((element) => element.getBoundingClientRect().top)
  const topBefore = await topOfRow()
  await sendRequest(env, '/v1/messages?limit=3')
  await newRequestsButton(page, 1).waitFor()
  expect(await topOfRow()).toBe(topBefore)
  await scroll(0)
  await row(page, 'limit=3').waitFor()
})

test('new requests are counted while the list is paused', async (context) => {
  const { page, env } = await openInspector(context, PHONE)
  await sendRequest(env, '/v1/messages?limit=1')
  await row(page, 'limit=1').waitFor()
  await page.keyboard.press('p')
  await page.getByRole('button', { name: 'Paused' }).waitFor()
  await sendRequest(env, '/v1/messages?limit=4')
  await sendRequest(env, '/v1/messages?limit=5')
  await newRequestsButton(page, 2).waitFor()
  await page.getByRole('button', { name: 'Paused' }).click()
  await row(page, 'limit=5').waitFor()
})

test('in a narrow window, the open request covers the list', async (context) => {
  const { page, env } = await openInspector(context, PHONE)
  await sendRequest(env, '/v1/messages?limit=4')
  await row(page, 'limit=4').click()
  const detail = detailOf(page, 1)
  await detail.waitFor()
  await expect.poll(() => detail.boundingBox()).toEqual({ x: 0, y: 0, width: 390, height: 700 })
  await page.getByRole('link', { name: 'Close', exact: true }).click()
  await row(page, 'limit=4').waitFor()
  expect(await detail.count()).toBe(0)
})

/** Opens the inspector as if from another machine, and enters an API key or the admin token. */
async function openRemotely(page: Page, url: string, field: string, secret: string) {
  await page.goto(`http://mock.test:${new URL(url).port}/`)
  await page.getByRole('textbox', { name: field }).fill(secret)
  await page.keyboard.press('Enter')
}

const REMOTE_ARGS = ['--host', '0.0.0.0', '--admin-token', 'the-admin-token']

test('requests without a valid key are listed with their error', async (context) => {
  const { url } = await startCommand(REMOTE_ARGS)
  const authorization = `ApiKey ${'5'.repeat(32)}`
  await fetch(`${url}/v1/messages`, { headers: { authorization } })
  const opened = await openPage(context)
  const { page } = opened
  await openRemotely(page, url, 'Admin token', 'the-admin-token')
  await page.getByRole('link', { name: '1 without a valid key' }).click()
  await requestRows(page).filter({ hasText: 'no environment has' }).waitFor()
  await fetch(`${url}/v1/messages?limit=3`)
  await row(page, 'limit=3').click()
  await detailOf(page, 2).getByText('send the header').first().waitFor()
  await page.getByRole('group', { name: 'Response body' }).getByText('401').waitFor()
  await expectAccessible(opened)
  await search(page).fill('')
  await page.getByRole('group', { name: 'Nothing open' }).waitFor()
})

test('requests without a valid key are hidden from a user with one API key', async (context) => {
  const { url } = await startCommand(REMOTE_ARGS)
  await fetch(`${url}/v1/messages`)
  const { page } = await openPage(context)
  await openRemotely(page, url, 'API key of one environment', 'production-key')
  await page.getByRole('heading', { name: 'No requests yet' }).waitFor()
  expect(await page.getByText('without a valid key').count()).toBe(0)
})

test('a hidden tab closes its event stream, and catches up when it is shown', async (context) => {
  const { page, env, events, url } = await openInspector(context)
  const isStream = (requested: string) => requested.includes('/_mock/requests/stream')
  const countStreams = () => events.requested.filter(isStream).length
  const setVisible = (isVisible: boolean) =>
    page.evaluate(`
      Object.defineProperty(document, 'hidden', { configurable: true, value: ${!isVisible} })
      document.dispatchEvent(new Event('visibilitychange'))
    `)
  await sendRequest(env, '/v1/messages?limit=1')
  await row(page, 'limit=1').waitFor()
  const closed = page.waitForEvent('requestfailed', (request) =>
    request.url().startsWith(`${url}/_mock/requests/stream`)
  )
  await setVisible(false)
  await closed
  await sendRequest(env, '/v1/messages?limit=2')
  expect(await requestRows(page).count()).toBe(1)
  const countBefore = countStreams()
  await setVisible(true)
  await row(page, 'limit=2').waitFor()
  expect(await requestRows(page).count()).toBe(2)
  expect(countStreams()).toBe(countBefore + 1)
})

test('a paused list is emptied when another client deletes the requests', async (context) => {
  const { page, env } = await openInspector(context)
  await sendRequest(env, '/v1/messages?limit=2')
  await row(page, 'limit=2').waitFor()
  await page.keyboard.press('p')
  await env.requests.clear()
  await row(page, 'limit=2').waitFor({ state: 'detached' })
  await sendRequest(env, '/v1/messages?limit=3')
  await row(page, 'limit=3').waitFor()
})

test('the inspector reports a stopped server, and reconnects after a restart', async (context) => {
  const first = await startCommand(['--port', '0'])
  const { port } = new URL(first.url)
  const { page } = await openPage(context)
  await page.goto(first.url)
  const environment = () => connect(first.url).attach('development-key')
  await sendRequest(environment(), '/v1/messages?limit=7')
  await row(page, 'limit=7').waitFor()
  first.child.kill('SIGKILL')
  await page.getByRole('alert').getByText('Not connected').waitFor()
  await page.getByRole('link', { name: 'Coverage' }).click()
  await page.getByText('Not connected: trying again until the server responds').waitFor()
  await page.getByRole('button', { name: 'Start over' }).click()
  const toast = page.getByRole('status').getByText('no response from')
  await toast.waitFor()
  await page.getByRole('link', { name: 'Requests' }).click()
  await page.getByRole('button', { name: 'More', exact: true }).click()
  await page.getByRole('button', { name: 'New request' }).click()
  await page.waitForURL('**/#/requests/new')
  // Retry, because another process may briefly use the port.
  await vi.waitFor(() => startCommand(['--port', port]), { timeout: 20_000 })
  // The form loads once the server responds again.
  await page.getByRole('button', { name: 'Send', exact: true }).waitFor()
  await page.getByRole('link', { name: 'Requests' }).click()
  await sendRequest(environment(), '/v1/messages?limit=8')
  await row(page, 'limit=8').waitFor()
  await expect.poll(() => page.getByRole('alert').count()).toBe(0)
  // The error toast disappears once the inspector is connected again.
  expect(await toast.count()).toBe(0)
  expect(await row(page, 'limit=7').count()).toBe(0)
})

test('every view reports that the environment was removed, and offers another', async (context) => {
  const inspector = await openInspector(context, { hash: '#/requests' })
  const { page, mock, go } = inspector
  await mock.environment({ name: 'Gone', from: 'Development' })
  await go('#/integrations?environment=Gone')
  await page.getByRole('button', { name: 'Environment Gone' }).waitFor()
  await mock.removeEnvironment('Gone')
  const note = page.getByText('Not connected: this environment was removed')
  for (const view of ['Messages', 'Workflows', 'Coverage', 'Requests']) {
    await page.getByRole('link', { name: view }).click()
    await note.waitFor()
  }
  // No pane repeats the error or reports a missing record.
  for (const [hash, load] of [
    ['requests/new', '**/openapi.json'],
    ['messages/67b45c0f3a1e4f0013d0a101', '**/_mock/messages**']
  ] as const) {
    const loaded = page.waitForResponse(load)
    await go(`#/${hash}?environment=Gone`)
    await loaded
    await page.evaluate(
      'new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))'
    )
    expect(await page.getByRole('alert').allInnerTexts()).toHaveLength(1)
    expect(await page.getByText('This environment has no').count()).toBe(0)
  }
  await expectAccessible(inspector)
  await page.getByRole('button', { name: 'Select another environment' }).click()
  await page.getByRole('link', { name: 'Production' }).click()
  await page.getByRole('button', { name: 'Environment Production' }).waitFor()
  expect(await note.count()).toBe(0)
})

test('dialogs report only that the environment was removed', async (context) => {
  const inspector = await openInspector(context, { hash: '#/requests' })
  const { page, mock, go } = inspector
  await mock.environment({ name: 'Gone', from: 'Development' })
  await go('#/coverage?environment=Gone')
  const menu = page.getByRole('button', { name: 'Environment Gone' })
  await menu.waitFor()
  await mock.removeEnvironment('Gone')
  const note = 'Not connected: this environment was removed'
  await page.getByText(note).waitFor()
  for (const name of ['Stubs…', 'Snapshots and changes…']) {
    await menu.click()
    await page.getByRole('button', { name }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText(note).waitFor()
    expect(await dialog.getByRole('alert').count()).toBe(1)
    await expectAccessible(inspector)
    await page.keyboard.press('Escape')
  }
  await page.getByRole('button', { name: '0 faults' }).click()
  const panel = page.locator('[popover]:popover-open')
  await panel.getByText(note).waitFor()
  expect(await panel.getByRole('alert').count()).toBe(1)
})

test('a toast on a phone covers neither the content nor the tabs', async (context) => {
  const { page, env, go } = await openInspector(context, {
    hash: '#/coverage',
    viewport: { width: 390, height: 800 }
  })
  const { _id } = await env.messages.add({ channel: 'sms', content: 'Tea' })
  await go(`#/messages/${_id}`)
  await page.getByRole('button', { name: 'Mark as read' }).click()
  const toast = page.locator('.toast')
  const topAndBottom = async (locator: typeof toast) => {
    const box = await locator.boundingBox()
    return box ? [box.y, box.y + box.height] : []
  }
  await toast.waitFor()
  const [toastTop = 0, toastBottom] = await topAndBottom(toast)
  const [, paneBottom] = await topAndBottom(page.getByRole('group', { name: 'The message' }))
  expect(paneBottom).toBeLessThanOrEqual(toastTop)
  expect(toastBottom).toBeLessThanOrEqual(800)
  await page.getByRole('link', { name: 'Close' }).click()
  const [, tabsBottom] = await topAndBottom(page.getByRole('navigation', { name: 'Views' }))
  expect(tabsBottom).toBeLessThanOrEqual(toastTop)
})

test('a toast on a phone covers no part of an open dialog', async (context) => {
  const { page } = await openInspector(context, {
    hash: '#/messages',
    viewport: { width: 390, height: 500 }
  })
  await page.getByRole('button', { name: 'Clock:' }).click()
  await page.getByRole('button', { name: '+1 hour' }).click()
  await page.locator('.toast').waitFor()
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  const toast = await page.getByRole('dialog').locator('.toast').boundingBox()
  const submit = page.getByRole('dialog').getByRole('button', { name: 'Add a message' })
  const button = await submit.boundingBox()
  expect((button?.y ?? 0) + (button?.height ?? 0)).toBeLessThanOrEqual(toast?.y ?? 0)
  const label = await page.getByRole('dialog').getByText('Subject').boundingBox()
  const field = await page.getByRole('dialog').getByLabel('Subject').boundingBox()
  expect(field?.y).toBeGreaterThanOrEqual((label?.y ?? 0) + (label?.height ?? 0))
})

test('the inspector retries a failed load', async (context) => {
  const inspector = await openInspector(context, { hash: '#/coverage' })
  const { page, env } = inspector
  for (let count = 0; count < 301; count++) await sendRequest(env, '/v1/messages?limit=1')
  // Abort the first load, which has the parameter `order`, and one load of older requests, which
  // also has the parameter `before`.
  for (const name of ['order', 'before']) {
    const isLoad = (url: URL) => url.pathname === '/_mock/requests' && url.searchParams.has(name)
    await page.route(isLoad, (route) => route.abort(), { times: 1 })
  }
  await inspector.go('#/requests')
  await page.reload()
  await page.getByRole('alert').getByText('Not connected: trying again').waitFor()
  await requestRows(page).first().focus()
  await expect
    .poll(async () => {
      await page.keyboard.press('Home')
      await page.keyboard.press('End')
      return requestRows(page).last().getAttribute('href')
    })
    .toBe('#/requests/1')
})

test('the list shows, searches and scrolls through 10,000 requests quickly', async (context) => {
  const { page, env } = await openInspector(context, { args: ['--journal', '10000'] })
  for (let count = 0; count < 10_000; count += 50) {
    await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        sendRequest(env, `/v1/messages?limit=1&page=${count + index}`)
      )
    )
  }
  /** Returns the milliseconds from a reload until the first row is shown. */
  const timeToFirstRow = async () => {
    await page.reload()
    await requestRows(page).first().waitFor()
    return page.evaluate<number>('performance.now()')
  }
  // This takes 300 ms on an idle machine.
  await expect.poll(timeToFirstRow).toBeLessThan(1500)
  expect(await page.locator('[data-key]').count()).toBeLessThan(100)
  await search(page).fill('page=1789')
  await row(page, 'page=1789').waitFor()
  await search(page).fill('')
  await row(page, 'page=9999').first().focus()
  const oldest = () => page.evaluate('document.activeElement.getAttribute("href")')
  await expect
    .poll(
      async () => {
        await page.keyboard.press('End')
        return oldest()
      },
      { timeout: 30_000 }
    )
    .toBe('#/requests/1')
  expect(await page.locator('[data-key]').count()).toBeLessThan(100)
}, 120_000)

/**
 * Returns a function that sends up to 500 requests per second until `total` requests have been
 * sent, including the requests of earlier calls. It then waits until the list shows the last one.
 */
function createLoad(page: Page, env: AttachedEnvironment) {
  let sentCount = 0
  const sendNext = () => {
    sentCount += 1
    return sendRequest(env, `/v1/messages?limit=1&page=${sentCount}`)
  }
  return async (total: number) => {
    const startedAt = performance.now()
    const firstCount = sentCount
    const responses: Promise<number>[] = []
    for (; sentCount < total - 1; await delay(10)) {
      const dueCount = firstCount + Math.ceil((performance.now() - startedAt) / 2)
      while (sentCount < Math.min(total - 1, dueCount)) responses.push(sendNext())
      // On a slow machine, send fewer requests per second instead of opening more connections.
      if (responses.length > 100) await Promise.all(responses.splice(0))
    }
    await Promise.all(responses)
    // Send the last request after all others, because requests sent together arrive in any order.
    await sendNext()
    await row(page, `page=${total}`).waitFor()
  }
}

test('the inspector stays small and usable at up to 500 requests a second', async (context) => {
  const { page, env, events } = await openInspector(context)
  await page.getByRole('heading', { name: 'No requests yet' }).waitFor()
  const costs = await measurePage(page)
  const sendUntil = createLoad(page, env)
  await sendUntil(2000)
  const heapBefore = await costs.heap()
  const elementsBefore = await costs.elements()
  await sendUntil(5000)
  // Use the page while the requests arrive.
  const rest = sendUntil(6000)
  await search(page).fill('limit=1')
  await expect.poll(() => page.url()).toContain('q=limit%3D1')
  await rest
  await search(page).fill('')
  await row(page, 'page=6000').waitFor()
  // The list renders only rows in or near its visible part, not all 1,000.
  expect(await costs.maxRows()).toBeGreaterThan(0)
  expect(await costs.maxRows()).toBeLessThanOrEqual(100)
  expect(await costs.elements()).toBeLessThan(elementsBefore + 200)
  expect((await costs.heap()) - heapBefore).toBeLessThan(1.5 * 1024 * 1024)
  expect(events.troubles).toEqual([])
}, 180_000)

/** Text that runs a script if it is used as markup, as an attribute or as a URL. */
const HOSTILE =
  '<img src=x onerror="window.ran=1"><script>window.ran=1</script>"\'`javascript:window.ran=1'

test('hostile text in requests and responses is shown as plain text', async (context) => {
  const { page, env, go, events } = await openInspector(context)
  const hostile = encodeURIComponent(HOSTILE)
  await env.faults.add({
    effect: { status: 503, body: { [HOSTILE]: HOSTILE }, headers: { 'x-said': HOSTILE } }
  })
  const init = {
    method: 'POST',
    headers: { 'x-hostile': HOSTILE, 'idempotency-key': HOSTILE },
    body: `{"${'a'}":${JSON.stringify(HOSTILE)}}`
  }
  await sendRequest(env, `/v1/integrations/${hostile}/set-primary?${hostile}=${hostile}`, init)
  await sendRequest(env, `/v1/integrations/${hostile}/set-primary`, init)
  await env.snapshot(HOSTILE)
  for (const sequence of [1, 2]) {
    await go(`#/requests/${sequence}?q=`)
    const detail = page.getByRole('group', { name: `Request ${sequence}` })
    for (const tab of ['Response', 'Request', 'Changes']) {
      await detail.getByRole('tab', { name: tab }).click()
      await detail.getByRole('tabpanel').getByText(/\S/).first().waitFor()
    }
  }
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill('window.ran')
  await page.getByRole('option').first().waitFor()
  expect(await page.locator('main').innerHTML()).toContain('window.ran')
  const ran = () =>
    page.evaluate(
      '[window.ran, document.querySelectorAll("main img, main script, [onerror]").length]'
    )
  expect(await ran()).toEqual([undefined, 0])
  expect(events.troubles.filter((trouble) => !trouble.includes('503'))).toEqual([])
  // Insert the same text as markup, so that its script runs. This shows that the test can fail.
  await page.evaluate(
    `document.querySelector('main').insertAdjacentHTML('beforeend', ${JSON.stringify(HOSTILE)})`
  )
  expect(await ran()).not.toEqual([undefined, 0])
})

test.each([
  { width: 320, height: 640 },
  { width: 640, height: 400 }
])(
  'a $width px wide window has no horizontal scrolling, and shows a row in the top 120 px',
  async (viewport) => {
    // A window of 1280 by 800 px at 200% zoom has a viewport of 640 by 400 CSS px.
    const context = { skip: () => {} } as unknown as Parameters<typeof openInspector>[0]
    const { page, env, go } = await openInspector(context, { viewport })
    await sendRequest(env, '/v1/messages?limit=5000')
    await row(page, 'limit=5000').waitFor()
    const isWithin = () => page.evaluate('document.documentElement.scrollWidth <= innerWidth')
    expect((await row(page, 'limit=5000').boundingBox())?.y).toBeLessThanOrEqual(120)
    expect(await isWithin()).toBe(true)
    await go('#/requests/1')
    await page.getByRole('group', { name: 'Response body' }).waitFor()
    expect(await isWithin()).toBe(true)
  }
)

test('on a phone, one click shows all hints, with links to their requests', async (context) => {
  const inspector = await openInspector(context, { viewport: { width: 390, height: 800 } })
  const { page, env } = inspector
  await sendRequest(env, '/v1/messages?chanel=email')
  await page.getByRole('button', { name: /^\d hints?$/ }).click()
  const hints = page.getByRole('dialog', { name: /^\d hints?$/ })
  await hints.getByText('listMessages has no parameter chanel; did you mean channel?').waitFor()
  await expectAccessible(inspector)
  await hints.getByRole('link', { name: '#1' }).first().click()
  await page.getByRole('group', { name: 'Request 1' }).waitFor()
  await page.getByRole('link', { name: 'Close', exact: true }).click()
  await requestRows(page).first().waitFor()
})
