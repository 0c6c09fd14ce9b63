import { expect, test } from 'vitest'
import { openInspector, requestRows, sendRequest } from '../support/inspector.js'

test('the request form sends any method, path and JSON body', async (context) => {
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

test('`Replay` and the request form show that a response is pending', async (context) => {
  const { page, env } = await openInspector(context)
  await sendRequest(env, '/v1/messages?limit=1')
  await env.faults.add({ times: 2, effect: { delay: 60_000 } })
  await requestRows(page).first().click()
  await page.getByRole('button', { name: 'Replay' }).click()
  expect(await page.getByRole('button', { name: 'Replaying…' }).isDisabled()).toBe(true)
  await page.getByRole('link', { name: 'Edit and resend' }).click()
  await page.getByRole('button', { name: 'Send', exact: true }).focus()
  await page.keyboard.press('Enter')
  expect(await page.getByRole('button', { name: 'Sending…' }).isDisabled()).toBe(true)
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Sending…')
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByText('you canceled the request').waitFor()
})

test('`Edit and resend` sends a request again unchanged', async (context) => {
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

test('the request form shows an error next to the invalid field', async (context) => {
  const { page } = await openInspector(context, { hash: '#/requests/new' })
  const limit = page.getByLabel('limit', { exact: true })
  const send = page.getByRole('button', { name: 'Send', exact: true })
  await limit.fill('5000')
  await send.click()
  const error = page.getByRole('form').getByText('limit must be a whole number from 1 to 1000')
  await error.waitFor()
  // The form has scrolled, so that its buttons don't cover the error.
  const { y: errorTop = 0 } = (await error.boundingBox()) ?? {}
  const { y: buttonTop = 0 } = (await send.boundingBox()) ?? {}
  expect(errorTop + 10).toBeLessThan(buttonTop)
  expect(await limit.getAttribute('aria-invalid')).toBe('true')
  // Typing in another field doesn't scroll back to the error.
  const first = page.getByLabel('channel', { exact: true })
  await first.evaluate((element) => element.scrollIntoView({ block: 'end' }))
  const before = await first.boundingBox()
  await first.fill('email')
  await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))')
  expect(await first.boundingBox()).toEqual(before)
})
