import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { countClicks, expectAccessible, givenInspector } from '../support/inspector.js'
import { givenFolder } from '../support/process.js'

test('a snapshot, a change, what differs by field, a restore and its Undo take six clicks', async (context) => {
  const inspector = await givenInspector(context, { hash: '#/integrations' })
  const { page, env } = inspector
  const clicks = countClicks()
  const primary = async () =>
    (await env.integrations.list()).find(({ channel, primary }) => channel === 'email' && primary)?.name
  const dialog = page.getByRole('dialog', { name: 'Snapshots and changes' })
  await clicks.click(page.getByRole('button', { name: 'Changes' }))
  await dialog.getByText('Nothing has changed since.').waitFor()
  await clicks.click(dialog.getByRole('button', { name: 'Take a snapshot' }))
  const newest = dialog.getByRole('listitem', { name: /^snapshot, / })
  await newest.getByText('Nothing has changed since.').waitFor()
  await page.keyboard.press('Escape')
  await clicks.click(page.getByRole('switch', { name: 'Mailgun (EU) is primary' }))
  await expect.poll(primary).toBe('Mailgun (EU)')
  await clicks.click(page.getByRole('button', { name: 'Changes' }))
  const changed = newest.getByRole('listitem').filter({ hasText: 'sendgrid-main' })
  expect((await changed.innerText()).split(/\s+/)).toEqual(expect.arrayContaining(['primary', 'true', 'false']))
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await expectAccessible(inspector)
  }
  await clicks.click(newest.getByRole('button', { name: 'Restore' }))
  await expect.poll(primary).toBe('SendGrid')
  await newest.getByText('Nothing has changed since.').waitFor()
  await clicks.click(dialog.getByRole('button', { name: 'Undo' }).last())
  await expect.poll(primary).toBe('Mailgun (EU)')
  expect(clicks.count).toBe(6)

  // What was taken back leaves nothing behind; what was not stays in a snapshot, and a reset does too.
  await expect.poll(async () => (await env.snapshots()).length).toBe(1)
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Environment Development' }).click()
  await expectAccessible(inspector)
  await page.getByRole('button', { name: 'Reset', exact: true }).click()
  await expect.poll(primary).toBe('SendGrid')
  const [, kept] = await env.snapshots()
  expect(kept?.name).toMatch(/^before “Development is reset”/)
  await kept?.restore()
  expect(await primary()).toBe('Mailgun (EU)')
})

test('what the environment has changed since it was made is one click away, the newest snapshot comes first', async (context) => {
  const { page, env } = await givenInspector(context, { hash: '#/messages', viewport: { width: 390, height: 800 } })
  await env.snapshot('older')
  const { _id } = await env.messages.add({ channel: 'sms', content: 'late' })
  await env.snapshot('newer')
  await env.clock.set('2030-01-01T00:00:00Z')
  await page.getByRole('button', { name: 'Changes' }).click()
  const made = page.getByRole('listitem', { name: 'As it was made' })
  await made.getByText('message added').waitFor()
  await made.getByText(_id).waitFor()
  await made.getByText('clock').waitFor()
  const names = await page.evaluate("[...document.querySelectorAll('.states > li')].map((item) => item.ariaLabel)")
  expect(names).toEqual(['newer', 'older', 'As it was made'])
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  await page.getByRole('button', { name: 'More of older' }).click()
  await page.getByRole('button', { name: 'Delete it for good' }).click()
  await expect.poll(async () => (await env.snapshots()).map(({ name }) => name)).toEqual(['newer'])
})

test('the clock goes a day ahead by two clicks, is stopped, set, and follows the machine again', async (context) => {
  const inspector = await givenInspector(context, { hash: '#/workflows' })
  const { page, env } = inspector
  const clicks = countClicks()
  await clicks.click(page.getByRole('button', { name: /^Clock: / }))
  await clicks.click(page.getByRole('button', { name: '+1 day' }))
  await page.getByText('+1 d from the machine').waitFor()
  expect([clicks.count, (await env.clock.get()).setting]).toEqual([2, { mode: 'offset', by: 86_400_000 }])
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect.poll(async () => (await env.clock.get()).setting.mode).toBe('wall')
  await page.getByRole('button', { name: /^Clock: / }).click()
  await page.getByRole('button', { name: 'Stop it now' }).click()
  await page.getByText('It stands still.').waitFor()
  await page.getByLabel('A time in UTC').fill('2030-02-03T04:05:06')
  await page.getByRole('button', { name: 'Stop it there' }).click()
  await page.getByRole('button', { name: 'Clock: 2030-02-03 04:05:06 UTC' }).waitFor()
  await expectAccessible(inspector)
  await page.getByRole('button', { name: "The machine's time" }).click()
  await expect.poll(async () => (await env.clock.get()).setting).toEqual({ mode: 'wall' })
})

test('the state is exported by two clicks, a scenario or a dropped file loaded, its issues shown at their lines, and all can be undone', async (context) => {
  const inspector = await givenInspector(context, { hash: '#/workflows' })
  const { page, env } = inspector
  const clicks = countClicks()
  const downloaded = page.waitForEvent('download')
  await clicks.click(page.getByRole('button', { name: 'Environment Development' }))
  await clicks.click(page.getByRole('button', { name: 'Export as a seed' }))
  const download = await downloaded
  expect([clicks.count, download.suggestedFilename()]).toEqual([2, 'development.yaml'])
  const file = join(givenFolder(), 'all.yaml')
  await download.saveAs(file)
  expect(parse(readFileSync(file, 'utf8'))).toEqual(await env.state())

  const seed = page.getByRole('dialog', { name: 'Load a seed' })
  await drop('mine.yaml', 'integrations:\n  - providerId: twilio\n    channel: smms\n    colour: red\n')
  await seed.getByText('mine.yaml').waitFor()
  await seed.getByRole('button', { name: 'Load it' }).click()
  const issue = seed.getByRole('alert').getByText(/seed:3:14 .*must be one of/)
  await issue.waitFor()
  await expectAccessible(inspector)
  expect([(await env.snapshots()).length, (await env.integrations.list()).length]).toEqual([0, 9])
  // Mended, under the same name: the issues of before are gone.
  await drop('mine.yaml', 'integrations:\n  - { providerId: twilio, channel: sms, identifier: mine }\n')
  await issue.waitFor({ state: 'detached' })
  await seed.getByRole('radio', { name: 'Beside what is there' }).check({ force: true })
  await seed.getByRole('button', { name: 'Load it' }).click()
  await seed.waitFor({ state: 'detached' })
  expect((await env.integrations.list()).map(({ identifier }) => identifier)).toContain('mine')
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect.poll(async () => (await env.integrations.list()).length).toBe(9)

  await page.getByRole('button', { name: 'Environment Development' }).click()
  await page.getByRole('button', { name: 'Load a seed…' }).click()
  await seed.getByRole('button', { name: 'steps', exact: true }).waitFor()
  await expectAccessible(inspector)
  await seed.getByRole('button', { name: 'steps', exact: true }).click()
  await page.getByText('Class draft').waitFor()
  await page.getByRole('button', { name: 'Undo' }).last().click()
  await page.getByText('Order shipped').waitFor()

  /** As a person drags a file from a folder onto the page. */
  async function drop(name: string, text: string): Promise<void> {
    const dataTransfer = await page.evaluateHandle(`(() => {
      const transfer = new DataTransfer()
      transfer.items.add(new File([${JSON.stringify(text)}], ${JSON.stringify(name)}))
      return transfer
    })()`)
    await page.dispatchEvent('main', 'drop', { dataTransfer })
  }
})

test('the profile is told with each assumption and the positions of its own first; an environment is made', async (context) => {
  const inspector = await givenInspector(context, {
    args: ['--assume', 'envelope=data'],
    hash: '#/workflows?panel=profile',
    viewport: { width: 390, height: 800 },
    colorScheme: 'dark'
  })
  const { page, mock, go } = inspector
  const items = page.getByRole('dialog', { name: 'Profile document' }).getByRole('listitem')
  await items.first().getByText('not as the profile').waitFor()
  expect(await items.first().getAttribute('aria-label')).toBe('envelope')
  expect(await items.first().locator('dt', { hasText: '(this one)' }).innerText()).toContain('data')
  expect(await items.count()).toBe((await mock.assumptions()).length)
  await expectAccessible(inspector)
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)

  await go('#/workflows')
  await page.getByRole('button', { name: 'Environment Development' }).click()
  await page.getByRole('button', { name: 'Make one…' }).click()
  const made = { name: 'Mine', from: 'Development', profile: 'live' }
  await page.getByRole('dialog', { name: 'Make an environment' }).getByLabel('JSON').fill(JSON.stringify(made))
  await expectAccessible(inspector)
  await page.getByRole('button', { name: 'Make it' }).click()
  await page.waitForURL('**/#/workflows?environment=Mine')
  await page.getByText('Order shipped').waitFor()
  expect((await mock.listEnvironments()).at(-1)).toMatchObject({ name: 'Mine', profile: 'live' })
})
