import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import {
  countClicks,
  expectAccessible,
  expectAccessibleInBoth,
  openInspector
} from '../support/inspector.js'
import { createTempFolder } from '../support/process.js'

test('a snapshot, a change, its differences by field, a restore and Undo take six clicks', async (context) => {
  const inspector = await openInspector(context, { hash: '#/integrations' })
  const { page, env } = inspector
  const clicks = countClicks()
  const primary = async () =>
    (await env.integrations.list()).find(({ channel, primary }) => channel === 'email' && primary)
      ?.name
  const dialog = page.getByRole('dialog', { name: 'Snapshots and changes' })
  await clicks.click(page.getByRole('button', { name: 'Changes' }))
  await dialog.getByText('No changes since then.').waitFor()
  await clicks.click(dialog.getByRole('button', { name: 'Take a snapshot' }))
  const newest = dialog.getByRole('listitem', { name: /^snapshot, / })
  await newest.getByText('No changes since then.').waitFor()
  await page.keyboard.press('Escape')
  await clicks.click(page.getByRole('switch', { name: 'Mailgun (EU) is primary' }))
  await expect.poll(primary).toBe('Mailgun (EU)')
  await clicks.click(page.getByRole('button', { name: 'Changes' }))
  const changed = newest.getByRole('listitem').filter({ hasText: 'sendgrid-main' })
  expect((await changed.innerText()).split(/\s+/)).toEqual(
    expect.arrayContaining(['primary', 'true', 'false'])
  )
  await expectAccessibleInBoth(inspector)
  await clicks.click(newest.getByRole('button', { name: 'Restore' }))
  await expect.poll(primary).toBe('SendGrid')
  await newest.getByText('No changes since then.').waitFor()
  await clicks.click(dialog.getByRole('button', { name: 'Undo' }).last())
  await expect.poll(primary).toBe('Mailgun (EU)')
  expect(clicks.count).toBe(6)

  // An action that Undo reverts leaves no snapshot. Other actions keep theirs, and so does a reset.
  await expect.poll(async () => (await env.snapshots()).length).toBe(1)
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Environment Development' }).click()
  await expectAccessible(inspector)
  await page.getByRole('button', { name: 'Reset', exact: true }).click()
  await expect.poll(primary).toBe('SendGrid')
  const [, kept] = await env.snapshots()
  expect(kept?.name).toMatch(/^before “Reset Development”/)
  await kept?.restore()
  expect(await primary()).toBe('Mailgun (EU)')
})

test('one click shows the changes since the environment was created, with the newest snapshot first', async (context) => {
  const { page, env } = await openInspector(context, {
    hash: '#/messages',
    viewport: { width: 390, height: 800 }
  })
  await env.snapshot('older')
  const { _id } = await env.messages.add({ channel: 'sms', content: 'late' })
  await env.snapshot('newer')
  await env.clock.set('2030-01-01T00:00:00Z')
  await page.getByRole('button', { name: 'Changes' }).click()
  const made = page.getByRole('listitem', { name: 'Baseline' })
  await made.getByText('message added').waitFor()
  await made.getByText(_id).waitFor()
  await made.getByText('clock').waitFor()
  const names = await page.evaluate(
    "[...document.querySelectorAll('.states > li')].map((item) => item.ariaLabel)"
  )
  expect(names).toEqual(['newer', 'older', 'Baseline'])
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  await page.getByRole('button', { name: 'More for older' }).click()
  await page.getByRole('button', { name: 'Delete permanently' }).click()
  await expect.poll(async () => (await env.snapshots()).map(({ name }) => name)).toEqual(['newer'])
})

test('two clicks advance the clock by a day, and it can be frozen, set, and returned to the system time', async (context) => {
  const inspector = await openInspector(context, { hash: '#/workflows' })
  const { page, env } = inspector
  const clock = page.getByRole('button', { name: /^Clock: / })
  const clicks = countClicks()
  await clicks.click(clock)
  await clicks.click(page.getByRole('button', { name: '+1 day' }))
  await page.getByText('+1 d from the system time').first().waitFor()
  expect([clicks.count, (await env.clock.get()).setting]).toEqual([
    2,
    { mode: 'offset', by: 86_400_000 }
  ])
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect.poll(async () => (await env.clock.get()).setting.mode).toBe('wall')
  await clock.click()
  await page.getByRole('button', { name: 'Freeze now' }).click()
  await page.getByText('frozen').first().waitFor()
  await clock.click()
  await expectAccessible(inspector)
  await page.getByRole('button', { name: 'Freeze at…' }).click()
  const json = page.getByRole('dialog', { name: 'Freeze the clock at a time' }).getByLabel('JSON')
  await json.fill('{ "at": "soon" }')
  await page.getByRole('button', { name: 'Freeze', exact: true }).click()
  await page.getByRole('button', { name: /^Line 2: at must be a time/ }).waitFor()
  await json.fill('{ "at": "2030-02-03T04:05:06Z" }')
  await page.getByRole('button', { name: 'Freeze', exact: true }).click()
  await page.getByRole('button', { name: 'Clock: 2030-02-03 04:05:06 UTC' }).click()
  await page.getByRole('button', { name: 'Use the system time' }).click()
  await expect.poll(async () => (await env.clock.get()).setting).toEqual({ mode: 'wall' })
})

test('two clicks export the state, a seed loads from a file or by name, errors name their lines, and Undo reverts each load', async (context) => {
  const inspector = await openInspector(context, { hash: '#/workflows' })
  const { page, env } = inspector
  const menu = page.getByRole('button', { name: 'Environment Development' })
  const clicks = countClicks()
  const downloaded = page.waitForEvent('download')
  await clicks.click(menu)
  await clicks.click(page.getByRole('button', { name: 'Export as a seed' }))
  const download = await downloaded
  expect([clicks.count, download.suggestedFilename()]).toEqual([2, 'development.yaml'])
  const file = join(createTempFolder(), 'all.yaml')
  await download.saveAs(file)
  expect(parse(readFileSync(file, 'utf8'))).toEqual(await env.state())

  const identifiers = async () =>
    (await env.integrations.list()).map(({ identifier }) => identifier)
  const undo = async () => {
    await page.getByRole('button', { name: 'Undo' }).last().click()
    await expect.poll(async () => (await identifiers()).length).toBe(9)
    await expect.poll(async () => (await env.snapshots()).length).toBe(0)
  }
  const choose = async (name: string, text: string) => {
    const choosing = page.waitForEvent('filechooser')
    await menu.click()
    await page.getByRole('button', { name }).click()
    await (await choosing).setFiles({
      name: 'mine.yaml',
      mimeType: 'text/yaml',
      buffer: Buffer.from(text)
    })
  }
  await choose(
    'Replace the data with a seed…',
    'integrations:\n  - providerId: twilio\n    channel: smms\n    colour: red\n'
  )
  const refusal = page.getByRole('dialog', { name: 'The seed was not loaded' })
  await refusal.getByText(/seed:3:14 .*must be one of/).waitFor()
  await expectAccessible(inspector)
  expect([(await env.snapshots()).length, (await identifiers()).length]).toEqual([0, 9])
  await page.keyboard.press('Escape')
  const mine = 'integrations:\n  - { providerId: twilio, channel: sms, identifier: mine }\n'
  await choose('Replace the data with a seed…', mine)
  await expect.poll(identifiers).toEqual(['mine'])
  await undo()
  await choose('Add data from a seed…', mine)
  await expect.poll(async () => (await identifiers()).length).toBe(10)
  await undo()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill('built-in seed steps')
  await page.keyboard.press('Enter')
  await page.getByText('Class draft').waitFor()
  await undo()
  await page.getByText('Order shipped').waitFor()
})

test('the profile is shown with its changed values marked, and an environment is created', async (context) => {
  const inspector = await openInspector(context, {
    args: ['--assume', 'envelope=data'],
    hash: '#/workflows',
    viewport: { width: 390, height: 800 },
    colorScheme: 'dark'
  })
  const { page, mock } = inspector
  const choose = async (name: string | RegExp) => {
    await page.getByRole('button', { name: 'Environment Development' }).click()
    await page.getByRole('button', { name }).click()
  }
  await choose(/^Profile/)
  const dialog = page.getByRole('dialog', { name: 'Profile document' })
  await dialog.getByText('"envelope": "data"').waitFor()
  expect(await dialog.locator('.is-different').count()).toBe(1)
  expect(await dialog.locator('.key').count()).toBe((await mock.assumptions()).length)
  await expectAccessible(inspector)
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  await page.keyboard.press('Escape')
  // The focus returns to the button that opens the menu.
  await expect
    .poll(() => page.evaluate('document.activeElement.ariaLabel'))
    .toBe('Environment Development')

  await choose('New environment…')
  const made = { name: 'Mine', from: 'Development', profile: 'live' }
  await page
    .getByRole('dialog', { name: 'New environment' })
    .getByLabel('JSON')
    .fill(JSON.stringify(made))
  await expectAccessible(inspector)
  await page.getByRole('button', { name: 'Create' }).click()
  await page.waitForURL('**/#/workflows?environment=Mine')
  await page.getByText('Order shipped').waitFor()
  expect((await mock.listEnvironments()).at(-1)).toMatchObject({ name: 'Mine', profile: 'live' })
})
