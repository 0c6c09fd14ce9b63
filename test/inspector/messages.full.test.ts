import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from '@playwright/test'
import { expect, onTestFinished, type TestContext, test } from 'vitest'
import type { AttachedEnvironment } from '../../src/client/index.js'
import {
  expectAccessible,
  expectAccessibleInBoth,
  type OpenedInspector,
  openInspector
} from '../support/inspector.js'

/** Locates the rows of the message list. */
const rows = (page: Page) =>
  page.getByRole('list', { name: 'Messages, newest first' }).getByRole('link')

/** Locates the text that shows how many messages match the search. */
const count = (page: Page) => page.getByRole('status').first()

/** Returns the decoded hash of the page's URL. */
const hashOf = (page: Page) => decodeURIComponent(new URL(page.url()).hash)

/** Returns the URL of the focused link. */
const focusedLink = (page: Page) => page.evaluate('document.activeElement.getAttribute("href")')

/** Returns the newest message, formatted as in a seed. */
const newestMessage = async (env: AttachedEnvironment) =>
  (await env.state()).environments[0]?.messages?.at(-1)

test('the form of a new message suggests values, and focuses a rejected field', async (context) => {
  const { page } = await openInspector(context, { hash: '#/messages' })
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Add a message' })
  await dialog.locator('datalist option[value=user-ada]').waitFor({ state: 'attached' })
  await dialog.locator('datalist option[value=order-shipped]').waitFor({ state: 'attached' })
  await dialog.getByLabel('Workflow').fill('order-shiped')
  await dialog.getByRole('button', { name: 'Add a message' }).click()
  await dialog.locator('[aria-invalid=true]').waitFor()
  const focused = await page.evaluate(`[
    document.activeElement.name,
    document.getElementById(document.activeElement.getAttribute('aria-describedby')).innerText
  ]`)
  expect(focused).toEqual(['workflow', expect.stringMatching(/^workflow is order-shiped, but/)])
})

test('the editor opens at the first line, and its Save button is visible', async (context) => {
  const { page } = await openInspector(context, { hash: '#/messages' })
  await page.getByRole('link', { name: 'Order 4711 confirmed' }).first().click()
  const { dialog } = await openEditor(page)
  const body = "document.querySelector('.dialog-body')"
  expect(await page.evaluate(`${body}.scrollHeight > ${body}.clientHeight`)).toBe(true)
  await expect.poll(() => page.evaluate('document.activeElement.selectionStart')).toBe(0)
  expect(await page.evaluate(`${body}.scrollTop`)).toBe(0)
  const save = await dialog.getByRole('button', { name: 'Save' }).boundingBox()
  expect(save && save.y + save.height).toBeLessThan(page.viewportSize()?.height ?? 0)
})

/** Opens the inspector with an SMS that says `Your tea is here`. */
async function openTeaMessage(context: TestContext): Promise<OpenedInspector> {
  const inspector = await openInspector(context, { hash: '#/coverage' })
  const { page, env, go } = inspector
  const { _id } = await env.messages.add({ channel: 'sms', content: 'Your tea is here' })
  await go(`#/messages/${_id}`)
  await page.locator('.bubble').getByText('Your tea is here').waitFor()
  return inspector
}

/** Opens the editor of the open message. Returns the dialog, its JSON field, and the JSON. */
async function openEditor(page: Page) {
  await page.getByRole('button', { name: 'Edit' }).click()
  const dialog = page.getByRole('dialog', { name: 'Edit the message' })
  const json = dialog.getByLabel('JSON')
  return { dialog, json, text: await json.inputValue() }
}

/** Returns the number of the first line that contains a word. */
const lineOf = (text: string, word: string) => text.slice(0, text.indexOf(word)).split('\n').length

test('a message can be marked as read', async (context) => {
  const { page, env } = await openTeaMessage(context)
  await page.getByRole('button', { name: 'Mark as read' }).click()
  await page.getByRole('button', { name: 'Mark as unread' }).waitFor()
  expect(await newestMessage(env)).toMatchObject({ read: true })
})

test('a syntax error in an edited message shows its line number', async (context) => {
  const { page } = await openTeaMessage(context)
  const { dialog, json, text } = await openEditor(page)
  await json.fill(text.replace('"sms"', '"sms'))
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByRole('button', { name: `Line ${lineOf(text, '"sms"')}: ` }).waitFor()
})

test('a validation error shows its line number, and a click selects the line', async (context) => {
  const inspector = await openTeaMessage(context)
  const { page, env } = inspector
  const { dialog, json, text } = await openEditor(page)
  await json.fill(text.replace('"sent"', '"gone"').replace('Your tea', 'Your green tea'))
  await dialog.getByRole('button', { name: 'Save' }).click()
  const issue = dialog.getByRole('button', { name: /status must be one of sent, error, warning/ })
  expect(await issue.innerText()).toContain(`Line ${lineOf(text, '"status"')}`)
  await issue.click()
  expect(await page.evaluate('getSelection().toString()')).toContain('"status": "gone"')
  await expectAccessible(inspector)
  expect((await newestMessage(env))?.content).toBe('Your tea is here')
})

test('a validation error is shown even if the JSON changes during the request', async (context) => {
  const { page } = await openTeaMessage(context)
  const { dialog, json, text } = await openEditor(page)
  await json.fill(text.replace('"sent"', '"gone"'))
  const responded = page.waitForResponse((response) => response.request().method() === 'PATCH')
  await page.route('**/_mock/messages/*', async (route) => {
    await json.fill('{')
    await route.continue()
  })
  await dialog.getByRole('button', { name: 'Save' }).click()
  await responded
  await dialog.getByRole('button', { name: /status must be one of sent, error, warning/ }).waitFor()
})

test('a message with the status error shows that its error text is missing', async (context) => {
  const { page } = await openTeaMessage(context)
  const { dialog, json, text } = await openEditor(page)
  await json.fill(text.replace('Your tea', 'Your green tea').replace('"sent"', '"error"'))
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.locator('.bubble').getByText('Your green tea').waitFor()
  await page.getByText('The status is error, but there is no error text').waitFor()
})

test('Undo restores a deleted message unchanged', async (context) => {
  const { page, env } = await openTeaMessage(context)
  const message = await newestMessage(env)
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByText('Deleted the message').waitFor()
  expect((await newestMessage(env))?.content).not.toBe('Your tea is here')
  await page.getByRole('button', { name: 'Undo' }).last().click()
  await page.locator('.bubble').getByText('Your tea is here').waitFor()
  expect(await newestMessage(env)).toEqual(message)
})

/** Search texts, each with the query string of `GET /v1/messages` for the same filters. */
const SEARCHES = [
  { words: 'user-ada', query: 'subscriberId=user-ada' },
  { words: 'transaction:order-4711', query: 'transactionId=order-4711' },
  { words: 'channel:email context:tenant:acme', query: 'channel=email&contextKeys=tenant:acme' },
  { words: 'context:none', query: 'contextKeys=' }
]

test('the search field accepts every filter, and the URL contains the search', async (context) => {
  const { page, env, url } = await openInspector(context, { hash: '#/messages' })
  const search = page.getByRole('searchbox', { name: 'Search messages' })
  await expect.poll(() => count(page).innerText()).toBe('60')
  expect(await rows(page).count()).toBeGreaterThan(10)
  await page.keyboard.press('/')
  for (const { words, query } of SEARCHES) {
    await search.fill(words)
    await search.press('Enter')
    const response = await fetch(`${url}/v1/messages?${query}&limit=100`, { headers: env.headers })
    const { totalCount } = (await response.json()) as { totalCount: number }
    expect(totalCount).toBeGreaterThan(0)
    await expect.poll(() => count(page).innerText()).toBe(String(totalCount))
    expect(hashOf(page)).toBe(`#/messages?q=${words.replace(' ', '+')}`)
    expect(await search.inputValue()).toBe(words)
  }
  // The journal has only this test's requests, because the inspector's aren't recorded.
  expect(await env.requests.list()).toHaveLength(SEARCHES.length)
})

test('the list reports an invalid filter, and a search without matches', async (context) => {
  const { page, go } = await openInspector(context, { hash: '#/messages' })
  const search = page.getByRole('searchbox', { name: 'Search messages' })
  await search.fill('nobody-at-all')
  await search.press('Enter')
  await page.getByRole('heading', { name: 'No matching messages' }).waitFor()
  await page.getByText('none of 60 messages contains "nobody-at-all"').waitFor()
  await go('#/messages?channel=fax')
  await page.getByRole('alert').getByText('channel').waitFor()
})

test('one click filters the current search by channel', async (context) => {
  const { page } = await openInspector(context, { hash: '#/messages?q=ada' })
  const channels = page.getByRole('navigation', { name: 'Channel' })
  await channels.getByRole('link', { name: 'push' }).click()
  expect(await page.getByRole('searchbox').inputValue()).toBe('channel:push ada')
  await expect.poll(() => rows(page).filter({ hasNotText: 'push ·' }).count()).toBe(0)
  expect(await rows(page).first().innerText()).toContain('Ada Byron')
  await channels.getByRole('link', { name: 'all channels' }).click()
  await rows(page).filter({ hasText: 'email ·' }).first().waitFor()
})

test.for(['chat', 'in_app'] as const)(
  'long words in %s messages stay inside the pane',
  async (channel, context) => {
    const { page, env, go } = await openInspector(context, { hash: '#/coverage' })
    const content = 'x'.repeat(420)
    const { _id } = await env.messages.add({ channel, subject: content, content })
    await go(`#/messages/${_id}`)
    const text = page.getByRole('article').getByText(content).last()
    for (const width of [320, 1280]) {
      await page.setViewportSize({ width, height: 800 })
      await text.waitFor()
      const { x, width: textWidth } = (await text.boundingBox()) ?? { x: 0, width: 0 }
      expect(x).toBeGreaterThan(0)
      expect(x + textWidth).toBeLessThan(width)
    }
  }
)

test('a failed load shows an error and can be tried again', async (context) => {
  const { page, url, go } = await openInspector(context, { hash: '#/coverage' })
  await page.route('**/_mock/messages*', (route) => route.abort())
  await go('#/messages?channel=sms')
  await page.getByRole('alert').getByText(`no response from ${url}`).waitFor()
  await page.unroute('**/_mock/messages*')
  await page.getByRole('alert').getByRole('button', { name: 'Try again' }).click()
  await rows(page).first().waitFor()
})

test('the arrow keys move from the search to the list and open messages', async (context) => {
  const { page } = await openInspector(context, { hash: '#/messages?channel=sms' })
  await rows(page).nth(2).waitFor()
  await page.keyboard.press('/')
  await page.keyboard.press('ArrowDown')
  await expect.poll(() => focusedLink(page)).toBe(await rows(page).first().getAttribute('href'))
  await rows(page).nth(1).click()
  await page.getByRole('tab', { name: 'As received' }).waitFor()
  await page.keyboard.press('ArrowDown')
  const nextHref = (await rows(page).nth(2).getAttribute('href')) ?? ''
  await expect.poll(() => hashOf(page)).toBe(decodeURIComponent(nextHref))
})

test('Escape closes the open message and focuses its row', async (context) => {
  const { page } = await openInspector(context, { hash: '#/messages?channel=sms' })
  await rows(page).nth(2).click()
  await page.getByRole('button', { name: 'Edit' }).focus()
  await page.keyboard.press('Escape')
  await expect.poll(() => hashOf(page)).toBe('#/messages?q=channel:sms')
  await expect.poll(() => focusedLink(page)).toBe(await rows(page).nth(2).getAttribute('href'))
})

test('the list scrolls to the open message, and Tab focuses a visible row', async (context) => {
  const { page, env, url, go } = await openInspector(context, { hash: '#/messages' })
  const response = await fetch(`${url}/v1/messages?limit=100`, { headers: env.headers })
  const { data } = (await response.json()) as { data: { _id: string }[] }
  const list = page.getByRole('list', { name: 'Messages, newest first' })
  await list.getByRole('link').first().waitFor()
  await go(`#/messages/${data.at(-1)?._id}`)
  const isRowVisible = () =>
    page.evaluate(`(() => {
      const list = document.querySelector('.list').getBoundingClientRect()
      const row = document.querySelector('.list [aria-current="true"]')?.getBoundingClientRect()
      return row !== undefined && row.top >= list.top && row.bottom <= list.bottom
    })()`)
  await expect.poll(isRowVisible).toBe(true)
  await page.reload()
  await expect.poll(isRowVisible).toBe(true)
  await page.evaluate(`document.querySelector('.list').scrollTo(0, 0)`)
  await expect.poll(() => list.locator('[aria-current="true"]').count()).toBe(0)
  // The last channel link is the Tab stop before the list.
  await page.getByRole('navigation', { name: 'Channel' }).getByRole('link').last().focus()
  await page.keyboard.press('Tab')
  expect(await page.evaluate('document.activeElement.getAttribute("href")')).toBe(
    `#/messages/${data[0]?._id}`
  )
})

const PHONE = { viewport: { width: 390, height: 800 } }

test('messages are shown as their subscribers see them', async (context) => {
  const inspector = await openInspector(context, {
    args: ['--seed', 'unicode'],
    hash: '#/messages',
    ...PHONE
  })
  const { page } = inspector
  const open = async (text: string | RegExp) => {
    if (page.url().includes('/messages/')) await page.getByRole('link', { name: 'Close' }).click()
    await rows(page).filter({ hasText: text }).first().click()
  }
  const title = rows(page)
    .filter({ hasText: /طلبك رقم 4698/ })
    .locator('.cut')
    .first()
  // A long right-to-left title is truncated on the left.
  expect(await title.evaluate((element) => element.matches(':dir(rtl)'))).toBe(true)
  await open(/طلبك رقم 4698/)
  await page.locator('.bubble').getByText('مرحبًا ليلى').waitFor()
  const direction = 'getComputedStyle(document.querySelector(".bubble p")).direction'
  expect(await page.evaluate(direction)).toBe('rtl')
  await open(/שלום נועה/)
  await page.locator('.notification').getByText('פתיחה').waitFor()
  await open(/商品を発送しました/)
  await page.locator('.notification').getByText('抹茶茶碗').waitFor()
  await open(/It's "half" price/)
  await page.frameLocator('iframe').getByText('Síle’s “tea”').waitFor()
  expect(await page.getByTitle('The email').getAttribute('sandbox')).toBe('allow-same-origin')
  await expectAccessibleInBoth(inspector)
})

test('an email is as tall as its content, and can be shown as JSON', async (context) => {
  const { page, env, go } = await openInspector(context, PHONE)
  const content = `<p>${'a long letter '.repeat(800)}</p>`
  const { _id } = await env.messages.add({ channel: 'email', subject: 'A letter', content })
  await go(`#/messages/${_id}`)
  const heights = () =>
    page.evaluate<number[]>(`(() => {
      const frame = document.querySelector('iframe')
      return [frame?.clientHeight, frame?.contentDocument.documentElement.scrollHeight]
    })()`)
  await expect.poll(async () => (await heights())[0]).toBeGreaterThan(2000)
  const [frameHeight = 0, contentHeight = 0] = await heights()
  expect(Math.abs(frameHeight - contentHeight)).toBeLessThanOrEqual(2)
  await page.getByRole('tab', { name: 'JSON' }).click()
  const json = page.getByRole('group', { name: 'The message as JSON' })
  await json.getByText('"subject": "A letter"').waitFor()
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
})

const scrollToEnd = (page: Page) =>
  page.evaluate('document.querySelector(".list").scrollTo(0, 1e6)')

/** Opens the inspector with 1,260 messages, and waits until it has loaded the first 1,000. */
async function openManyMessages(context: TestContext): Promise<OpenedInspector> {
  const inspector = await openInspector(context, { hash: '#/messages' })
  await inspector.env.seed({ generate: { messages: 1200 } })
  await inspector.page.reload()
  await expect.poll(() => count(inspector.page).innerText()).toBe('1,000 of 1,260')
  return inspector
}

test('scrolling to the end loads more messages, but renders few rows', async (context) => {
  const { page, events } = await openManyMessages(context)
  const requestedPages = () =>
    events.requested.flatMap((url) =>
      url.includes('/_mock/messages?') ? [new URL(url).searchParams.get('page')] : []
    )
  expect(await page.locator('[aria-setsize="1000"]').count()).toBeLessThan(100)
  const countBefore = requestedPages().length
  await scrollToEnd(page)
  await expect.poll(() => count(page).innerText()).toBe('1,260')
  expect(requestedPages().slice(countBefore)).toEqual(['0', '1'])
  expect(await page.locator('[aria-setsize="1260"]').count()).toBeLessThan(100)
})

test('scrolling to the end during a reload loads more messages', async (context) => {
  const { page, env } = await openManyMessages(context)
  let allowLoading = () => {}
  const isAllowed = new Promise<void>((resolve) => {
    allowLoading = resolve
  })
  await page.route('**/_mock/messages?*', (route) => isAllowed.then(() => route.continue()))
  const loading = page.waitForRequest('**/_mock/messages?*')
  await env.messages.add({ channel: 'sms', content: 'one more' })
  await loading
  await scrollToEnd(page)
  await expect
    .poll(() => page.evaluate('document.querySelector("[aria-posinset=\'1000\']") !== null'))
    .toBe(true)
  allowLoading()
  await expect.poll(() => count(page).innerText()).toBe('1,261')
})

/** Starts a server that counts the requests that hostile markup sends. */
async function startTrap() {
  let hits = 0
  const trap = createServer((_, response) => {
    hits += 1
    response.setHeader('access-control-allow-origin', '*').end()
  }).listen(0, '127.0.0.1')
  onTestFinished(() => {
    trap.close()
    trap.closeAllConnections()
  })
  await once(trap, 'listening')
  return { url: `http://127.0.0.1:${(trap.address() as AddressInfo).port}`, hits: () => hits }
}

/** Returns markup that sets `ran` and sends requests to the trap if a browser renders it. */
const hostileMarkup = (trap: string) =>
  `<script>top.ran = 1; fetch('${trap}/script')</script>` +
  `<img src=x onerror="top.ran = 1"><img src="${trap}/evil">`

/** Returns an email that tries to run scripts, load resources and navigate. */
const hostileEmail = (trap: string) => `<!doctype html><html><head>
  <base href="${trap}/base/"><meta http-equiv="refresh" content="0;url=${trap}/refresh">
  <link rel="stylesheet" href="${trap}/link">
  <style>@import "${trap}/import"; p { color: rgb(1, 2, 3) }</style></head>
  <body onload="top.ran = 1">${hostileMarkup(trap)}
  <p onclick="top.ran = 1" style="background: url('${trap}/style')">Hello</p>
  <svg onload="top.ran = 1"><a xlink:href="javascript:top.ran = 1"><text y="20">svg</text></a></svg>
  <iframe src="${trap}/iframe"></iframe><object data="${trap}/object"></object>
  <video poster="${trap}/poster"></video>
  <form action="${trap}/form"><button>Send it</button></form>
  <div><template shadowrootmode="open"><a href="${trap}/shadow">in a shadow</a></template></div>
  <a href="javascript:top.ran = 1">script link</a>
  <a href="${trap}/top" target="_top">top link</a></body></html>`

/** Returns messages of every channel, with hostile text in every field. */
function hostileMessages(evil: string, email: string) {
  const cta = {
    data: { url: 'javascript:top.ran = 1' },
    action: { buttons: [{ type: 'primary', content: evil, resultContent: evil }] }
  }
  const record = { subject: evil, title: evil, transactionId: evil, payload: { [evil]: evil }, cta }
  const error = { status: 'error', errorText: evil, errorId: evil }
  const block = { type: 'button', content: evil, url: 'javascript:top.ran = 1' }
  const otherChannels = ['sms', 'chat', 'in_app', 'push']
  return [
    { ...record, ...error, channel: 'email', subscriberId: evil, content: email },
    { ...record, channel: 'email', content: [block] },
    ...otherChannels.map((channel) => ({ ...record, channel, subscriberId: evil, content: evil }))
  ]
}

/** Returns a seed with hostile text in every field. */
function hostileSeed(evil: string, email: string) {
  const controlValues = { subject: evil, body: email, [evil]: evil }
  const issues = { controls: { [evil]: [{ issueType: 'MISSING_VALUE', message: evil }] } }
  const step = { stepId: evil, name: evil, type: 'email', controlValues, issues }
  const integration = {
    identifier: evil,
    name: evil,
    providerId: evil,
    channel: 'email',
    credentials: { apiKey: evil }
  }
  return {
    name: evil,
    integrations: [integration],
    subscribers: [{ subscriberId: evil, firstName: evil, email: evil, phone: evil }],
    workflows: [{ identifier: evil, name: evil, steps: [step] }],
    messages: hostileMessages(evil, email)
  }
}

/** Opens the inspector with hostile data. `expectHarmless` checks that the data had no effect. */
async function openHostileData(context: TestContext) {
  const trap = await startTrap()
  const evil = hostileMarkup(trap.url)
  const inspector = await openInspector(context)
  const { page, env, url, events } = inspector
  await env.seed(hostileSeed(evil, hostileEmail(trap.url)) as never, { mode: 'replace' })
  const expectHarmless = async () => {
    expect(await page.evaluate('window.ran')).toBeUndefined()
    expect(trap.hits()).toBe(0)
    // `requested` also contains requests that the Content-Security-Policy blocked, such as requests
    // for the URLs in styles.
    const foreign = events.requested.filter(
      (requested) => !requested.startsWith(url) && !requested.startsWith('about:')
    )
    const isBlocked = (requested: string) => events.troubles.includes(`${requested} csp`)
    expect(foreign.filter((requested) => !isBlocked(requested))).toEqual([])
    expect(new URL(page.url()).origin).toBe(url)
  }
  return { ...inspector, evil, trapUrl: trap.url, expectHarmless }
}

/** Clicks everything in the open email that could run a script or navigate. */
async function clickInEmail(page: Page): Promise<void> {
  const frame = page.frameLocator('iframe')
  expect(await frame.getByText('in a shadow').count()).toBe(0)
  for (const name of ['top link', 'svg', 'Hello', 'Send it']) {
    const target = frame.getByText(name, { exact: true })
    if ((await target.count()) > 0) await target.click()
  }
}

test("hostile messages can't run scripts, load resources or navigate", async (context) => {
  const { page, go, expectHarmless } = await openHostileData(context)
  await go('#/messages')
  await page.reload()
  await expect.poll(() => rows(page).count()).toBe(6)
  for (const row of await rows(page).all()) {
    await row.click()
    for (const tab of ['JSON', 'As received']) await page.getByRole('tab', { name: tab }).click()
    const text = page.locator('[role="tabpanel"]').getByText(/Hello|top.ran/)
    await text.or(page.locator('iframe')).first().waitFor()
    if ((await page.locator('iframe').count()) > 0) await clickInEmail(page)
  }
  await expectHarmless()
})

test('a hostile workflow step is harmless, and its preview keeps its styles', async (context) => {
  const { page, env, go, evil, expectHarmless } = await openHostileData(context)
  expect(await env.workflows.list()).toHaveLength(1)
  await go(`#/workflows/${encodeURIComponent(evil)}/${encodeURIComponent(evil)}`)
  await page.reload()
  const root = page.frameLocator('iframe').locator(':root')
  expect(await root.evaluate('getComputedStyle(document.querySelector("p")).color')).toBe(
    'rgb(1, 2, 3)'
  )
  await expectHarmless()
})

test('hostile integrations, faults and snapshots are harmless', async (context) => {
  const { page, env, go, evil, expectHarmless } = await openHostileData(context)
  await env.snapshot(evil.slice(0, 190))
  await env.faults.add({
    match: { query: { [evil]: evil } },
    effect: { status: 500, headers: { 'x-evil': 'e' }, body: evil }
  })
  await env.integrations.change(evil, { name: `${evil}2` })
  await go(`#/integrations/${encodeURIComponent(evil)}`)
  await page.reload()
  await page.getByRole('button', { name: 'Show credentials' }).click()
  await page.getByRole('button', { name: /fault/ }).click()
  await page.getByText('header').or(page.getByText(/500/)).first().waitFor()
  await page.getByRole('button', { name: 'Changes' }).click()
  await page.getByText('integration changed').first().waitFor()
  await expectHarmless()
})

test('the hostile markup is harmful in an unprotected page', async (context) => {
  const { page, url, events, evil, trapUrl } = await openHostileData(context)
  await page.route('**/control', (route) => route.fulfill({ contentType: 'text/html', body: evil }))
  await page.goto(`${url}/control`)
  await expect.poll(() => page.evaluate('window.ran')).toBe(1)
  await expect
    .poll(() => events.requested.some((requested) => requested.startsWith(trapUrl)))
    .toBe(true)
})
