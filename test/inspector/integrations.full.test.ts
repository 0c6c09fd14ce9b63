import { expect, test } from 'vitest'
import {
  countClicks,
  expectAccessible,
  expectAccessibleInBoth,
  openInspector
} from '../support/inspector.js'

test('one click switches the primary integration of a channel through the API, and Undo switches it back', async (context) => {
  const inspector = await openInspector(context, { hash: '#/integrations' })
  const { page, env } = inspector
  const clicks = countClicks()
  const primaryOf = async (wanted: string) =>
    (await env.integrations.list())
      .filter(({ channel, primary }) => channel === wanted && primary)
      .map(({ name }) => name)
  const toggle = (name: string) => page.getByRole('switch', { name: `${name} is primary for` })
  await clicks.click(toggle('Mailgun (EU)'))
  await page.getByText('Mailgun (EU) is primary for email, instead of SendGrid').waitFor()
  expect([clicks.count, await primaryOf('email')]).toEqual([1, ['Mailgun (EU)']])
  await expect.poll(() => toggle('Mailgun (EU)').isChecked()).toBe(true)
  expect(await toggle('SendGrid').isChecked()).toBe(false)
  const [sent] = await env.requests.list({ operation: 'setIntegrationAsPrimary' })
  expect(sent).toMatchObject({ method: 'POST', status: 200 })
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect.poll(() => primaryOf('email')).toEqual(['SendGrid'])
  await expectAccessibleInBoth(inspector)

  // Switched off, the channel has no primary. The page shows the error text of the service.
  await toggle('Twilio').click()
  await expect.poll(() => primaryOf('sms')).toEqual([])
  await page.getByRole('button', { name: 'Undo' }).last().click()
  await expect.poll(() => primaryOf('sms')).toEqual(['Twilio'])
  await env.faults.add({ operation: 'setIntegrationAsPrimary', effect: { status: 503 } })
  await toggle('Vonage').click()
  await page.getByText(/^503: /).waitFor()
  expect(await toggle('Vonage').isChecked()).toBe(false)
})

test('an integration is added as JSON with server errors at their lines, edited, deleted and restored, and its credentials are hidden by default', async (context) => {
  const inspector = await openInspector(context, {
    hash: '#/integrations',
    viewport: { width: 390, height: 800 }
  })
  const { page, env } = inspector
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Add an integration' })
  const json = dialog.getByLabel('JSON')
  const second = {
    providerId: 'ses',
    channel: 'email',
    name: 'Second',
    credentials: { apiKey: 'SG.secret', from: 'a@b.c' }
  }
  await json.fill(JSON.stringify({ ...second, primary: true }, null, 2))
  await dialog.getByRole('button', { name: 'Add an integration' }).click()
  await dialog
    .getByRole('button', {
      name: /^Line 9: .*sendgrid-main, .* is already the primary email integration/
    })
    .waitFor()
  await expectAccessible(inspector)
  await json.fill(JSON.stringify(second))
  await dialog.getByRole('button', { name: 'Add an integration' }).click()
  await page.getByRole('heading', { name: 'Second' }).waitFor()
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)

  const added = async () => (await env.integrations.list()).find(({ name }) => name === 'Second')
  const edit = async (from: string, to: string) => {
    await page.getByRole('button', { name: 'Edit' }).click()
    const editor = page.getByRole('dialog', { name: 'Edit the integration' }).getByLabel('JSON')
    await editor.fill((await editor.inputValue()).replace(from, to))
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }
  await edit('"active": true', '"active": false')
  expect(await page.locator('body').innerText()).not.toContain('SG.secret')
  // Hidden credentials keep their values.
  expect(await added()).toMatchObject({ active: false, credentials: second.credentials })
  await page.getByRole('button', { name: 'Show credentials' }).click()
  await page
    .getByRole('group', { name: 'The integration as JSON' })
    .getByText('"SG.secret"')
    .waitFor()
  await page.getByRole('link', { name: 'Close' }).click()
  const steps = await page.evaluate('history.length')
  await page.getByRole('searchbox').pressSequentially('seco')
  expect(await page.evaluate('history.length')).toBe(steps)
  await page.getByRole('list', { name: 'Integrations by channel' }).getByRole('link').click()
  await page.getByRole('button', { name: 'Show credentials' }).click()
  await edit('a@b.c', 'd@e.f')
  expect(page.url()).toMatch(/[?]q=seco$/)
  expect((await added())?.credentials).toEqual({ apiKey: 'SG.secret', from: 'd@e.f' })

  const kept = await added()
  await page.getByRole('button', { name: 'Delete' }).click()
  await expect.poll(added).toBeUndefined()
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect.poll(added).toEqual(kept)
})
