import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import {
  countClicks,
  expectAccessible,
  expectAccessibleInBoth,
  openInspector,
  requestRows,
  sendRequest
} from '../support/inspector.js'
import { createTempFolder } from '../support/process.js'

const COPYING = { permissions: ['clipboard-read', 'clipboard-write'] }

test('the first screen shows why a request was rejected, and its response', async (context) => {
  const { page, env } = await openInspector(context)
  await sendRequest(env, '/v1/messages?limit=5000')
  await sendRequest(env, '/v1/messages')
  const detail = page.getByRole('group', { name: 'Request 1' })
  await detail.getByText('limit must be a whole number from 1 to 1000').first().waitFor()
  const body = detail.getByRole('group', { name: 'Response body' })
  expect(await body.innerText()).toContain('"statusCode": 422')
})

test('three clicks make the next two requests fail, and Undo removes a fault', async (context) => {
  const inspector = await openInspector(context)
  const { page, env } = inspector
  const clicks = countClicks()
  await sendRequest(env, '/v1/messages?limit=1')
  await clicks.click(requestRows(page).first())
  await clicks.click(page.getByRole('button', { name: 'Fail the next request like this' }))
  await expectAccessible(inspector)
  await clicks.click(page.getByRole('button', { name: '500 twice' }))
  await page.getByText('GET /v1/messages: 500, twice').waitFor()
  expect(clicks.count).toBe(3)
  const statuses = []
  for (let count = 0; count < 3; count += 1)
    statuses.push(await sendRequest(env, '/v1/messages?limit=2'))
  expect(statuses).toEqual([500, 500, 200])
  await page.getByRole('button', { name: 'Fail the next request like this' }).click()
  await page.getByRole('button', { name: 'Lost response always' }).click()
  await page.getByText('GET /v1/messages: Lost response, always').waitFor()
  await page.getByRole('button', { name: 'Undo' }).last().click()
  await expect.poll(async () => (await env.faults.list()).map(({ times }) => times)).toEqual([2])
})

test('copied curl and fetch code repeats a request, and copied verify code finds it', async (context) => {
  const { page, env } = await openInspector(context, COPYING)
  const body = `{"note":"it's \\"quoted\\" and שלום"}`
  const path = '/v1/integrations/sendgrid-main/set-primary?note=%5Ba%5D%20%26%20b&note=2'
  const headers = { 'idempotency-key': `it's`, 'content-type': 'application/json' }
  await sendRequest(env, path, { method: 'POST', headers, body })
  const copied = () => page.evaluate<string>('navigator.clipboard.readText()')
  const clicks = countClicks()
  await clicks.click(requestRows(page).first())
  await clicks.click(page.getByRole('button', { name: 'Copy as curl' }))
  expect(clicks.count).toBe(2)
  await expect.poll(copied).toMatch(/^curl/)
  expect(await copied()).toContain(env.apiKey)
  await promisify(execFile)('sh', ['-c', await copied()])
  const again = async () =>
    (await env.requests.list({ order: 'newest' })).filter(({ status }) => status)
  await expect.poll(async () => (await again()).length).toBe(2)

  await page.getByRole('button', { name: 'More copy formats' }).click()
  await page.getByRole('button', { name: 'Copy as fetch' }).click()
  await expect.poll(copied).toMatch(/^await fetch/)
  await new Function(`return (async () => { ${await copied()} })()`)()
  await expect.poll(async () => (await again()).length).toBe(3)
  const sent = (await again()).map(({ path, query, headers, body }) => [
    path,
    query,
    headers['idempotency-key'],
    body
  ])
  expect(sent[0]).toEqual(sent[2])
  expect(sent[1]).toEqual(sent[2])

  await page.getByRole('button', { name: 'More copy formats' }).click()
  await page.getByRole('button', { name: 'Copy as a verify() call' }).click()
  await expect.poll(copied).toMatch(/^await env\.requests\.verify\(\{/)
  const run = new Function('env', `return (async () => { return ${await copied()} })()`)
  expect(await run(env)).toMatchObject({ matched: 3 })
})

test('one click replays a request and compares both responses', async (context) => {
  const inspector = await openInspector(context, { colorScheme: 'dark' })
  const { page, env } = inspector
  await env.faults.add({ effect: { status: 503 } })
  await sendRequest(env, '/v1/messages?limit=1')
  const clicks = countClicks()
  await clicks.click(page.getByRole('button', { name: 'Replay' }))
  const now = page.getByRole('group', { name: 'Now' })
  await now.waitFor()
  await page.getByText('Now · 200').waitFor()
  expect(clicks.count).toBe(1)
  await page.getByText(/^different status, \d+ differences$/).waitFor()
  expect(await page.locator('.is-different').count()).toBeGreaterThan(0)
  await expectAccessible(inspector)
  expect(await env.requests.list()).toMatchObject([
    { status: 503, query: { limit: '1' } },
    { status: 200, query: { limit: '1' } }
  ])
  await page.getByRole('button', { name: 'Replay' }).click()
  await page.getByRole('tab', { name: 'Response' }).click()
  expect(await page.getByRole('group', { name: 'Now' }).count()).toBe(0)

  // Both responses are truncated and masked in the same way, so they are equal.
  await sendRequest(env, '/v1/messages?limit=60')
  await requestRows(page).filter({ hasText: 'limit=60' }).first().click()
  await page.getByRole('group', { name: 'Response body' }).getByText('"totalCount"').waitFor()
  await page.getByText('Truncated: the response had').waitFor()
  await page.getByRole('button', { name: 'Replay' }).click()
  await page.getByText('The responses are equal').waitFor()
})

test('one click shows the hints on a phone, and each links to its requests', async (context) => {
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

test('three clicks compare two responses', async (context) => {
  const { page, env } = await openInspector(context)
  await sendRequest(env, '/v1/messages?limit=2')
  await sendRequest(env, '/v1/messages?limit=2')
  // Wait for both requests. Otherwise, the first row may still be the older request.
  await requestRows(page).nth(1).waitFor()
  const clicks = countClicks()
  await clicks.click(requestRows(page).first())
  await clicks.click(page.getByRole('button', { name: 'Compare with another request' }))
  await clicks.click(page.getByRole('button', { name: /^#1 200/ }))
  await page.getByText('The responses are equal').waitFor()
  expect(clicks.count).toBe(3)
})

test('the palette finds one of 10,000 messages by an id or a word, and Enter opens it', async (context) => {
  const { page, env, url } = await openInspector(context, {
    args: ['--seed', await seedOf(10_000)]
  })
  const { messages } = await env.messages.search({ page: 900, limit: 10 })
  const [{ _id = '', transactionId } = { transactionId: '' }] = messages
  await env.messages.change(_id, { subject: 'A rhododendron' })
  for (const text of [transactionId, _id, 'rhododendron']) {
    await page.goto(`${url}/#/integrations`)
    await page.getByRole('heading', { level: 1, name: 'Integrations' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').waitFor()
    await page.keyboard.insertText(text)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'A rhododendron' }).waitFor()
    expect(new URL(page.url()).hash).toBe(`#/messages/${_id}?q=${text}`)
  }
  // A link opens the message even if the list doesn't contain it.
  await page.goto(`${url}/#/messages/${_id}?q=nothing`)
  await page.getByRole('heading', { name: 'A rhododendron' }).waitFor()
}, 60_000)

/** Writes a seed file that generates the given number of messages. Returns the file's path. */
async function seedOf(messages: number): Promise<string> {
  const file = join(createTempFolder(), 'many.yaml')
  await writeFile(
    file,
    `environments:
  - name: Many
    apiKeys: [many-key]
    workflows: [{ identifier: news, name: News, steps: [{ stepId: email-step, type: email }] }]
    generate: { messages: ${messages}, randomSeed: 7 }
`
  )
  return file
}

test('three clicks edit a request and send it again', async (context) => {
  const inspector = await openInspector(context)
  const { page, env } = inspector
  await sendRequest(env, '/v1/messages?limit=5000&chanel=email')
  const clicks = countClicks()
  await clicks.click(requestRows(page).first())
  await clicks.click(page.getByRole('link', { name: 'Edit and resend' }))
  await page.getByLabel('limit', { exact: true }).fill('2')
  await page.getByLabel('Other parameters').fill('')
  await clicks.click(page.getByRole('button', { name: 'Send', exact: true }))
  const response = page.getByRole('group', { name: 'Response', exact: true })
  await response.getByRole('group', { name: 'Response body' }).getByText('"pageSize": 2').waitFor()
  expect(clicks.count).toBe(3)
  await expectAccessibleInBoth(inspector)
  expect(await env.requests.get(2)).toMatchObject({ status: 200, query: { limit: '2' } })
  await response.getByRole('link', { name: 'Open as #2' }).click()
  await page.getByRole('group', { name: 'Request 2' }).waitFor()
})

test('the request form sends any method, path and JSON body, for example to a stub', async (context) => {
  const { page, env } = await openInspector(context)
  await env.stubs.add({ method: 'PUT', path: '/v1/topics', status: 202, body: 'stubbed' })
  await page.getByRole('link', { name: 'New request' }).click()
  await page.getByRole('button', { name: 'Another path' }).click()
  await page.getByLabel('Method').selectOption('PUT')
  await page.getByLabel('Path and query').fill('/v1/topics?a=1')
  await page.getByLabel('Body').fill('{"name":"b"}')
  await page.keyboard.press('Control+Enter')
  await page.getByText('stubbed').waitFor()
  expect(await env.requests.get(1)).toMatchObject({
    status: 202,
    query: { a: '1' },
    headers: { 'content-type': 'application/json' },
    body: '{"name":"b"}'
  })
})

test('Replay and the request form show that a response is pending', async (context) => {
  const { page, env } = await openInspector(context)
  await sendRequest(env, '/v1/messages?limit=1')
  await env.faults.add({ times: 2, effect: { delay: 60_000 } })
  await requestRows(page).first().click()
  await page.getByRole('button', { name: 'Replay' }).click()
  expect(await page.getByRole('button', { name: 'Replaying…' }).isDisabled()).toBe(true)
  await page.getByRole('link', { name: 'Edit and resend' }).click()
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  expect(await page.getByRole('button', { name: 'Sending…' }).isDisabled()).toBe(true)
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByText('you canceled the request').waitFor()
})

test('Edit and resend sends a request again unchanged', async (context) => {
  const { page, env, go } = await openInspector(context)
  const headers = { 'idempotency-key': 'once', 'x-trace': 'a: b' }
  for (const [method, path] of [
    ['GET', '/v1/messages?transactionId=a%20b&transactionId=c%26d&limit=5'],
    ['GET', '/v1/messages?chanel=a%3Db&page=1&page=1&subscriberId='],
    ['POST', '/v1/integrations/a%2Fb/set-primary'],
    ['PATCH', '/v1/topics/%C3%A9?q=%2B']
  ] as const) {
    await sendRequest(env, path, { method, headers })
    const [sent] = await env.requests.list({ order: 'newest', limit: 1 })
    await go(`#/requests/new?from=${sent?.sequence}`)
    await page.getByRole('heading', { name: `Edit request ${sent?.sequence}` }).waitFor()
    await page.getByRole('button', { name: 'Send', exact: true }).click()
    await page.getByRole('link', { name: /^Open as/ }).waitFor()
    const [again] = await env.requests.list({ order: 'newest', limit: 1 })
    expect(again?.sequence).not.toBe(sent?.sequence)
    expect(again).toMatchObject({ method, path: sent?.path, query: sent?.query, headers })
  }
})

test('the request form rejects a header line without a name', async (context) => {
  const { page } = await openInspector(context, { hash: '#/requests/new' })
  await page.getByLabel('Headers').fill('x-trace: 1\n: 2')
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await page.getByText('“: 2” has no name: write it as name:value').waitFor()
  expect(await page.getByLabel('Headers').getAttribute('aria-invalid')).toBe('true')
})

test('the request form shows the error of a parameter at its field', async (context) => {
  const { page } = await openInspector(context, { hash: '#/requests/new' })
  const limit = page.getByLabel('limit', { exact: true })
  await limit.fill('5000')
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await page.getByRole('form').getByText('limit must be a whole number from 1 to 1000').waitFor()
  expect(await limit.getAttribute('aria-invalid')).toBe('true')
})
