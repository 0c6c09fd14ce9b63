import { expect, test } from 'vitest'
import { givenInspector } from '../support/inspector.js'

test('requests without a valid key are counted where one waits for those of the environment', async (context) => {
  const { page, url } = await givenInspector(context)
  await page.getByRole('heading', { name: 'Nothing has come yet' }).waitFor()
  expect(await page.getByRole('link', { name: 'Without a valid key', exact: true }).count()).toBe(1)
  await fetch(`${url}/v1/messages`)
  await page.getByText('One request has come without a valid key').waitFor()
  await fetch(`${url}/v1/messages`, { headers: { authorization: 'ApiKey no-key-of-any' } })
  await page.getByRole('link', { name: 'Without a valid key 2', exact: true }).waitFor()
  await page.getByText('2 requests have come without a valid key').getByRole('link').click()
  await page.getByRole('row', { name: /401 GET \/v1\/messages no environment has this key/ }).waitFor()
})

test('who waits for requests is told of another environment that they came to, and taken there', async (context) => {
  const { page, mock, events } = await givenInspector(context)
  await page.getByRole('heading', { name: 'Nothing has come yet' }).waitFor()
  const production = (await mock.listEnvironments()).find(({ name }) => name === 'Production')
  const [key = ''] = await mock.apiKeys(production?.environmentId ?? '')
  const { url, headers } = mock.attach(key)
  // It expires, and would not if it were looked at again and again.
  const passing = await mock.environment({ name: 'Passing', ttl: '1h' })
  await fetch(`${url}/v1/messages?limit=2`, { headers: passing.headers })
  await fetch(`${url}/v1/messages?limit=1`, { headers })
  await page.getByText('Requests have come with the key of').getByRole('link', { name: 'Production' }).click()
  await page.getByRole('link', { name: 'GET /v1/messages?limit=1' }).waitFor()
  expect(await page.getByRole('combobox', { name: 'Environment' }).inputValue()).toBe(production?.environmentId)
  expect(events.requested.filter((asked) => asked.includes(passing.id))).toEqual([])
})

test('a request for what another environment has tells which one', async (context) => {
  const { page, env, mock } = await givenInspector(context)
  const production = (await mock.listEnvironments()).find(({ name }) => name === 'Production')
  const [key = ''] = await mock.apiKeys(production?.environmentId ?? '')
  const [integration] = await mock.attach(key).integrations.list()
  const { _id } = await env.integrations.add({ identifier: 'ours', providerId: 'ses', channel: 'email' })
  for (const id of [integration?._id, _id]) {
    const path = `/v1/integrations/${id}/set-primary`
    await fetch(env.url + path, { method: 'POST', headers: id === _id ? mock.attach(key).headers : env.headers })
  }
  const hint = page.getByText('has it: was the key of that environment meant?')
  await page.getByRole('link', { name: integration?._id ?? '' }).click()
  await hint.getByRole('link', { name: 'Production' }).click()
  await page.getByRole('heading', { name: 'Integrations', exact: true }).waitFor()
  await page.getByRole('link', { name: 'Requests' }).click()
  await page.getByRole('link', { name: _id }).click()
  await hint.getByRole('link', { name: 'Development' }).waitFor()
})

test('every view tells that a fault or a latency is on, also of one that a test has set, and a faulted request leads to it', async (context) => {
  const { page, env } = await givenInspector(context, { hash: '#/workflows' })
  const views = page.getByRole('navigation', { name: 'Views' })
  const ask = () => fetch(`${env.url}/v1/messages`, { headers: env.headers })
  await page.getByRole('heading', { name: 'Order shipped' }).waitFor()
  expect(await views.getByRole('link', { name: 'Faults', exact: true }).count()).toBe(1)
  await env.faults.add({ operation: 'listMessages', times: 2, effect: { status: 503 } })
  expect((await ask()).status).toBe(503)
  await views.getByRole('link', { name: 'Faults 1 on', exact: true }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Find a command' }).fill('latency: office')
  await page.keyboard.press('Enter')
  await views.getByRole('link', { name: 'Faults 1 on slow', exact: true }).waitFor()
  expect((await ask()).status).toBe(503)
  await views.getByRole('link', { name: 'Faults slow', exact: true }).waitFor()

  await views.getByRole('link', { name: 'Requests' }).click()
  await page.getByRole('row', { name: /503/ }).first().getByRole('link').click()
  await page
    .getByRole('region', { name: /^Request/ })
    .getByRole('link', { name: 'fault-1' })
    .click()
  await page.getByRole('listitem').filter({ hasText: 'fault-1' }).getByText('used up').waitFor()
})

test('the palette has a button, a menu leaves the slash to the search, and the arrow down goes on from it to the list', async (context) => {
  const { page } = await givenInspector(context, { hash: '#/integrations' })
  await page.getByRole('button', { name: 'All actions' }).click()
  await page.getByRole('combobox', { name: 'Find a command' }).fill('go to requests')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Send one from here' }).click()
  const line = page.getByRole('link', { name: 'GET /v1/messages' })
  await line.waitFor()
  await page.getByRole('combobox', { name: 'Status' }).focus()
  await page.keyboard.press('/')
  await page.keyboard.type('messages')
  expect(await page.getByRole('searchbox').inputValue()).toBe('messages')
  await page.keyboard.press('ArrowDown')
  expect(await page.evaluate('document.activeElement?.textContent')).toBe('GET /v1/messages')
})

test('a file that is dragged over the page is told what becomes of it, and one that was not loaded is forgotten with the dialog', async (context) => {
  const { page } = await givenInspector(context, { hash: '#/messages' })
  await page.getByRole('heading', { name: 'Messages', exact: true }).waitFor()
  const dataTransfer = await page.evaluateHandle(`(() => {
    const transfer = new DataTransfer()
    transfer.items.add(new File(['integrations: []'], 'mine.yaml'))
    return transfer
  })()`)
  const told = page.getByText('Drop the seed file;')
  await page.dispatchEvent('main', 'dragover', { dataTransfer })
  await told.waitFor()
  await page.dispatchEvent('main', 'dragleave', { dataTransfer })
  await told.waitFor({ state: 'detached' })
  await page.dispatchEvent('main', 'dragover', { dataTransfer })
  await page.dispatchEvent('main', 'drop', { dataTransfer })
  const seed = page.getByRole('dialog', { name: 'Seed' })
  await seed.getByText('mine.yaml').waitFor()
  expect(await told.count()).toBe(0)
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Seed' }).click()
  await seed.getByRole('button', { name: 'empty' }).waitFor()
  expect(await seed.getByText('mine.yaml').count()).toBe(0)
})

test('a reset names the environment, before it is done and after', async (context) => {
  const { page, mock } = await givenInspector(context, { hash: '#/workflows?environment=Production&panel=reset' })
  const reset = page.getByRole('dialog', { name: 'Back to the start' })
  await reset.getByText('What of Production goes back').waitFor()
  await reset.getByRole('button', { name: 'Reset everything' }).click()
  await page.getByText('Back at the start: everything of Production').waitFor()
  await page.getByRole('combobox', { name: 'Environment' }).selectOption('Development')
  await page.getByRole('heading', { name: 'Order shipped' }).waitFor()
  expect(await mock.listEnvironments()).toHaveLength(3)
})

test('in a narrow window everything of the bar and every view stands in sight', async (context) => {
  const { page } = await givenInspector(context, { viewport: { width: 390, height: 800 } })
  await page.getByRole('heading', { name: 'Requests', exact: true }).waitFor()
  for (const part of [page.getByRole('button', { name: 'Reset' }), page.getByRole('link', { name: 'API docs' })]) {
    const box = await part.boundingBox()
    expect(box && box.x >= 0 && box.x + box.width <= 390 && box.y + box.height < 300).toBe(true)
  }
})

test('a list that the server did not answer says so in words', async (context) => {
  const { page, url } = await givenInspector(context, { hash: '#/workflows' })
  await page.getByRole('heading', { name: 'Order shipped' }).waitFor()
  await page.route('**/v1/messages', (route) => route.abort())
  await page.getByRole('link', { name: 'Messages' }).click()
  await page.getByRole('alert').getByText(`no answer from ${url}`).waitFor()
  await page.unroute('**/v1/messages')
  await page.getByRole('alert').getByRole('button', { name: 'Try again' }).click()
  await page.getByText('of 0 to 5').waitFor()
})

test('beside a list of messages or integrations, what is open follows the arrows, and Escape closes it where one was', async (context) => {
  const { page, go } = await givenInspector(context, { hash: '#/messages' })
  const hash = () => new URL(page.url()).hash
  const focused = () => page.evaluate('document.activeElement?.getAttribute("href")')
  const items = page.locator('[data-item]')
  for (const view of ['messages', 'integrations']) {
    await go(`#/${view}`)
    await page.getByRole('heading', { level: 1, name: view }).waitFor()
    await items.nth(2).waitFor()
    const first = await items.nth(1).getAttribute('href')
    const second = await items.nth(2).getAttribute('href')
    await items.nth(1).focus()
    await page.keyboard.press('Enter')
    await expect.poll(hash).toBe(first)
    await page.getByTitle('Close (Esc)').waitFor()
    await page.keyboard.press('ArrowDown')
    await expect.poll(hash).toBe(second)
    // From somewhere in what is open.
    await page.getByRole('button', { name: 'Edit' }).focus()
    await page.keyboard.press('Escape')
    await expect.poll(hash).toBe(`#/${view}`)
    await expect.poll(focused).toBe(second)
    expect(hash()).toBe(`#/${view}`)
  }
})
