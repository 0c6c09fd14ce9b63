import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { expectAccessible, givenInspector } from '../support/inspector.js'

test('the list is filtered and paged by the real request, which is shown, can be copied, and is an address', async (context) => {
  const inspector = await givenInspector(context, {
    hash: '#/messages',
    permissions: ['clipboard-read', 'clipboard-write']
  })
  const { page, env, url, go } = inspector
  const pages = page.getByRole('navigation', { name: 'Pages' })
  const items = page.getByRole('list', { name: 'Messages of this page' }).getByRole('link')
  await page.getByText('GET /v1/messages', { exact: true }).waitFor()

  await page.getByRole('combobox', { name: 'channel' }).selectOption('email')
  await page.getByText('GET /v1/messages?channel=email', { exact: true }).waitFor()
  await pages.getByText('1–10 of 21').waitFor()
  await page.getByRole('button', { name: 'Last page' }).click()
  await pages.getByText('21–21 of 21').waitFor()
  expect(await items.count()).toBe(1)
  expect(await page.getByRole('button', { name: 'Next page' }).isDisabled()).toBe(true)
  await page.keyboard.press('p')
  await pages.getByText('11–20 of 21').waitFor()
  expect(new URL(page.url()).hash).toBe('#/messages?channel=email&page=1')

  // `/` goes to the subscriber; several transactions and contexts.
  await page.locator('h1').click()
  await page.keyboard.press('/')
  await page.keyboard.type('user-ada')
  await page.keyboard.press('Enter')
  await page.waitForURL('**subscriberId=user-ada')
  expect(await page.evaluate('document.activeElement.value')).toBe('user-ada')
  await pages.getByText(/^[0-9]+–[0-9]+ of [0-9]$/).waitFor()
  for (const id of ['order-4711', 'a,b']) {
    await page.getByRole('textbox', { name: 'transactionId' }).fill(id)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: `Remove ${id}` }).waitFor()
  }
  await page.getByRole('textbox', { name: 'contextKeys' }).fill('tenant:acme')
  await page.keyboard.press('Enter')
  const query =
    'channel=email&subscriberId=user-ada&transactionId=order-4711&transactionId=a%2Cb&contextKeys=tenant%3Aacme'
  await page.getByText(`GET /v1/messages?${query}`, { exact: true }).waitFor()
  expect(await items.count()).toBeGreaterThan(0)
  await page.getByRole('button', { name: 'Copy as curl' }).click()
  await page.getByText('Copied').waitFor()
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
    `curl '${url}/v1/messages?${query}' -H 'Authorization: ApiKey ${env.apiKey}'`.replace(
      'Authorization',
      'authorization'
    )
  )
  await page.reload()
  await page.getByText(`GET /v1/messages?${query}`, { exact: true }).waitFor()

  await page.getByRole('checkbox', { name: 'in no context' }).check()
  await page.getByText(`${query.replace('tenant%3Aacme', '')}`).waitFor()
  await page.getByRole('heading', { name: 'No message passes these filters' }).waitFor()
  await expectAccessible(inspector)
  await page.getByRole('link', { name: 'Clear' }).click()
  await page.getByText('GET /v1/messages', { exact: true }).waitFor()

  // What the service refuses, it says; and to who asks for it, an injected fault is shown as a product would see it.
  await go('#/messages?limit=0')
  await page.getByRole('alert').getByText('limit must be a whole number from 1 to 1000').waitFor()
  await env.faults.add({ effect: { status: 503 }, times: 1 })
  await page.getByRole('combobox', { name: 'limit' }).selectOption('25')
  await page.getByText('1–25 of').waitFor()
  expect(await env.requests.list()).toEqual([])
  expect(await env.faults.list()).toMatchObject([{ seen: 0 }])
  await page.getByRole('button', { name: 'Load again' }).click()
  await page.getByRole('alert').waitFor()
  await page.getByText('503', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Load again' }).click()
  await page.getByText('1–25 of').waitFor()
  expect(await env.requests.list()).toMatchObject([{ status: 503 }, { status: 200 }])
})

test('the last page is one click away, and where the service tells no total count one goes on from page to page', async (context) => {
  const { page, mock } = await givenInspector(context, { args: ['--seed', 'many-pages'], hash: '#/messages' })
  const pages = page.getByRole('navigation', { name: 'Pages' })
  const items = page.getByRole('list', { name: 'Messages of this page' }).getByRole('link')
  await page.getByRole('button', { name: 'Last page' }).click()
  await pages.getByText('131–137 of 137').waitFor()
  expect(await items.count()).toBe(7)
  await pages.getByRole('spinbutton', { name: 'page' }).fill('14')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Nothing on page 14' }).waitFor()
  expect(await page.evaluate('document.activeElement.value')).toBe('14')
  await page.getByRole('button', { name: 'Go to the first page' }).click()
  await pages.getByText('1–10 of 137').waitFor()
  expect(await pages.getByRole('spinbutton', { name: 'page' }).inputValue()).toBe('0')

  await mock.environment({ name: 'Live', from: 'Development', profile: 'live' })
  await page.goto('about:blank')
  await page.goto(`${mock.url}/#/messages?environment=Live&limit=100`)
  await pages.getByText('1–100, and there may be more').waitFor()
  expect(await page.getByRole('button', { name: 'Last page' }).isDisabled()).toBe(true)
  await page.getByRole('button', { name: 'Next page' }).click()
  await pages.getByText('101–137', { exact: true }).waitFor()
  expect(await page.getByRole('button', { name: 'Next page' }).isDisabled()).toBe(true)
})

test('a message is added, marked, changed and deleted, and each change is seen by who lists the messages', async (context) => {
  const inspector = await givenInspector(context, { hash: '#/messages', colorScheme: 'dark' })
  const { page, env } = inspector
  const first = async () => {
    const response = await fetch(`${env.url}/v1/messages?limit=1`, { headers: env.headers })
    return ((await response.json()) as { data: Record<string, unknown>[] }).data[0]
  }
  await page.getByRole('button', { name: 'Add a message' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add a message' })
  await dialog.getByLabel('channel *').selectOption('in_app')
  await dialog.getByLabel('subscriberId', { exact: true }).fill('nobody')
  await dialog.getByRole('textbox', { name: 'content' }).fill('Welcome to <b>Kettle & Clay</b>')
  await dialog.getByRole('textbox', { name: 'contextKeys' }).fill('tenant:acme')
  await dialog.getByLabel('subject').fill('Hello Ada')
  await dialog.locator('summary', { hasText: 'More fields' }).click()
  await dialog.locator('summary', { hasText: /^cta/ }).click()
  await dialog.locator('summary', { hasText: /^action/ }).click()
  await dialog.getByLabel('buttons').fill('[{"type":"primary","content":"Look around"}]')
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await dialog.getByText('is nobody, but this environment has no such subscriber; there are guest-58213').waitFor()
  await expectAccessible(inspector)
  await dialog.getByLabel('subscriberId', { exact: true }).fill('user-ada')
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByRole('heading', { name: 'Hello Ada' }).waitFor()
  await page.getByText('Welcome to <b>Kettle & Clay</b>').waitFor()
  await page.getByText('Look around').waitFor()
  expect(await first()).toMatchObject({ subject: 'Hello Ada', contextKeys: ['tenant:acme'], read: false })
  await expectAccessible(inspector)

  await page.getByRole('checkbox', { name: 'read' }).check()
  await page.getByText('It is read now').waitFor()
  await page.getByRole('combobox', { name: 'status' }).selectOption('error')
  await page.getByText('The status is error').waitFor()
  await page.getByRole('button', { name: 'Edit' }).click()
  await page.getByLabel('errorText').fill('Mailbox full')
  await page.getByText('Changes errorText').waitFor()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.getByText('error Mailbox full').waitFor()
  expect(await first()).toMatchObject({ read: true, status: 'error', errorText: 'Mailbox full' })
  // A message that was sent has no error.
  await page.getByRole('combobox', { name: 'status' }).selectOption('sent')
  await expect.poll(async () => (await first())?.errorText).toBeUndefined()

  await page.getByRole('link', { name: 'JSON' }).click()
  await page.getByRole('region', { name: 'The message as JSON' }).getByText('"subject": "Hello Ada"').waitFor()
  // What could not be deleted stays on the screen.
  await page.route('**/_mock/messages/*', (route) => route.abort(), { times: 1 })
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('button', { name: 'Delete it' }).click()
  await page.getByRole('button', { name: 'Dismiss' }).last().waitFor()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.getByRole('heading', { name: 'Hello Ada' }).waitFor()
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('button', { name: 'Delete it' }).click()
  await page.getByRole('heading', { name: 'Hello Ada' }).waitFor({ state: 'detached' })
  expect((await first())?.subject).not.toBe('Hello Ada')
})

test('each channel is shown as its subscriber sees it, from right to left where it is written so', async (context) => {
  const inspector = await givenInspector(context, { args: ['--seed', 'unicode'], hash: '#/messages?limit=100' })
  const { page } = inspector
  const open = (name: string | RegExp) => page.getByRole('link', { name }).click()
  const directionOf = (selector: string) =>
    page.evaluate(`getComputedStyle(document.querySelector('${selector}')).direction`)
  await open(/طلبك رقم 4698/)
  await page.locator('.bubble').waitFor()
  expect(await directionOf('.bubble p')).toBe('rtl')
  expect(await directionOf('[data-item] .name')).toBe('rtl')
  expect(await page.locator('.bubble').innerText()).toContain('مرحبًا ليلى')
  await open(/שלום נועה/)
  await page.locator('.inbox-card').getByText('פתיחה').waitFor()
  expect(await directionOf('.inbox-card .subject')).toBe('rtl')
  await open(/商品を発送しました/)
  await page.locator('.push').getByText('抹茶茶碗').waitFor()
  await open(/It's "half" price/)
  expect(await page.getByTitle('The email').getAttribute('sandbox')).toBe('')
  const email = page.frameLocator('iframe')
  await email.getByText('Síle’s “tea”').waitFor()
  expect(await email.locator('div').first().getAttribute('style')).toBe('text-align: right;')
  await page.locator('summary', { hasText: '1 link in it' }).click()
  await expectAccessible(inspector)
})

test('nothing that a seed holds runs, loads anything or leads away', async (context) => {
  let hits = 0
  const trap = createServer((_, response) => {
    hits++
    response.end()
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void trap.close().closeAllConnections())
  await once(trap, 'listening')
  const away = `http://127.0.0.1:${(trap.address() as AddressInfo).port}`
  const script = `<script>top.ran = 1; fetch('${away}/script')</script>`
  const content = `<!doctype html><html><head><base href="${away}/base/"><meta http-equiv="refresh" content="0;url=${away}/refresh">
    <link rel="stylesheet" href="${away}/link"><style>@import "${away}/import"; body { background: url(${away}/css) }
    @font-face { font-family: f; src: url(${away}/font) } p { font-family: f; color: rgb(1, 2, 3) }</style></head>
    <body onload="top.ran = 1">${script}<p onclick="top.ran = 1" style="background: url('${away}/style')">Hello</p>
    <img src="${away}/img" onerror="top.ran = 1"><img src=x onerror="top.ran = 1"><svg onload="top.ran = 1"><a xlink:href="javascript:top.ran = 1"><text y="20">svg</text></a>
    <image href="${away}/svg" /></svg><iframe src="${away}/iframe"></iframe><object data="${away}/object"></object><embed src="${away}/embed">
    <video src="${away}/video" poster="${away}/poster"></video><form action="${away}/form"><button>Send it</button></form>
    <div><template shadowrootmode="open"><a href="${away}/shadow">shadow link</a><img src="${away}/shadow"></template></div>
    <a href="javascript:top.ran = 1">script link</a> <a href="${away}/self" target="_self">self link</a> <a href="${away}/top" target="_top">top link</a>
    <a href="data:text/html,${encodeURIComponent(script)}">data link</a><a href="relative">relative link</a></body></html>`
  const evil = `${script}<img src=x onerror="top.ran = 1">`
  const file = join(mkdtempSync(join(process.env.TEST_RUN_FOLDER ?? tmpdir(), 'seed-')), 'hostile.json')
  const message = { subject: evil, title: evil, content: evil, transactionId: evil, payload: { [evil]: evil } }
  const cta = {
    data: { url: 'javascript:top.ran = 1' },
    action: { buttons: [{ type: 'primary', content: evil, resultContent: evil }] }
  }
  const channels = ['sms', 'chat', 'in_app', 'push'] as const
  writeFileSync(
    file,
    JSON.stringify({
      environments: [
        {
          name: evil,
          apiKeys: ['the-key'],
          integrations: [
            { identifier: evil, name: evil, providerId: evil, channel: 'email', credentials: { apiKey: evil } }
          ],
          subscribers: [{ subscriberId: evil, firstName: evil, email: evil }],
          messages: [
            { channel: 'email', subscriberId: evil, content, subject: 'The email' },
            {
              channel: 'email',
              subject: 'The blocks',
              content: [
                { type: 'text', content: evil },
                { type: 'button', content: evil, url: 'javascript:top.ran = 1' }
              ]
            },
            ...channels.map((channel) => ({ channel, subscriberId: evil, ...message, cta }))
          ]
        }
      ]
    })
  )
  const inspector = await givenInspector(context, { args: ['--seed', file], hash: '#/messages' })
  const { page, url, events } = inspector
  const items = page.getByRole('list', { name: 'Messages of this page' }).getByRole('link')
  await expect.poll(() => items.count()).toBe(6)
  const frame = page.frameLocator('iframe')
  for (let index = 0; index < 6; index++) {
    await items.nth(index).click()
    await page.getByRole('link', { name: 'As received' }).waitFor()
    if ((await items.nth(index).innerText()).includes('The email')) {
      // The styles of the email count, so the frame shows what it is given.
      expect(await frame.locator(':root').evaluate('getComputedStyle(document.querySelector("p")).color')).toBe(
        'rgb(1, 2, 3)'
      )
      expect(await page.getByTitle('The email').getAttribute('srcdoc')).not.toContain('shadow')
      for (const link of ['script link', 'self link', 'top link', 'data link', 'relative link', 'svg', 'Send it']) {
        await frame.getByText(link).click()
      }
      await frame.getByText('Hello').click()
      await page.locator('summary', { hasText: '6 links in it' }).click()
      // Only addresses of the web and of mail are links.
      expect(await page.locator('.email details a').allTextContents()).toEqual([`${away}/self`, `${away}/top`])
      await frame.getByText('Hello').waitFor()
    }
  }
  await page.getByRole('link', { name: 'Integrations' }).click()
  // Until the view has changed, the links of the messages have the name too.
  await page.locator('a[href^="#/integrations/"]', { hasText: evil }).click()
  await page.getByRole('button', { name: 'Show credentials' }).click()
  expect(await page.evaluate('window.ran')).toBeUndefined()
  expect(hits).toBe(0)
  // What styles name is refused by the policy before it is sent.
  const elsewhere = events.requested.filter((each) => !each.startsWith(url) && !each.startsWith('about:'))
  expect(elsewhere.filter((each) => !events.troubles.includes(`${each} csp`))).toEqual([])
  expect(new URL(page.url()).origin).toBe(url)
  expect(
    page.frames().every((each) => ['about:srcdoc', 'about:blank'].includes(each.url()) || each.url().startsWith(url))
  ).toBe(true)
})
