import { expect, test } from 'vitest'
import {
  expectAccessibleInBoth,
  openInspector,
  requestRows,
  sendRequest
} from '../support/inspector.js'

const PATH = '/v1/subscribers/ada/credits'

test('one click adds a stub for an unmocked request, and Undo removes it', async (context) => {
  const { page, env } = await openInspector(context)
  expect(await sendRequest(env, PATH, { method: 'POST' })).toBe(404)
  await requestRows(page).first().click()
  await page.getByRole('button', { name: 'Add a stub' }).click()
  await page.getByText(`POST ${PATH} now gets 201`).waitFor()
  expect(await sendRequest(env, PATH, { method: 'POST' })).toBe(201)

  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('Undone').waitFor()
  expect(await env.stubs.list()).toEqual([])
})

test('the dialog lists, adds and removes stubs', async (context) => {
  const inspector = await openInspector(context)
  const { page, env } = inspector
  await env.stubs.add({ method: 'GET', path: '/v1/topics', body: { data: ['<b>news</b>'] } })
  await page.getByRole('button', { name: /^Environment / }).click()
  await page.getByRole('button', { name: 'Stubs…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Stubs', exact: true })
  await dialog.getByText('GET /v1/topics').waitFor()
  await dialog.getByText('<b>news</b>').waitFor()
  await expectAccessibleInBoth(inspector)

  await dialog.getByRole('button', { name: 'Write a stub as JSON…' }).click()
  await page.getByRole('button', { name: 'Add the stub' }).click()
  await dialog.getByText('POST /v1/events/trigger').waitFor()
  expect(await sendRequest(env, '/v1/events/trigger', { method: 'POST' })).toBe(201)

  await dialog.getByRole('button', { name: 'Remove all' }).click()
  await dialog.getByText('No stubs yet').waitFor()
  expect(await env.stubs.list()).toEqual([])
})
