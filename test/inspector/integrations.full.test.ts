import type { Page } from '@playwright/test'
import { expect, test } from 'vitest'
import type { AttachedEnvironment, NewIntegration } from '../../src/client/index.js'
import { expectAccessible, openInspector } from '../support/inspector.js'

/** Returns the names of the primary integrations of a channel. */
const primariesOf = async (env: AttachedEnvironment, channel: string) =>
  (await env.integrations.list())
    .filter((integration) => integration.channel === channel && integration.primary)
    .map(({ name }) => name)

/** Locates the switch that makes an integration primary. */
const primarySwitch = (page: Page, name: string) =>
  page.getByRole('switch', { name: `${name} is primary for` })

test('Undo of a new primary restores both integrations and their conditions', async (context) => {
  const { page, env } = await openInspector(context, { hash: '#/integrations' })
  await env.integrations.change('mailgun-eu', {
    active: false,
    conditions: [{ isNegated: false, type: 'GROUP', value: 'AND', children: [] }]
  })
  await env.integrations.change('sendgrid-main', { active: false })
  const before = await env.integrations.list()
  await page.reload()
  await primarySwitch(page, 'Mailgun (EU)').click()
  await page.getByText('Mailgun (EU) is primary for email, instead of SendGrid').waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText('Undone').waitFor()
  expect(await env.integrations.list()).toEqual(before)
})

test('the inspector reports that a new primary integration was activated', async (context) => {
  const { page } = await openInspector(context, { hash: '#/integrations' })
  await primarySwitch(page, 'Vonage').click()
  await page.getByText('Vonage is primary for sms, instead of Twilio. It is active now').waitFor()
})

test("Undo changes nothing if the channel's primary has changed again", async (context) => {
  const { page, env } = await openInspector(context, { hash: '#/integrations' })
  await primarySwitch(page, 'Mailgun (EU)').click()
  await page.getByText('Mailgun (EU) is primary for email, instead of SendGrid').waitFor()
  await env.integrations.change('mailgun-eu', { primary: false })
  await env.integrations.change('ses-k3Zp_Qr8w', { active: true, primary: true })
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByText("Undo isn't possible, because the email integrations").waitFor()
  expect(await primariesOf(env, 'email')).toEqual(['Amazon SES (fallback)'])
})

test('in forced-colors mode, switches and the selected view stay recognizable', async (context) => {
  const { page } = await openInspector(context, {
    hash: '#/integrations',
    forcedColors: 'active'
  })
  const styleOf = (selector: string, property: string) =>
    page.evaluate(`getComputedStyle(document.querySelector('${selector}')).${property}`)
  await primarySwitch(page, 'Twilio').waitFor()
  expect(await styleOf('.switch', 'appearance')).toBe('auto')
  expect(await styleOf('.switch:disabled', 'clipPath')).toBe('none')
  expect(await styleOf('.rail [aria-current]', 'outlineStyle')).toBe('solid')
})

test('a channel can be left without a primary, and Undo restores the primary', async (context) => {
  const { page, env } = await openInspector(context, { hash: '#/integrations' })
  await primarySwitch(page, 'Twilio').click()
  await expect.poll(() => primariesOf(env, 'sms')).toEqual([])
  await page.getByRole('button', { name: 'Undo' }).last().click()
  await expect.poll(() => primariesOf(env, 'sms')).toEqual(['Twilio'])
})

test('an error from the API is shown, and the switch stays off', async (context) => {
  const { page, env } = await openInspector(context, { hash: '#/integrations' })
  await env.faults.add({ operation: 'setIntegrationAsPrimary', effect: { status: 503 } })
  await primarySwitch(page, 'Vonage').click()
  await page.getByText(/^503: /).waitFor()
  expect(await primarySwitch(page, 'Vonage').isChecked()).toBe(false)
})

const PHONE = { viewport: { width: 390, height: 800 } }

const SECOND: NewIntegration = {
  providerId: 'ses',
  channel: 'email',
  identifier: 'second',
  name: 'Second',
  credentials: { apiKey: 'SG.secret', from: 'a@b.c' }
}

const findSecond = async (env: AttachedEnvironment) =>
  (await env.integrations.list()).find(({ name }) => name === 'Second')

/** Replaces text in the JSON of the open integration and saves it. */
async function edit(page: Page, oldText: string, newText: string): Promise<void> {
  await page.getByRole('button', { name: 'Edit' }).click()
  const json = page.getByRole('dialog', { name: 'Edit the integration' }).getByLabel('JSON')
  await json.fill((await json.inputValue()).replace(oldText, newText))
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
}

test('an integration can be added as JSON, and an error shows its line number', async (context) => {
  const inspector = await openInspector(context, { hash: '#/integrations', ...PHONE })
  const { page, env } = inspector
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Add an integration' })
  const json = dialog.getByLabel('JSON')
  const { identifier: _, ...fields } = SECOND
  await json.fill(JSON.stringify({ ...fields, primary: true }, null, 2))
  await dialog.getByRole('button', { name: 'Add an integration' }).click()
  const issue = /^Line 9: .*channel email already has the primary integration sendgrid-main/
  await dialog.getByRole('button', { name: issue }).waitFor()
  await expectAccessible(inspector)
  await json.fill(JSON.stringify(fields))
  await dialog.getByRole('button', { name: 'Add an integration' }).click()
  await page.getByRole('heading', { name: 'Second' }).waitFor()
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  expect(await findSecond(env)).toMatchObject(fields)
})

test('credentials are hidden by default, and editing other fields keeps them', async (context) => {
  const { page, env, go } = await openInspector(context, PHONE)
  await env.integrations.add(SECOND)
  await go('#/integrations/second')
  await edit(page, '"active": true', '"active": false')
  expect(await page.locator('body').innerText()).not.toContain('SG.secret')
  const edited = { active: false, credentials: SECOND.credentials }
  expect(await findSecond(env)).toMatchObject(edited)
  await page.getByRole('button', { name: 'Show credentials' }).click()
  const tree = page.getByRole('group', { name: 'The integration as JSON' })
  await tree.getByText('"SG.secret"').waitFor()
})

test('credentials can be edited while they are shown', async (context) => {
  const { page, env, go } = await openInspector(context, PHONE)
  await env.integrations.add(SECOND)
  await go('#/integrations/second')
  await page.getByRole('button', { name: 'Show credentials' }).click()
  await edit(page, 'a@b.c', 'd@e.f')
  expect((await findSecond(env))?.credentials).toEqual({ apiKey: 'SG.secret', from: 'd@e.f' })
})

test('a search adds no history entries, and stays in the URL after an edit', async (context) => {
  const { page, env } = await openInspector(context, { hash: '#/integrations', ...PHONE })
  await env.integrations.add(SECOND)
  await page.getByRole('link', { name: /^Second/ }).waitFor()
  const historyLength = await page.evaluate('history.length')
  await page.getByRole('searchbox').pressSequentially('seco')
  expect(await page.evaluate('history.length')).toBe(historyLength)
  await page.getByRole('list', { name: 'Integrations by channel' }).getByRole('link').click()
  await edit(page, '"active": true', '"active": false')
  expect(page.url()).toMatch(/[?]q=seco$/)
})

test('Undo restores a deleted integration unchanged', async (context) => {
  const { page, env, go } = await openInspector(context, PHONE)
  await env.integrations.add(SECOND)
  const added = await findSecond(env)
  await go('#/integrations/second')
  await page.getByRole('button', { name: 'Delete' }).click()
  await expect.poll(() => findSecond(env)).toBeUndefined()
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect.poll(() => findSecond(env)).toEqual(added)
})
