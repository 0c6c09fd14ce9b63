import type { Page } from '@playwright/test'
import { expect, test } from 'vitest'
import type { AttachedEnvironment } from '../../src/client/index.js'
import {
  expectAccessible,
  expectAccessibleInBoth,
  openInspector,
  sendRequest
} from '../support/inspector.js'

const SET_MAILGUN_AS_PRIMARY = '/v1/integrations/mailgun-eu/set-primary'

/** Returns the name of the primary email integration. */
const emailPrimary = async (env: AttachedEnvironment) =>
  (await env.integrations.list()).find(({ channel, primary }) => channel === 'email' && primary)
    ?.name

test('a snapshot shows the old and new values of fields that changed later', async (context) => {
  const inspector = await openInspector(context, { hash: '#/integrations' })
  const { page, env } = inspector
  await env.snapshot('before')
  await sendRequest(env, SET_MAILGUN_AS_PRIMARY, { method: 'POST' })
  await page.getByRole('button', { name: 'Changes' }).click()
  const snapshot = page.getByRole('listitem', { name: 'before', exact: true })
  const changed = snapshot.getByRole('listitem').filter({ hasText: 'sendgrid-main' })
  expect((await changed.innerText()).split(/\s+/)).toEqual(
    expect.arrayContaining(['primary', 'true', 'false'])
  )
  await expectAccessibleInBoth(inspector)
})

test('a reset keeps the old state in a snapshot', async (context) => {
  const inspector = await openInspector(context, { hash: '#/integrations' })
  const { page, env } = inspector
  await sendRequest(env, SET_MAILGUN_AS_PRIMARY, { method: 'POST' })
  await page.getByRole('button', { name: 'Environment Development' }).click()
  await expectAccessible(inspector)
  await page.getByRole('button', { name: 'Reset', exact: true }).click()
  await expect.poll(() => emailPrimary(env)).toBe('SendGrid')
  const [snapshot] = await env.snapshots()
  expect(snapshot?.name).toMatch(/^before “Reset Development”/)
  await snapshot?.restore()
  expect(await emailPrimary(env)).toBe('Mailgun (EU)')
})

test('one click shows what changed since the environment was created', async (context) => {
  const { page, env } = await openInspector(context, {
    hash: '#/messages',
    viewport: { width: 390, height: 800 }
  })
  const { _id } = await env.messages.add({ channel: 'sms', content: 'late' })
  await env.clock.set('2030-01-01T00:00:00Z')
  await page.getByRole('button', { name: 'Changes' }).click()
  const baseline = page.getByRole('listitem', { name: 'Baseline' })
  await baseline.getByText('message added').waitFor()
  await baseline.getByText(_id).waitFor()
  await baseline.getByText('clock').waitFor()
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
})

test('snapshots are listed newest first and can be deleted', async (context) => {
  const { page, env } = await openInspector(context, {
    hash: '#/messages',
    viewport: { width: 390, height: 800 }
  })
  await env.snapshot('older')
  await env.snapshot('newer')
  await page.getByRole('button', { name: 'Changes' }).click()
  await page.getByRole('button', { name: 'More for older' }).waitFor()
  const names = await page.evaluate(
    "[...document.querySelectorAll('.states > li')].map((item) => item.ariaLabel)"
  )
  expect(names).toEqual(['newer', 'older', 'Baseline'])
  await page.getByRole('button', { name: 'More for older' }).click()
  await page.getByRole('button', { name: 'Delete permanently' }).click()
  await expect.poll(async () => (await env.snapshots()).map(({ name }) => name)).toEqual(['newer'])
})

test('the clock can be frozen, and can use the system time again', async (context) => {
  const inspector = await openInspector(context, { hash: '#/workflows' })
  const { page, env } = inspector
  const clock = page.getByRole('button', { name: /^Clock: / })
  await clock.click()
  await page.getByRole('button', { name: 'Freeze now' }).click()
  await page.getByText('frozen').first().waitFor()
  await clock.click()
  await expectAccessible(inspector)
  await page.getByRole('button', { name: 'Freeze at…' }).click()
  await page.getByLabel('Time in UTC').fill('2030-02-03T04:05:06')
  await page.getByRole('button', { name: 'Freeze', exact: true }).click()
  await page.getByRole('button', { name: 'Clock: 2030-02-03 04:05:06 UTC' }).click()
  await page.getByRole('button', { name: 'Use the system time' }).click()
  await expect.poll(async () => (await env.clock.get()).setting).toEqual({ mode: 'wall' })
})

const identifiersOf = async (env: AttachedEnvironment) =>
  (await env.integrations.list()).map(({ identifier }) => identifier)

/** Clicks the action in the environment menu, and chooses a seed file with the given text. */
async function chooseSeed(page: Page, action: string, text: string): Promise<void> {
  const choosing = page.waitForEvent('filechooser')
  await page.getByRole('button', { name: 'Environment Development' }).click()
  await page.getByRole('button', { name: action }).click()
  const chooser = await choosing
  await chooser.setFiles({ name: 'mine.yaml', mimeType: 'text/yaml', buffer: Buffer.from(text) })
}

/**
 * Clicks Undo to revert a loaded seed. Expects the original data and baseline, and no snapshots.
 */
async function undoSeed(page: Page, env: AttachedEnvironment): Promise<void> {
  await page.getByRole('button', { name: 'Undo' }).last().click()
  await expect.poll(async () => (await identifiersOf(env)).length).toBe(9)
  await expect.poll(async () => (await env.snapshots()).length).toBe(0)
  const unchanged = { added: { count: 0 }, removed: { count: 0 }, changed: { count: 0 } }
  expect(await env.diff()).toMatchObject({ integrations: unchanged, settings: [] })
}

test('a rejected seed file changes nothing, and each error names its line', async (context) => {
  const inspector = await openInspector(context, { hash: '#/workflows' })
  const { page, env } = inspector
  const seed = 'integrations:\n  - providerId: twilio\n    channel: smms\n    colour: red\n'
  await chooseSeed(page, 'Replace the data with a seed…', seed)
  const rejection = page.getByRole('dialog', { name: 'The seed was not loaded' })
  await rejection.getByText(/seed:3:14 .*must be one of/).waitFor()
  await expectAccessible(inspector)
  expect(await env.snapshots()).toEqual([])
  expect(await identifiersOf(env)).toHaveLength(9)
})

test('a seed file replaces or extends the data, and Undo reverts the change', async (context) => {
  const { page, env } = await openInspector(context, { hash: '#/workflows' })
  const seed = 'integrations:\n  - { providerId: twilio, channel: sms, identifier: mine }\n'
  await chooseSeed(page, 'Replace the data with a seed…', seed)
  await expect.poll(() => identifiersOf(env)).toEqual(['mine'])
  await undoSeed(page, env)
  await chooseSeed(page, 'Add data from a seed…', seed)
  await expect.poll(async () => (await identifiersOf(env)).length).toBe(10)
  await undoSeed(page, env)
})

test('the palette loads a built-in seed by name, and Undo reverts it', async (context) => {
  const { page, env } = await openInspector(context, { hash: '#/workflows' })
  await page.getByText('Order shipped').waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill('built-in seed steps')
  await page.getByRole('option', { name: /built-in seed steps/ }).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.getByText('Class draft').waitFor()
  await undoSeed(page, env)
  await page.getByText('Order shipped').waitFor()
})

test('the environment menu names the profile, and opens its assumptions', async (context) => {
  const { page, url } = await openInspector(context)
  await page.getByRole('button', { name: 'Environment Development' }).click()
  const opened = page.context().waitForEvent('page')
  await page.getByRole('button', { name: 'Profile document' }).click()
  expect((await opened).url()).toBe(`${url}/_mock/assumptions`)
})

test('an environment can be created as a fork of another environment', async (context) => {
  const inspector = await openInspector(context, {
    hash: '#/workflows',
    viewport: { width: 390, height: 800 },
    colorScheme: 'dark'
  })
  const { page, mock } = inspector
  await page.getByRole('button', { name: 'Environment Development' }).click()
  await page.getByRole('button', { name: 'New environment…' }).click()
  const dialog = page.getByRole('dialog', { name: 'New environment' })
  expect(await dialog.getByLabel('Copy of').inputValue()).toBe('Development')
  await dialog.getByLabel('Name').fill('Mine')
  await dialog.getByLabel('Profile').selectOption('live')
  await dialog.getByLabel('Freeze its clock').fill('2030-02-03T04:05:06')
  await dialog.getByLabel('Remove it when unused').fill('2')
  await expectAccessible(inspector)
  await page.getByRole('button', { name: 'Create' }).click()
  await page.waitForURL('**/#/workflows?environment=Mine')
  await page.getByText('Order shipped').waitFor()
  expect((await mock.listEnvironments()).at(-1)).toMatchObject({ name: 'Mine', profile: 'live' })
  await page.getByRole('button', { name: 'Clock: 2030-02-03 04:05:06 UTC' }).waitFor()
})

test('the form for a new environment shows each error at its field', async (context) => {
  const { page } = await openInspector(context)
  await page.getByRole('button', { name: 'Environment Development' }).click()
  await page.getByRole('button', { name: 'New environment…' }).click()
  const dialog = page.getByRole('dialog', { name: 'New environment' })
  const create = () => dialog.getByRole('button', { name: 'Create' }).click()
  const errorAt = (label: string) =>
    expect.poll(() => dialog.locator('.field', { hasText: label }).innerText())
  await dialog.getByLabel('Name').fill('Production')
  await create()
  await errorAt('Name').toContain('another environment already has the name')
  await dialog.getByLabel('Name').fill('Unused')
  await dialog.getByLabel('Freeze its clock').fill('20260-01-01T00:00')
  await create()
  await errorAt('Freeze its clock').toContain('must be an ISO 8601 time')
  await dialog.getByLabel('Remove it when unused').fill('721')
  await create()
  // The browser moves the focus to the field, and shows the message there.
  expect(await page.evaluate('document.activeElement.validationMessage')).toContain('720')
})

test('the error for incomplete JSON names the last line', async (context) => {
  const { page } = await openInspector(context, { hash: '#/integrations' })
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Add an integration' })
  await dialog.getByLabel('JSON').fill('{\n  "name":')
  await dialog.getByRole('button', { name: 'Add an integration' }).click()
  await expect.poll(() => dialog.getByRole('alert').innerText()).toContain('Line 2:')
})

test('on a phone, errors are fully readable below the JSON editor', async (context) => {
  const { page } = await openInspector(context, {
    hash: '#/integrations',
    viewport: { width: 390, height: 800 }
  })
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Add an integration' })
  await dialog.getByLabel('JSON').fill('{ "providerId": "twilio", "channel": "fax" }')
  await dialog.getByRole('button', { name: 'Add an integration' }).click()
  const error = dialog.getByText('channel must be one of in_app, email, sms, chat, push')
  const errorBox = await error.boundingBox()
  const jsonBox = await dialog.getByLabel('JSON').boundingBox()
  expect(errorBox?.y).toBeGreaterThanOrEqual((jsonBox?.y ?? 0) + (jsonBox?.height ?? 0))
  // The whole text fits, in two lines of 20 px.
  expect(errorBox?.height).toBeGreaterThan(30)
})
