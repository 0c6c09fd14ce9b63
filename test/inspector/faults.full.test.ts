import { expect, test } from 'vitest'
import { expectAccessible, givenInspector } from '../support/inspector.js'

test('a fault of one click meets the next request of its operation, or each until it is switched off, and is counted', async (context) => {
  const inspector = await givenInspector(context, { hash: '#/faults' })
  const { page, env, url, events } = inspector
  const send = (path = '/v1/messages') => fetch(`${url}${path}`, { headers: env.headers })
  const rules = page.getByRole('region', { name: 'Rules' }).getByRole('listitem')
  await page.getByRole('heading', { name: 'No faults: every request is answered as it should be' }).waitFor()
  await expectAccessible(inspector)

  await page.getByRole('combobox', { name: 'Operation' }).selectOption('listMessages')
  await page.getByRole('button', { name: /^503 with Retry-After/ }).click()
  await rules.getByText('listMessages, once').waitFor()
  expect((await send('/v1/nothing')).status).toBe(501)
  const failed = await send()
  expect([failed.status, failed.headers.get('retry-after'), (await send()).status]).toEqual([503, '1', 200])
  // Without a click: the page sees the requests come.
  await rules.filter({ hasText: '503 with retry-after: 1 used up' }).getByText('seen 2, hits 1').waitFor()

  await page.getByRole('button', { name: 'Until switched off' }).click()
  await page.waitForURL('**/#/faults?operation=listMessages&times=always')
  const late = page.getByRole('button', { name: /^429/ })
  await late.click()
  await expect.poll(() => late.getAttribute('aria-pressed')).toBe('true')
  expect([(await send()).status, (await send()).status]).toEqual([429, 429])
  await rules.filter({ hasText: 'until switched off' }).getByText('seen 2, hits 2').waitFor()
  await expectAccessible(inspector)
  await late.click()
  await expect.poll(() => late.getAttribute('aria-pressed')).toBe('false')
  expect([(await send()).status, (await env.faults.list()).length]).toEqual([200, 1])

  // The others, one after the other: what a client meets, and whether the server has done it.
  await page.getByRole('combobox', { name: 'Operation' }).selectOption('Any operation')
  await page.getByRole('button', { name: 'Once', exact: true }).click()
  for (const name of [/^3 s of delay/, /^Connection reset/, /^Cut-off answer/, /^Lost answer/]) {
    const count = await rules.count()
    await page.getByRole('button', { name }).click()
    await expect.poll(() => rules.count()).toBe(count + 1)
  }
  const startedAt = performance.now()
  const outcomes: (number | undefined)[] = []
  for (const _ of [1, 2, 3, 4, 5]) {
    outcomes.push(
      await send()
        .then(
          (response) => response.text().then(() => response.status),
          () => undefined
        )
        .catch(() => undefined)
    )
  }
  expect(outcomes).toEqual([200, undefined, undefined, undefined, 200])
  expect(performance.now() - startedAt).toBeGreaterThan(2900)
  await expect.poll(() => rules.getByText('used up').count()).toBe(5)
  const requests = await env.requests.list({ operation: 'listMessages' })
  expect(requests.slice(-5).map(({ flags }) => flags.faulted)).toEqual([
    'fault-3',
    'fault-4',
    'fault-5',
    'fault-6',
    undefined
  ])

  await page.getByRole('button', { name: 'Remove fault-4' }).click()
  await expect
    .poll(async () => (await env.faults.list()).map(({ id }) => id))
    .toEqual(['fault-1', 'fault-3', 'fault-5', 'fault-6'])
  await page.getByRole('button', { name: 'Remove all' }).click()
  await page.getByRole('heading', { name: /^No faults/ }).waitFor()
  expect(await env.faults.list()).toEqual([])
  expect(events.troubles).toEqual([])
})

test('latency, rules by hand and rules from elsewhere are told in words, also in the dark and on a narrow screen', async (context) => {
  const inspector = await givenInspector(context, {
    hash: '#/faults',
    colorScheme: 'dark',
    viewport: { width: 390, height: 800 }
  })
  const { page, env, url, events } = inspector
  const latency = page.getByRole('region', { name: 'Latency' })
  await latency.getByText('Answers are not delayed.').waitFor()
  // What a preset says of itself is what the server does.
  for (const [title, figures] of [
    ['Bad', { delay: 400, spread: 600 }],
    ['Mobile', { delay: 80, spread: 70 }],
    ['Office', { delay: 20, spread: 10 }]
  ] as const) {
    const button = latency.getByRole('button', { name: title })
    await button.click()
    await expect.poll(() => button.getAttribute('aria-pressed')).toBe('true')
    expect(await env.latency.get()).toMatchObject(figures)
    const average = figures.delay + figures.spread
    const words = `from ${figures.delay} ms, on average ${average === 1000 ? '1 s' : `${average} ms`}`
    expect(await button.innerText()).toContain(words)
  }
  await latency.getByText('Each answer comes at least 20 ms later, on average 30 ms.').waitFor()
  await latency.getByLabel('Your own: at least').fill('120')
  await latency.getByLabel('and on average this much more').fill('0')
  await latency.getByRole('button', { name: 'Set' }).click()
  await latency.getByText('Each answer comes 120 ms later.').waitFor()
  await fetch(`${url}/v1/messages?limit=5`, { headers: env.headers })
  expect((await env.requests.list()).map(({ flags }) => flags.delayed)).toEqual([120])

  // From the palette, wherever one is.
  await inspector.go('#/requests')
  await page.getByRole('heading', { name: 'Requests', exact: true }).waitFor()
  const command = async (text: string) => {
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Find a command' }).fill(text)
    await page.keyboard.press('Enter')
  }
  await command('latency: none')
  await expect.poll(async () => (await env.latency.get()).preset).toBe('none')
  await command('fail next list 503')
  await expect.poll(async () => (await env.faults.list())[0]).toMatchObject({ operation: 'listMessages', times: 1 })
  await page.getByRole('link', { name: /v1.messages/ }).click()
  await page.getByRole('button', { name: 'Fail the next one like it' }).click()
  await page.getByRole('status').getByRole('link', { name: 'Faults' }).last().click()
  const rules = page.getByRole('region', { name: 'Rules' }).getByRole('listitem')
  await rules.filter({ hasText: 'listMessages with path = /v1/messages, limit = 5, once' }).waitFor()

  await page.getByRole('button', { name: 'Add a rule by hand' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add a rule' })
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await dialog.getByRole('alert').waitFor()
  await expectAccessible(inspector)
  await dialog.getByLabel('times', { exact: true }).fill('3')
  await dialog.getByLabel('status', { exact: true }).fill('502')
  await dialog.getByText('More fields').click()
  await dialog.getByLabel('every', { exact: true }).fill('2')
  await dialog.getByRole('button', { name: 'Add', exact: true }).click()
  await rules.filter({ hasText: 'Any operation, 3 times, every 2 requests' }).waitFor()
  expect((await env.faults.list()).at(-1)).toMatchObject({ times: 3, every: 2, effect: { status: 502 } })
  // What a text says is a text.
  await env.faults.add({
    match: { query: { channel: '<img src=x onerror=alert(1)>' } },
    effect: { delay: 1500, abort: 'reset' }
  })
  await command('load everything again')
  await rules
    .filter({ hasText: '1.5 s of delay, then connection reset' })
    .getByText('channel = <img src=x onerror=alert(1)>')
    .waitFor()
  await expectAccessible(inspector)
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  await command('remove all faults')
  await page.getByRole('heading', { name: /^No faults/ }).waitFor()
  expect(events.troubles.filter((trouble) => !trouble.includes('422'))).toEqual([])
})
