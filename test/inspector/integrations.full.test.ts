import { expect, test } from 'vitest'
import { expectAccessible, givenInspector } from '../support/inspector.js'

test('an integration is made primary by the real operation, without a key, with a fresh one, and again with the same', async (context) => {
  const inspector = await givenInspector(context, { hash: '#/integrations' })
  const { page, env, events } = inspector
  const primaryEmail = async () =>
    (await env.integrations.list()).filter((each) => each.channel === 'email' && each.primary).map((each) => each.name)
  await page.getByRole('link', { name: 'Mailgun (EU)' }).waitFor()

  // By keyboard: into the list, down to the second one.
  await page.getByRole('link', { name: 'SendGrid' }).focus()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Mailgun (EU)' }).waitFor()
  expect(new URL(page.url()).hash).toBe('#/integrations/mailgun-eu')
  await page.getByRole('button', { name: 'Make primary' }).click()
  const answer = page.getByRole('region', { name: 'The answer', exact: true })
  await answer.getByText('"identifier": "mailgun-eu"').waitFor()
  expect(await primaryEmail()).toEqual(['Mailgun (EU)'])
  expect(await answer.getByText('idempotency-key').count()).toBe(0)
  await page.getByRole('link', { name: /Mailgun.*primary/ }).waitFor()

  await page.getByRole('checkbox', { name: 'with a fresh idempotency key' }).check()
  await page.getByRole('button', { name: 'Make primary' }).click()
  await answer.getByText(/^inspector-/).waitFor()
  await page.getByRole('button', { name: 'Send the same again' }).click()
  await answer.getByText('idempotency-replay').waitFor()
  await answer.getByText(/^replay of the answer/).waitFor()
  await expectAccessible(inspector)
  const sent = (await env.requests.list({ operation: 'setIntegrationAsPrimary' })).map(
    ({ flags }) => flags.replayed ?? false
  )
  expect(sent).toEqual([false, false, true])

  // What the service refuses is shown as it is, too.
  await page.getByRole('link', { name: 'Postmark' }).click()
  await page.getByRole('heading', { name: 'Postmark' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Find a command' }).fill('make postmark primary')
  await page.keyboard.press('Enter')
  await answer.getByText('404', { exact: true }).waitFor()
  expect(events.troubles.filter((trouble) => !trouble.includes('404'))).toEqual([])
})

test('credentials are hidden until one asks for them, also in answers and forms', async (context) => {
  const inspector = await givenInspector(context, { hash: '#/integrations/sendgrid-main', colorScheme: 'dark' })
  const { page } = inspector
  await page.getByRole('button', { name: 'Make primary' }).click()
  await page.getByRole('region', { name: 'Body of the answer' }).waitFor()
  await page.locator('summary', { hasText: 'As JSON' }).click()
  expect(await page.locator('body').innerText()).not.toContain('SG.demo')
  await page.getByRole('button', { name: 'Edit' }).click()
  await page.getByRole('dialog').locator('summary', { hasText: 'credentials' }).click()
  const apiKey = page.getByRole('dialog').getByLabel('apiKey', { exact: true })
  expect(await apiKey.getAttribute('type')).toBe('password')
  await expectAccessible(inspector)
  await page.getByRole('checkbox', { name: 'Show secret values' }).check()
  expect([await apiKey.getAttribute('type'), await apiKey.inputValue()]).toEqual(['text', 'SG.demo'])
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Show credentials' }).click()
  expect((await page.locator('body').innerText()).split('SG.demo').length - 1).toBe(3)
  await expectAccessible(inspector)
})

test('an integration is added, changed and deleted by forms that show at their fields what the server refuses', async (context) => {
  const inspector = await givenInspector(context, { hash: '#/integrations', viewport: { width: 390, height: 800 } })
  const { page, env } = inspector
  await page.getByRole('button', { name: 'Add an integration' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add an integration' })
  await dialog.getByLabel('channel *').selectOption('email')
  await dialog.getByLabel('providerId *').fill('ses')
  await dialog.getByLabel('name', { exact: true }).fill('Second')
  await dialog.getByLabel('primary').selectOption('true')
  await dialog.getByText('More fields').click()
  await dialog.getByLabel('conditions').fill('[{"isNegated": false')
  await dialog.getByRole('button', { name: 'Add' }).click()
  // What is not JSON is not sent.
  expect(await dialog.locator('textarea:invalid').count()).toBe(1)
  await dialog.getByLabel('conditions').fill('[{"isNegated": false}]')
  await dialog.getByRole('button', { name: 'Add' }).click()
  await dialog.getByText('conditions[0] must have').waitFor()
  expect(await dialog.getByLabel('conditions').getAttribute('aria-invalid')).toBe('true')
  await expectAccessible(inspector)
  await dialog.getByLabel('conditions').fill('')
  await dialog.getByRole('button', { name: 'Add' }).click()
  await dialog.getByText('sendgrid-main is the primary email integration already').waitFor()
  await dialog.getByLabel('primary').selectOption('(left out)')
  await dialog.getByRole('button', { name: 'Add' }).click()
  await page.getByRole('heading', { name: 'Second' }).waitFor()
  expect((await env.integrations.list()).at(-1)).toMatchObject({ name: 'Second', providerId: 'ses', credentials: {} })

  await page.getByRole('button', { name: 'Edit' }).click()
  const edit = page.getByRole('dialog', { name: 'Edit Second' })
  expect(await edit.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true)
  await edit.locator('summary', { hasText: 'credentials' }).click()
  await edit.getByLabel('apiKey', { exact: true }).fill('a-key')
  await edit.getByLabel('active').selectOption('false')
  await edit.getByText('Changes credentials, active').or(edit.getByText('Changes active, credentials')).waitFor()
  await edit.getByRole('button', { name: 'Save' }).click()
  await edit.waitFor({ state: 'detached' })
  expect((await env.integrations.list()).at(-1)).toMatchObject({ active: false, credentials: { apiKey: 'a-key' } })
  const sideways = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
  expect(await page.evaluate(sideways)).toBe(0)

  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('button', { name: 'Cancel' }).click()
  expect((await env.integrations.list()).at(-1)?.name).toBe('Second')
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('button', { name: 'Delete it' }).click()
  await page.getByRole('link', { name: 'SendGrid' }).waitFor()
  expect((await env.integrations.list()).map(({ name }) => name)).not.toContain('Second')
})
