import { expect, test } from 'vitest'
import { DEVELOPMENT } from '../support/control.js'
import { itemsOf, meet } from '../support/coverage.js'
import { expectAccessible, givenInspector } from '../support/inspector.js'
import { clientOf } from '../support/mock.js'

test('coverage says what was never met and how to meet it: who does all of it by hand gets to 100 %', async (context) => {
  const inspector = await givenInspector(context, { hash: '#/coverage' })
  const { page, env, events, url } = inspector
  const send = (path: string) => fetch(`${url}${path}`, { headers: env.headers })
  const altogether = page.getByRole('region', { name: 'Altogether' })
  await altogether.getByText('0 of 33 things that the contract documents were met by 0 requests.').waitFor()
  await send('/v1/messages?channel=email&colour=red')
  await send('/v1/nothing')
  await page.getByRole('button', { name: 'Load again' }).click()
  await altogether.getByText('4 of 33').waitFor()
  const listed = page.getByRole('region', { name: 'listMessages' })
  await listed.getByText('4 of 18', { exact: true }).waitFor()
  await listed.getByRole('row', { name: 'met query channel=email 1' }).waitFor()
  await listed.getByRole('row', { name: /^never query channel=sms send it with a request that gets a 200/ }).waitFor()
  await listed.getByText('Sent, but not read by the operation: colour (1)').waitFor()
  await page.getByRole('region', { name: 'Not served' }).getByText('GET /v1/nothing').waitFor()
  await expectAccessible(inspector)

  await page.getByRole('link', { name: 'Never met (29)' }).click()
  await page.waitForURL('**/#/coverage?show=missing')
  expect(await page.getByText('met', { exact: true }).count()).toBe(0)
  const missing = itemsOf(await env.coverage()).filter(({ covered }) => !covered)
  expect(missing).toHaveLength(29)
  for (const item of missing) await meet(clientOf(url, DEVELOPMENT), item)
  await page.getByRole('button', { name: 'Load again' }).click()
  await page.getByRole('heading', { name: 'Everything that the contract documents was met' }).waitFor()
  expect((await env.coverage()).percentage).toBe(100)

  await page.getByRole('link', { name: 'Show all of it' }).click()
  await page
    .getByRole('row', { name: /^met answered with 500 \(by a fault\)/ })
    .first()
    .waitFor()
  await page.getByRole('link', { name: 'Whole server' }).click()
  await altogether.getByText('to all environments').waitFor()
  await page.getByRole('link', { name: 'This environment' }).click()
  await page.getByRole('button', { name: 'Count from nothing' }).click()
  await altogether.getByText('0 of 33').waitFor()
  expect([(await env.coverage()).covered, (await inspector.mock.coverage()).covered]).toEqual([0, 33])
  expect(events.troubles).toEqual([])
})

test('coverage can be read in the dark and on a narrow screen', async (context) => {
  const inspector = await givenInspector(context, {
    hash: '#/coverage',
    colorScheme: 'dark',
    viewport: { width: 390, height: 800 }
  })
  await inspector.page.getByRole('region', { name: 'Altogether' }).waitFor()
  await expectAccessible(inspector)
  expect(await inspector.page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
})
