import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { expectAccessible, givenInspector } from '../support/inspector.js'
import { givenFolder } from '../support/process.js'

/** Generous, as other tests run beside it. */
const PATIENCE = { timeout: 20_000 }

test('the clock is stopped, advanced, set and let go again', async (context) => {
  const inspector = await givenInspector(context, { hash: '#/workflows' })
  const { page, env, events } = inspector
  const clock = page.getByRole('dialog', { name: 'Clock of the environment' })
  await page.getByRole('button', { name: 'Clock', exact: true }).click()
  await clock.getByText("It follows the machine's clock.").waitFor()
  await page.waitForURL('**/#/workflows?panel=clock')
  await expectAccessible(inspector)
  await clock.getByRole('button', { name: 'Stop it now' }).click()
  await clock.getByText('It is stopped.').waitFor()
  const { setting, now } = await env.clock.get()
  expect(setting.mode).toBe('fixed')
  await clock.getByRole('button', { name: '1 day' }).click()
  await expect.poll(async () => Date.parse((await env.clock.get()).now) - Date.parse(now), PATIENCE).toBe(86_400_000)
  await clock.getByLabel('Another length of time').fill('soon')
  await clock.getByRole('button', { name: 'Advance', exact: true }).click()
  // What went wrong can be read and put away while the dialog is there.
  await clock.getByText('soon is no length of time').waitFor()
  await clock.locator('.notice', { hasText: 'soon is' }).getByRole('button', { name: 'Dismiss' }).click()
  await clock.getByText('soon is no length of time').waitFor({ state: 'detached' })
  // Who marks the text of the field lets go of the button beside the dialog.
  const field = await clock.getByLabel('Another length of time').boundingBox()
  await page.mouse.move((field?.x ?? 0) + 20, (field?.y ?? 0) + 10)
  await page.mouse.down()
  await page.mouse.move(3, 300)
  await page.mouse.up()
  expect(await clock.getByLabel('Another length of time').inputValue()).toBe('soon')
  await clock.getByLabel('A time in UTC').fill('2030-02-03T04:05:06')
  await clock.getByLabel('A time in UTC').press('Enter')
  await clock.getByText('2030-02-03 04:05:06 UTC', { exact: true }).waitFor()
  expect((await env.clock.get()).now).toBe('2030-02-03T04:05:06.000Z')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Clock stopped 2030-02-03 04:05' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Find a command' }).fill("machine's time")
  await page.keyboard.press('Enter')
  await expect.poll(async () => (await env.clock.get()).setting, PATIENCE).toEqual({ mode: 'wall' })
  expect(events.troubles).toEqual([])
})

test('a snapshot is taken, compared with what came after it, restored and deleted; a reset goes back further', async (context) => {
  const inspector = await givenInspector(context, { hash: '#/?panel=snapshots', colorScheme: 'dark' })
  const { page, env, events } = inspector
  const snapshots = page.getByRole('dialog', { name: 'Snapshots', exact: true })
  await snapshots.getByText('There are no snapshots').waitFor()
  const { _id } = await env.messages.add({ channel: 'sms', content: 'early' })
  await snapshots.getByLabel('Name').fill('before')
  await snapshots.getByLabel('Name').press('Enter')
  const item = snapshots.getByRole('listitem', { name: 'before' })
  await item.getByText('61 messages, 9 integrations').waitFor()
  await item.getByRole('button', { name: 'Compare with now' }).click()
  await item.getByText('Nothing differs from now.').waitFor()
  await env.messages.remove(_id)
  const added = await env.messages.add({ channel: 'sms', content: 'late' })
  await env.integrations.change('sendgrid-main', { name: 'Another' })
  await item.getByRole('button', { name: 'Compare with now' }).click()
  await item.getByRole('button', { name: 'Compare with now' }).click()
  await item.getByText('Integrations: 1 changed since').waitFor()
  await item.getByText('Messages: 1 added since').waitFor()
  await item.getByText(added._id).waitFor()
  await item.getByText(_id).waitFor()
  await expectAccessible(inspector)
  await item.getByRole('button', { name: 'Restore' }).click()
  await item.getByText('Nothing differs from now.').waitFor()
  expect((await (await env.snapshots())[0]?.differences())?.messages.added.count).toBe(0)
  await item.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('button', { name: 'Cancel' }).press('Enter')
  expect(await env.snapshots()).toHaveLength(1)
  await item.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('button', { name: 'Delete it' }).click()
  await snapshots.getByText('There are no snapshots').waitFor()
  expect(await env.snapshots()).toEqual([])
  await page.keyboard.press('Escape')

  await env.clock.set('2030-01-01T00:00:00Z')
  await page.getByRole('button', { name: 'Reset' }).click()
  const reset = page.getByRole('dialog', { name: 'Back to the start' })
  await reset.getByRole('checkbox', { name: /^Clock/ }).uncheck()
  await expectAccessible(inspector)
  await reset.getByRole('button', { name: 'Reset these' }).press('Enter')
  await page.getByText('Back at the start: data, requests, faults, idempotency of Development').waitFor()
  expect((await env.clock.get()).setting.mode).toBe('fixed')
  expect((await env.state()).environments?.[0]?.messages).toHaveLength(60)
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Find a command' }).fill('reset the environment')
  await page.keyboard.press('Enter')
  const question = page.getByRole('dialog', { name: 'Reset Development, with all' })
  await question.getByRole('button', { name: 'Cancel' }).waitFor()
  await expectAccessible(inspector)
  expect((await env.clock.get()).setting.mode).toBe('fixed')
  await question.getByRole('button', { name: 'Reset it' }).click()
  await expect.poll(async () => (await env.clock.get()).setting.mode, PATIENCE).toBe('wall')
  expect(events.troubles).toEqual([])
})

test('a scenario is loaded, the state saved as a file, and a dropped file loaded or its issues shown where they are', async (context) => {
  const inspector = await givenInspector(context, { hash: '#/workflows?panel=seed' })
  const { page, env } = inspector
  const seed = page.getByRole('dialog', { name: 'Seed' })
  await seed.getByRole('button', { name: 'steps', exact: true }).waitFor()
  await expectAccessible(inspector)
  await seed.getByRole('button', { name: 'steps', exact: true }).click()
  const question = page.getByRole('dialog', { name: 'Replace all data of Development by the scenario steps?' })
  await question.getByText('A snapshot taken before keeps what is there now.').waitFor()
  await expectAccessible(inspector)
  await question.getByRole('button', { name: 'Cancel' }).press('Enter')
  expect(await env.integrations.list()).toHaveLength(9)
  await seed.getByRole('button', { name: 'steps', exact: true }).click()
  await question.getByRole('button', { name: 'Replace it' }).click()
  await page.getByRole('heading', { name: 'Class draft' }).waitFor()
  expect((await env.workflows.list()).map(({ identifier }) => identifier)).toContain('class-draft')

  await page.getByRole('button', { name: 'Seed' }).click()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    seed.getByRole('button', { name: 'Export as YAML' }).click()
  ])
  expect(download.suggestedFilename()).toBe('development.yaml')
  const saved = readFileSync(await download.path(), 'utf8')
  expect(parse(saved)).toEqual(await env.state())
  await page.keyboard.press('Escape')

  await drop('mine.yaml', 'integrations:\n  - providerId: twilio\n    channel: smms\n    colour: red\n')
  await seed.getByText('mine.yaml').waitFor()
  await seed.getByRole('button', { name: 'Replace the state by it' }).click()
  await seed.getByText('2 issues in it; nothing of it was loaded.').waitFor()
  await seed.getByText('line 3, column 14: integrations[0].channel must be one of').waitFor()
  await seed.getByText('channel: smms').waitFor()
  await expectAccessible(inspector)
  expect(await env.workflows.list()).toHaveLength(6)

  // Mended, under the same name: the issues of before are gone.
  await drop('mine.yaml', 'integrations: []\n')
  await seed.getByText('2 issues in it').waitFor({ state: 'detached' })
  // A folder has no text.
  await page.evaluate('window.text = Blob.prototype.text; Blob.prototype.text = () => Promise.reject(new Error())')
  await drop('folder', '')
  await seed.getByText('folder cannot be read as a file. Is it a folder?').waitFor()
  await page.evaluate('Blob.prototype.text = window.text')
  await seed.locator('.notice', { hasText: 'folder' }).getByRole('button', { name: 'Dismiss' }).click()
  // The file chooser closed without a choice.
  await seed.getByLabel('A seed file').dispatchEvent('cancel', { bubbles: true })
  expect(new URL(page.url()).hash).toContain('panel=seed')

  await drop('better.yaml', 'integrations:\n  - providerId: twilio\n    channel: sms\n    identifier: mine\n')
  await seed.getByRole('radio', { name: 'Add it to what is there' }).check()
  await seed.getByRole('button', { name: 'Add it to the state' }).click()
  await seed.waitFor({ state: 'detached' })
  expect((await env.integrations.list()).map(({ identifier }) => identifier)).toEqual(['mine'])
  expect(await env.workflows.list()).toHaveLength(6)

  const file = join(givenFolder(), 'all.yaml')
  await download.saveAs(file)
  await page.getByRole('button', { name: 'Seed' }).click()
  await seed.getByLabel('A seed file').setInputFiles(file)
  await seed.getByRole('button', { name: 'Replace the state by it' }).click()
  await seed.waitFor({ state: 'detached' })
  expect(await env.integrations.list()).toEqual([])

  /** As a person drops a file from a folder onto the page. */
  async function drop(name: string, text: string): Promise<void> {
    const dataTransfer = await page.evaluateHandle(`(() => {
      const transfer = new DataTransfer()
      transfer.items.add(new File([${JSON.stringify(text)}], ${JSON.stringify(name)}))
      return transfer
    })()`)
    await page.dispatchEvent('main', 'drop', { dataTransfer })
  }
})

test('the profile is told with each assumption, its positions in words, and which of them are its own', async (context) => {
  const inspector = await givenInspector(context, {
    args: ['--assume', 'envelope=data'],
    viewport: { width: 390, height: 800 },
    colorScheme: 'dark'
  })
  const { page, mock } = inspector
  await page.getByRole('button', { name: 'Profile document +1' }).click()
  const profile = page.getByRole('dialog', { name: 'Profile document' })
  const item = (name: string) => profile.getByRole('listitem', { name, exact: true })
  await item('envelope').getByText('not as the profile').waitFor()
  expect(await item('envelope').locator('.is-chosen').innerText()).toContain('data')
  expect(await item('credentials').locator('.is-chosen').innerText()).toContain('as stored')
  await item('credentials').getByText('without').waitFor()
  expect(await profile.getByRole('listitem').count()).toBe((await mock.assumptions()).length)
  await expectAccessible(inspector)
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  await profile.getByRole('checkbox', { name: 'Only those of its own' }).check()
  expect(await profile.getByRole('listitem').count()).toBe(1)
})

test('environments are created, forked, chosen among many, and removed', async (context) => {
  const inspector = await givenInspector(context, { hash: '#/workflows?panel=environments' })
  const { page, mock, events } = inspector
  const dialog = page.getByRole('dialog', { name: 'Environments' })
  await dialog.getByRole('link', { name: 'Production' }).waitFor()
  await expectAccessible(inspector)
  await dialog.getByLabel('Name').fill('Mine')
  await dialog.getByLabel('Profile').selectOption('live')
  await dialog.getByRole('button', { name: 'Create' }).click()
  await page.waitForURL('**/#/workflows?environment=Mine')
  await page.getByRole('button', { name: 'Profile live' }).waitFor()
  await page.getByRole('heading', { name: 'Order shipped' }).waitFor()
  expect((await mock.listEnvironments()).at(-1)).toMatchObject({ name: 'Mine', profile: 'live' })

  await Promise.all(Array.from({ length: 20 }, (_, index) => mock.environment({ name: `Other ${index}` })))
  await page.getByRole('button', { name: 'Environments' }).click()
  await dialog.getByRole('searchbox').fill('other 7')
  await dialog.getByRole('link', { name: 'Other 7' }).press('Enter')
  await page.waitForURL('**/#/workflows?environment=Other%207')
  await page.getByRole('heading', { name: 'The environment has no workflows' }).waitFor()
  await page.getByRole('button', { name: 'Other 7' }).click()
  await dialog.getByRole('button', { name: 'Remove Other 7' }).click()
  await page.getByRole('dialog', { name: 'Remove Other 7 with all its data?' }).waitFor()
  await expectAccessible(inspector)
  await page.getByRole('button', { name: 'Remove it' }).click()
  await page.getByRole('button', { name: 'Development', exact: true }).waitFor()
  expect((await mock.listEnvironments()).map(({ name }) => name)).not.toContain('Other 7')
  expect(events.troubles.filter((each) => !each.includes('/_mock/requests/stream'))).toEqual([])
})
