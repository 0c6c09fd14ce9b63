import { join } from 'node:path'
import { expect, type TestContext, test } from 'vitest'
import { createMock } from '../../src/index.js'
import { MAILGUN, setPrimary } from '../support/control.js'
import { expectAccessibleInBoth, openInspector, sendRequest } from '../support/inspector.js'
import { createTempFolder } from '../support/process.js'

/**
 * Records a failed test with four requests, and reopens it in the inspector with the command
 * `open`. A stub responded to the second request, and the third has an invalid parameter.
 */
async function openReplay(context: TestContext) {
  const file = join(createTempFolder(), 'run.html')
  await using mock = await createMock({ logLevel: 'silent' })
  await using env = await mock.environment({ from: 'Development' })
  await env.describeTest({ title: 'cart › is sent', outcome: 'failed' })
  const reply = () => ({ status: 200, body: { list: [1, 2] } })
  await env.stubs.add({ method: 'GET', path: '/v1/topics', reply })
  await sendRequest(env, setPrimary(MAILGUN), { method: 'POST' })
  await sendRequest(env, '/v1/topics')
  await sendRequest(env, '/v1/messages?limit=0')
  await sendRequest(env, '/v1/messages?limit=1')
  await mock.report(file)
  return openInspector(context, { args: ['open', file, '--no-open'] })
}

test("a reopened test shows each request's result, and `Send next` continues", async (context) => {
  const { page, events, env } = await openReplay(context)
  const rows = page.getByRole('list', { name: 'Recorded requests, oldest first' })
  await expect.poll(() => rows.locator('.chip').allInnerTexts()).toEqual(RESULTS)
  const sendNext = page.getByRole('button', { name: 'Send next' })
  await sendNext.focus()
  await page.keyboard.press('Enter')
  const pane = page.getByRole('group', { name: 'Recorded request 3' })
  await pane.getByText('The response is the same as the recorded one.').waitFor()
  await page.keyboard.press('Enter')
  await page.getByText('4 of 4 requests repeated, 1 with a different response').waitFor()
  expect(await sendNext.isDisabled()).toBe(true)
  expect(await env.requests.list()).toHaveLength(4)
  expect(events.troubles).toEqual([])
})

const RESULTS = ['same', 'differs', 'next', 'later']

test('a response that differs is shown with a diff and the cause', async (context) => {
  const inspector = await openReplay(context)
  const { page, go } = inspector
  await go('#/replay/2')
  const pane = page.getByRole('group', { name: 'Recorded request 2' })
  await pane
    .getByText(/^The response differs from the recorded one: a stub's function responded/)
    .waitFor()
  expect(await pane.locator('del, ins').allInnerTexts()).toEqual([
    '200',
    '501',
    'application/json; charset=utf-8',
    'text/plain; charset=utf-8'
  ])
  await pane.getByRole('group', { name: 'Recorded body' }).getByText('"list"').waitFor()
  await pane
    .getByRole('group', { name: 'Body now' })
    .getByText("can't contain this stub's function")
    .waitFor()
  await expectAccessibleInBoth(inspector)
  await page.setViewportSize({ width: 390, height: 800 })
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  await page.keyboard.press('Escape')
  await page.waitForURL('**/#/replay')
})
