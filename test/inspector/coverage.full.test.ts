import { expect, test } from 'vitest'
import { expectAccessibleInBoth, openInspector, sendRequest } from '../support/inspector.js'

test('the view lists covered parts of the API, and how to cover missing parts', async (context) => {
  const inspector = await openInspector(context, {
    hash: '#/coverage',
    viewport: { width: 390, height: 800 }
  })
  const { page, env } = inspector
  const { total } = await env.coverage()
  await page.getByRole('heading', { name: `0 of ${total} parts of the API are covered` }).waitFor()
  await env.faults.add({ operation: 'retrieveWorkflowStep', effect: { status: 500 } })
  for (const path of ['/v1/messages?channel=email', '/v2/workflows/order-shipped/steps/email-step'])
    await sendRequest(env, path)
  const { covered } = await env.coverage()
  await page.getByRole('heading', { name: `${covered} of ${total} parts of the API` }).waitFor()
  const list = page.getByRole('region', { name: 'listMessages' })
  await list.getByText('channel=email', { exact: true }).waitFor()
  const missing = list.getByRole('list', { name: 'Not covered in listMessages' })
  await missing.getByText('channel=sms', { exact: true }).waitFor()
  await missing.getByText('send it with a request that gets a 200').first().waitFor()
  expect(await missing.getByText('channel=email', { exact: true }).count()).toBe(0)
  await expectAccessibleInBoth(inspector)
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)

  await page.getByRole('button', { name: 'Start over' }).click()
  await page.getByRole('heading', { name: `0 of ${total} parts of the API` }).waitFor()
  expect((await env.coverage()).requests).toBe(0)
})
