import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { connect } from '../../src/client/index.js'
import { expectAccessible, givenInspector } from '../support/inspector.js'

const STEPS = ['--seed', 'seeds/steps.yaml']

test('a step is found, read as a form, and asked for again, by keyboard alone', async (context) => {
  const inspector = await givenInspector(context, { args: STEPS, hash: '#/workflows' })
  const { page, env, events } = inspector
  await page.getByRole('heading', { name: 'Class draft' }).waitFor()
  await expectAccessible(inspector)
  await page.keyboard.press('/')
  await page.keyboard.type('reminder everything')
  await page.getByText('1 workflow', { exact: true }).waitFor()
  expect(page.url()).toContain('#/workflows?text=reminder+everything')
  await page.getByRole('link', { name: 'digest Every morning' }).focus()
  for (let index = 0; index < 7; index++) await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/#/workflows/class-reminder/everything')

  const controls = page.getByRole('region', { name: 'Controls' })
  await controls.getByText('needs subject or body').waitFor()
  const field = (name: string) => controls.getByRole('group', { name, exact: true })
  expect(await field('subject').getByText('Tomorrow:').innerText()).toBe('Tomorrow: {{payload.class.title}}')
  expect(await field('subject').locator('mark').innerText()).toBe('{{payload.class.title}}')
  await field('body').getByText('With <b>').waitFor()
  await field('disableOutputSanitization').getByText('on', { exact: true }).waitFor()
  await field('primaryAction.redirect.target').getByText('_self (chosen)').waitFor()
  await field('secondaryAction.redirect').getByText('not set').waitFor()
  await field('data.seats').getByText('8', { exact: true }).waitFor()
  await field('skip').getByText('subscriber.isOnline == true and payload.seats > 0').waitFor()
  await expectAccessible(inspector)

  const variables = page.getByRole('region', { name: 'Variables' })
  await variables.getByText('once-a-class').waitFor()
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await variables.getByRole('button', { name: 'teacher' }).press('Enter')
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe('{{payload.class.teacher}}')

  await page.getByText('The answer as it came').click()
  await page.getByRole('region', { name: 'Answer' }).getByText('"workflowId": "class-reminder"').waitFor()
  const before = (await env.requests.list({ operation: 'retrieveWorkflowStep' })).length
  await page.getByRole('button', { name: 'Ask again' }).press('Enter')
  await expect
    .poll(async () => (await env.requests.list({ operation: 'retrieveWorkflowStep' })).length, { timeout: 20_000 })
    .toBeGreaterThan(before)
  expect(events.troubles).toEqual([])
})

test('every step of the packaged seeds can be read', async (context) => {
  const { page, env, events, go } = await givenInspector(context)
  for (const name of ['steps', 'default', 'everything', 'unicode']) {
    await go('#/workflows')
    const { environments } = parse(readFileSync(`seeds/${name}.yaml`, 'utf8'), { merge: true })
    await env.seed(environments[0], { mode: 'replace' })
    // The page does not know of it.
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Find a command' }).fill('load everything again')
    await page.keyboard.press('Enter')
    for (const workflow of await env.workflows.list()) {
      await go(`#/workflows/${encodeURIComponent(workflow.identifier)}`)
      await page.getByRole('heading', { level: 1, name: workflow.name }).waitFor()
      for (const step of workflow.steps) {
        await go(`#/workflows/${[workflow.identifier, step.stepId].map(encodeURIComponent).join('/')}`)
        await page.locator('[aria-current="step"]').filter({ hasText: step.name }).waitFor()
        await page.getByRole('heading', { level: 1, name: step.name, exact: true }).waitFor()
        await page.getByRole('region', { name: 'Controls' }).waitFor()
      }
    }
  }
  expect(events.troubles).toEqual([])
})

test('a step shows the fields of its kind, the values that no schema has, and each issue at its field', async (context) => {
  const inspector = await givenInspector(context, {
    args: STEPS,
    hash: '#/workflows/class-draft/in-app-step',
    colorScheme: 'dark',
    viewport: { width: 390, height: 800 }
  })
  const { page, go } = inspector
  const group = (name: string) => page.getByRole('group', { name, exact: true })
  await group('redirect.url').getByText('Invalid URL. Must be a valid full URL').waitFor()
  await group('subject').getByText('Subject or body is required').waitFor()
  await page.getByRole('region', { name: 'Issues' }).getByText('No Inbox has been connected').waitFor()
  await expectAccessible(inspector)
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)

  await go('#/workflows/class-booked/digest-step')
  await group('type').getByText('regular (chosen)').waitFor()
  await group('unit').getByText('minutes (chosen)').waitFor()
  expect(await group('cron').isVisible()).toBe(false)
  await page.getByText('Not for this kind: cron').click()
  expect(await group('cron').isVisible()).toBe(true)

  await go('#/workflows/class-reminder/in-blocks')
  await group('body').getByText('Bring an apron,').waitFor()
  await group('body').getByText("{{subscriber.firstName | default: 'you'}}").waitFor()

  await go('#/workflows/class-feedback/email-step')
  await group('email.editorType').getByText('html').first().waitFor()
  await go('#/workflows/class-cancelled/neither')
  await group('body').getByText('is cancelled.').waitFor()
})

test('what the service refuses is shown in its words, and an environment without workflows says how to get some', async (context) => {
  const inspector = await givenInspector(context, {
    hash: '#/workflows/order-shipped/nothing',
    args: ['--profile', 'live']
  })
  const { page, env, go, mock } = inspector
  await page.getByText('No step found').first().waitFor()
  await page.getByRole('link', { name: 'Email Step' }).click()
  await page.getByRole('heading', { level: 1, name: 'Email Step' }).waitFor()
  await page.getByRole('group', { name: 'subject', exact: true }).waitFor()
  await env.faults.add({ operation: 'retrieveWorkflowStep', effect: { status: 503 } })
  await page.getByRole('button', { name: 'Ask again' }).click()
  await page.getByText('503', { exact: true }).waitFor()

  await connect(mock.url).environment({ name: 'Bare' })
  await go('#/workflows?environment=Bare')
  await page.reload()
  await page.getByRole('heading', { name: 'The environment has no workflows' }).waitFor()
  await expectAccessible(inspector)
})
