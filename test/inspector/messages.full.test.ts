import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import {
  countClicks,
  expectAccessible,
  expectAccessibleInBoth,
  openInspector
} from '../support/inspector.js'

test('four clicks add a message for a subscriber, which is marked as read, edited with errors at their lines, deleted and restored', async (context) => {
  const inspector = await openInspector(context, { hash: '#/messages' })
  const { page, env } = inspector
  const clicks = countClicks()
  const list = page.getByRole('list', { name: 'Messages, newest first' })
  await list.getByRole('link').first().waitFor()
  await clicks.click(page.getByRole('button', { name: 'Add', exact: true }))
  const dialog = page.getByRole('dialog', { name: 'Add a message' })
  // The subscriber field has the focus.
  await page.keyboard.type('user-ada')
  await clicks.click(dialog.getByText('sms', { exact: true }))
  await clicks.click(dialog.getByLabel('Content'))
  await page.keyboard.type('Your tea is here')
  await expectAccessible(inspector)
  await clicks.click(dialog.getByRole('button', { name: 'Add a message' }))
  await page.locator('.bubble').getByText('Your tea is here').waitFor()
  expect(clicks.count).toBe(4)
  const first = async () => (await env.state()).environments[0]?.messages?.at(-1)
  expect(await first()).toMatchObject({
    channel: 'sms',
    phone: '+447700900142',
    content: 'Your tea is here'
  })

  await page.getByRole('button', { name: 'Mark as read' }).click()
  await page.getByRole('button', { name: 'Mark as unread' }).waitFor()
  await page.getByRole('button', { name: 'Edit' }).click()
  const editor = page.getByRole('dialog', { name: 'Edit the message' })
  const json = editor.getByLabel('JSON')
  const text = await json.inputValue()
  const lineOf = (word: string) => text.slice(0, text.indexOf(word)).split('\n').length
  await json.fill(text.replace('"sms"', '"sms'))
  await editor.getByRole('button', { name: 'Save' }).click()
  await editor.getByRole('button', { name: `Line ${lineOf('"sms"')}: ` }).waitFor()
  await json.fill(text.replace('"sent"', '"gone"').replace('Your tea', 'Your green tea'))
  await editor.getByRole('button', { name: 'Save' }).click()
  const issue = editor.getByRole('button', { name: /status must be one of sent, error, warning/ })
  expect(await issue.innerText()).toContain(`Line ${lineOf('"status"')}`)
  await issue.click()
  expect(await page.evaluate('getSelection().toString()')).toContain('"status": "gone"')
  await expectAccessible(inspector)
  expect((await first())?.content).toBe('Your tea is here')
  // The error is shown even if the text changes while the request is pending.
  const answered = page.waitForResponse((response) => response.request().method() === 'PATCH')
  await page.route('**/_mock/messages/*', async (route) => {
    await json.fill('{')
    await route.continue()
  })
  await editor.getByRole('button', { name: 'Save' }).click()
  await answered
  await issue.waitFor()
  await page.unroute('**/_mock/messages/*')
  await json.fill(text.replace('Your tea', 'Your green tea').replace('"sent"', '"error"'))
  await editor.getByRole('button', { name: 'Save' }).click()
  await page.locator('.bubble').getByText('Your green tea').waitFor()
  await page.getByText('The status is error, but there is no error text').waitFor()

  const kept = await first()
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByText('Deleted the message').waitFor()
  expect((await first())?.content).not.toBe('Your green tea')
  await page.getByRole('button', { name: 'Undo' }).last().click()
  await page.locator('.bubble').getByText('Your green tea').waitFor()
  expect(await first()).toEqual(kept)
})

test('one field searches by subscriber, transaction, context and channel, the address keeps the search, and errors are shown as text', async (context) => {
  const { page, env, url, go } = await openInspector(context, { hash: '#/messages' })
  const search = page.getByRole('searchbox', { name: 'Search messages' })
  const rows = page.getByRole('list', { name: 'Messages, newest first' }).getByRole('link')
  const hash = () => decodeURIComponent(new URL(page.url()).hash)
  await expect.poll(() => page.getByRole('status').first().innerText()).toBe('60')
  const { length: shown } = await rows.all()
  expect(shown).toBeGreaterThan(10)
  await page.keyboard.press('/')
  for (const [words = '', count] of [
    ['user-ada', 'subscriberId=user-ada'],
    ['order-4711', 'transactionId=order-4711'],
    ['channel:email tenant:acme', 'channel=email&contextKeys=tenant:acme'],
    ['context:none', 'contextKeys=']
  ]) {
    await search.fill(words)
    await search.press('Enter')
    const answer = await fetch(`${url}/v1/messages?${count}&limit=100`, { headers: env.headers })
    const { totalCount } = (await answer.json()) as { totalCount: number }
    expect(totalCount).toBeGreaterThan(0)
    await expect.poll(() => page.getByRole('status').first().innerText()).toBe(String(totalCount))
    expect(hash()).toBe(`#/messages?q=${words.replace(' ', '+')}`)
    expect(await search.inputValue()).toBe(words)
  }
  // The arrow moves from the search field to the list.
  await page.keyboard.press('ArrowDown')
  await expect
    .poll(() => page.evaluate('document.activeElement.getAttribute("href")'))
    .toBe(await rows.first().getAttribute('href'))
  await search.fill('nobody-at-all')
  await search.press('Enter')
  await page.getByRole('heading', { name: 'No matching messages' }).waitFor()
  await go('#/messages?channel=fax')
  await page.getByRole('alert').getByText('channel').waitFor()
  // The page's own requests aren't recorded as requests of the app.
  expect(await env.requests.list()).toHaveLength(4)

  await page.route('**/v1/messages*', (route) => route.abort())
  await go('#/messages?channel=sms')
  await page.getByRole('alert').getByText(`no response from ${url}`).waitFor()
  await page.unroute('**/v1/messages*')
  await page.getByRole('alert').getByRole('button', { name: 'Try again' }).click()
  await rows.first().waitFor()

  // The arrows open the next message. Escape closes it and focuses its row.
  await rows.nth(1).click()
  await page.getByRole('tab', { name: 'As received' }).waitFor()
  await page.keyboard.press('ArrowDown')
  await expect.poll(hash).toBe(decodeURIComponent((await rows.nth(2).getAttribute('href')) ?? ''))
  await page.getByRole('button', { name: 'Edit' }).focus()
  await page.keyboard.press('Escape')
  await expect.poll(hash).toBe('#/messages?q=channel:sms')
  await expect
    .poll(() => page.evaluate('document.activeElement.getAttribute("href")'))
    .toBe(await rows.nth(2).getAttribute('href'))
})

test('a list shows the row that a link opens, and Tab reaches a row at any scroll offset', async (context) => {
  const { page, env, url, go } = await openInspector(context, { hash: '#/messages' })
  const answer = await fetch(`${url}/v1/messages?limit=100`, { headers: env.headers })
  const { data } = (await answer.json()) as { data: { _id: string }[] }
  const list = page.getByRole('list', { name: 'Messages, newest first' })
  await list.getByRole('link').first().waitFor()
  await go(`#/messages/${data.at(-1)?._id}`)
  const isInSight = () =>
    page.evaluate(`(() => {
      const list = document.querySelector('.list').getBoundingClientRect()
      const row = document.querySelector('.list [aria-current="true"]')?.getBoundingClientRect()
      return row !== undefined && row.top >= list.top && row.bottom <= list.bottom
    })()`)
  await expect.poll(isInSight).toBe(true)
  await page.reload()
  await expect.poll(isInSight).toBe(true)
  await page.evaluate(`document.querySelector('.list').scrollTo(0, 0)`)
  await expect.poll(() => list.locator('[aria-current="true"]').count()).toBe(0)
  await page.getByRole('button', { name: 'Add', exact: true }).focus()
  await page.keyboard.press('Tab')
  expect(await page.evaluate('document.activeElement.getAttribute("href")')).toBe(
    `#/messages/${data[0]?._id}`
  )
})

test('each channel is shown as the subscriber sees it, in both themes, and an email is as tall as its content', async (context) => {
  const inspector = await openInspector(context, {
    args: ['--seed', 'unicode'],
    hash: '#/messages',
    viewport: { width: 390, height: 800 }
  })
  const { page, env } = inspector
  const rows = page.getByRole('list', { name: 'Messages, newest first' }).getByRole('link')
  const open = async (name: string | RegExp) => {
    if (page.url().includes('/messages/')) await page.getByRole('link', { name: 'Close' }).click()
    await rows.filter({ hasText: name }).first().click()
  }
  const directionOf = (selector: string) =>
    page.evaluate(`getComputedStyle(document.querySelector('${selector}')).direction`)
  await open(/طلبك رقم 4698/)
  await page.locator('.bubble').getByText('مرحبًا ليلى').waitFor()
  expect(await directionOf('.bubble p')).toBe('rtl')
  await open(/שלום נועה/)
  await page.locator('.notification').getByText('פתיחה').waitFor()
  await open(/商品を発送しました/)
  await page.locator('.notification').getByText('抹茶茶碗').waitFor()
  await open(/It's "half" price/)
  await page.frameLocator('iframe').getByText('Síle’s “tea”').waitFor()
  expect(await page.getByTitle('The email').getAttribute('sandbox')).toBe('allow-same-origin')
  await expectAccessibleInBoth(inspector)
  const content = `<p>${'a long letter '.repeat(800)}</p>`
  const { _id } = await env.messages.add({ channel: 'email', subject: 'A letter', content })
  await inspector.go(`#/messages/${_id}`)
  const heights = () =>
    page.evaluate<number[]>(`(() => {
      const frame = document.querySelector('iframe')
      return [frame.clientHeight, frame.contentDocument.documentElement.scrollHeight]
    })()`)
  await expect.poll(async () => (await heights())[0]).toBeGreaterThan(2000)
  const [frame = 0, document = 0] = await heights()
  expect(Math.abs(frame - document)).toBeLessThanOrEqual(2)
  await page.getByRole('tab', { name: 'JSON' }).click()
  await page
    .getByRole('group', { name: 'The message as JSON' })
    .getByText('"subject": "A letter"')
    .waitFor()
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
})

test('the page loads a thousand messages at once, renders only visible rows, and loads more on scrolling, also during a load', async (context) => {
  const { page, env, events } = await openInspector(context, { hash: '#/messages' })
  await env.seed({ generate: { messages: 1200 } })
  const asked = () =>
    events.requested.flatMap((each) =>
      each.includes('/v1/messages?') ? [new URL(each).searchParams.get('page')] : []
    )
  const count = page.getByRole('status').first()
  const scrollToEnd = () => page.evaluate('document.querySelector(".list").scrollTo(0, 1e6)')
  await page.reload()
  await expect.poll(() => count.innerText()).toBe('1,000 of 1,260')
  expect(await page.locator('[aria-setsize="1000"]').count()).toBeLessThan(100)
  const before = asked().length
  await scrollToEnd()
  await expect.poll(() => count.innerText()).toBe('1,260')
  expect(asked().slice(before)).toEqual(['0', '1'])
  expect(await page.locator('[aria-setsize="1260"]').count()).toBeLessThan(100)

  // Another client adds a message, and the list is scrolled to its end while the page loads it.
  await page.reload()
  await expect.poll(() => count.innerText()).toBe('1,000 of 1,260')
  let goOn = () => {}
  const held = new Promise<void>((resolve) => {
    goOn = resolve
  })
  await page.route('**/v1/messages?*', (route) => held.then(() => route.continue()))
  const loading = page.waitForRequest('**/v1/messages?*')
  await env.messages.add({ channel: 'sms', content: 'one more' })
  await loading
  await scrollToEnd()
  await expect
    .poll(() => page.evaluate('document.querySelector("[aria-posinset=\'1000\']") !== null'))
    .toBe(true)
  goOn()
  await expect.poll(() => count.innerText()).toBe('1,261')
})

test('content of a seed runs no script, loads no resource and navigates nowhere', async (context) => {
  let hits = 0
  const trap = createServer((_, response) => {
    hits++
    response.setHeader('access-control-allow-origin', '*').end()
  }).listen(0, '127.0.0.1')
  onTestFinished(() => {
    trap.close()
    trap.closeAllConnections()
  })
  await once(trap, 'listening')
  const away = `http://127.0.0.1:${(trap.address() as AddressInfo).port}`
  const script = `<script>top.ran = 1; fetch('${away}/script')</script>`
  const evil = `${script}<img src=x onerror="top.ran = 1"><img src="${away}/evil">`
  const content = `<!doctype html><html><head><base href="${away}/base/"><meta http-equiv="refresh" content="0;url=${away}/refresh">
    <link rel="stylesheet" href="${away}/link"><style>@import "${away}/import"; p { color: rgb(1, 2, 3) }</style></head>
    <body onload="top.ran = 1">${evil}<p onclick="top.ran = 1" style="background: url('${away}/style')">Hello</p>
    <svg onload="top.ran = 1"><a xlink:href="javascript:top.ran = 1"><text y="20">svg</text></a></svg>
    <iframe src="${away}/iframe"></iframe><object data="${away}/object"></object><video poster="${away}/poster"></video>
    <form action="${away}/form"><button>Send it</button></form>
    <div><template shadowrootmode="open"><a href="${away}/shadow">in a shadow</a></template></div>
    <a href="javascript:top.ran = 1">script link</a> <a href="${away}/top" target="_top">top link</a></body></html>`
  const cta = {
    data: { url: 'javascript:top.ran = 1' },
    action: { buttons: [{ type: 'primary', content: evil, resultContent: evil }] }
  }
  const record = { subject: evil, title: evil, transactionId: evil, payload: { [evil]: evil }, cta }
  const controlValues = { subject: evil, body: content, [evil]: evil }
  const issues = { controls: { [evil]: [{ issueType: 'MISSING_VALUE', message: evil }] } }
  const seed = {
    name: evil,
    integrations: [
      {
        identifier: evil,
        name: evil,
        providerId: evil,
        channel: 'email',
        credentials: { apiKey: evil }
      }
    ],
    subscribers: [{ subscriberId: evil, firstName: evil, email: evil, phone: evil }],
    workflows: [
      {
        identifier: evil,
        name: evil,
        steps: [{ stepId: evil, name: evil, type: 'email', controlValues, issues }]
      }
    ],
    messages: [
      {
        channel: 'email',
        subscriberId: evil,
        ...record,
        content,
        status: 'error',
        errorText: evil,
        errorId: evil
      },
      {
        channel: 'email',
        ...record,
        content: [{ type: 'button', content: evil, url: 'javascript:top.ran = 1' }]
      },
      ...['sms', 'chat', 'in_app', 'push'].map((channel) => ({
        channel,
        subscriberId: evil,
        ...record,
        content: evil
      }))
    ]
  }
  const { page, mock, env, url, go, events } = await openInspector(context)
  await env.seed(seed as never, { mode: 'replace' })
  await env.snapshot(evil.slice(0, 190))
  await env.faults.add({
    match: { query: { [evil]: evil } },
    effect: { status: 500, headers: { 'x-evil': 'e' }, body: evil }
  })
  await env.integrations.change(evil, { name: `${evil}2` })
  await go('#/messages')
  await page.reload()
  const rows = page.getByRole('list', { name: 'Messages, newest first' }).getByRole('link')
  await expect.poll(() => rows.count()).toBe(6)
  for (let index = 0; index < 6; index++) {
    await rows.nth(index).click()
    for (const tab of ['JSON', 'As received']) await page.getByRole('tab', { name: tab }).click()
    await page
      .locator('[role="tabpanel"]')
      .getByText(/Hello|top.ran/)
      .or(page.locator('iframe'))
      .first()
      .waitFor()
    if ((await page.locator('iframe').count()) === 0) continue
    const frame = page.frameLocator('iframe')
    expect(await frame.getByText('in a shadow').count()).toBe(0)
    for (const name of ['top link', 'svg', 'Hello', 'Send it']) {
      const target = frame.getByText(name, { exact: true })
      if ((await target.count()) > 0) await target.click()
    }
  }
  const mail = await mock.attach(env.apiKey).workflows.list()
  expect(mail).toHaveLength(1)
  await go(`#/workflows/${encodeURIComponent(evil)}/${encodeURIComponent(evil)}`)
  const frame = page.frameLocator('iframe')
  expect(
    await frame.locator(':root').evaluate('getComputedStyle(document.querySelector("p")).color')
  ).toBe('rgb(1, 2, 3)')
  await go(`#/integrations/${encodeURIComponent(evil)}`)
  await page.getByRole('button', { name: 'Show credentials' }).click()
  await page.getByRole('button', { name: /fault/ }).click()
  await page.getByText('header').or(page.getByText(/500/)).first().waitFor()
  await page.getByRole('button', { name: 'Changes' }).click()
  await page.getByText('integration changed').first().waitFor()
  expect(await page.evaluate('window.ran')).toBeUndefined()
  expect(hits).toBe(0)
  // The content security policy blocks resources named in styles before they are requested.
  const elsewhere = events.requested.filter(
    (each) => !each.startsWith(url) && !each.startsWith('about:')
  )
  expect(elsewhere.filter((each) => !events.troubles.includes(`${each} csp`))).toEqual([])
  expect(new URL(page.url()).origin).toBe(url)

  // The same text in an unprotected page does all of this.
  await page.route('**/control', (route) => route.fulfill({ contentType: 'text/html', body: evil }))
  await page.goto(`${url}/control`)
  await expect.poll(() => page.evaluate('window.ran')).toBe(1)
  await expect.poll(() => events.requested.some((each) => each.startsWith(away))).toBe(true)
})
