import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { expectAccessible, expectAccessibleInBoth, openInspector } from '../support/inspector.js'

const STEPS = ['--seed', 'seeds/steps.yaml']

test('a step can be opened by keyboard, and shows its controls and variables', async (context) => {
  const inspector = await openInspector(context, { args: STEPS, hash: '#/workflows' })
  const { page, env, events } = inspector
  const list = page.getByRole('list', { name: 'Workflows and their steps' })
  await list.getByText('Class draft').waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('reminder everything')
  await page.getByText('1 step', { exact: true }).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/#/workflows/class-reminder/everything?q=reminder+everything')
  const tree = (name: string) => page.getByRole('group', { name, exact: true })
  await tree('Controls').getByText('"Tomorrow: {{payload.class.title}}"').waitFor()
  await tree('Variables').getByText('"teacher"').waitFor()
  await page
    .getByRole('region', { name: 'Preview' })
    .getByText('Tomorrow: {{payload.class.title}}')
    .waitFor()
  await page.getByRole('tab', { name: 'JSON' }).click()
  await tree('The step as JSON').getByText('"class-reminder"').waitFor()
  await expectAccessibleInBoth(inspector)
  // Opening a step records no request, but the button `Request again` records one.
  expect(await env.requests.list()).toEqual([])
  await page.getByRole('button', { name: 'Request again' }).click()
  await expect
    .poll(async () => (await env.requests.list()).map(({ operation }) => operation))
    .toEqual(['retrieveWorkflowStep'])
  expect(events.troubles).toEqual([])
})

test('a step is edited as JSON', async (context) => {
  const inspector = await openInspector(context, {
    hash: '#/workflows/order-shipped/email-step',
    args: ['--assume', 'envelope=data']
  })
  const { page, env } = inspector
  await page.getByRole('button', { name: 'Edit' }).click()
  const dialog = page.getByRole('dialog', { name: 'Edit the step' })
  const json = dialog.getByLabel('JSON')
  const text = await json.inputValue()
  await json.fill(text.replace('Your order is on its way', 'It has left'))
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('region', { name: 'Preview' }).getByText('It has left').waitFor()
  const seed = (await env.state()).environments[0]
  const steps = seed?.workflows?.find(({ identifier }) => identifier === 'order-shipped')?.steps
  expect(steps?.find(({ stepId }) => stepId === 'email-step')?.controlValues).toMatchObject({
    subject: 'It has left'
  })
  expect(steps?.length).toBeGreaterThan(5)
  // The URL contains the stepId. If the stepId changes, the URL changes too.
  await page.getByRole('button', { name: 'Edit' }).click()
  await json.fill((await json.inputValue()).replace('"stepId": "email-step"', '"stepId": "letter"'))
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('region', { name: 'Preview' }).getByText('It has left').waitFor()
  await expect.poll(() => page.url()).toMatch(/order-shipped\/letter$/)
  // The preview also shows malformed content, which Novu's editor never writes.
  const body = '{"type":"doc","content":[null,{"attrs":null,"content":null,"text":"A letter"}]}'
  await env.workflows.changeStep('order-shipped', 'letter', {
    controlValues: { subject: 'Odd', body }
  })
  await page.reload()
  await page.getByRole('region', { name: 'Preview' }).getByText('Odd').waitFor()
  expect((await page.frameLocator('iframe').locator('body').innerText()).trim()).toBe('A letter')
})

test('the inspector shows every step of the built-in seeds', async (context) => {
  const { page, env, events, go } = await openInspector(context)
  for (const name of ['steps', 'default', 'everything', 'unicode']) {
    const { environments } = parse(readFileSync(`seeds/${name}.yaml`, 'utf8'), { merge: true })
    await env.seed(environments[0], { mode: 'replace' })
    await go('#/workflows')
    await page.reload()
    for (const workflow of await env.workflows.list()) {
      for (const step of workflow.steps) {
        await go(
          `#/workflows/${[workflow.identifier, step.stepId].map(encodeURIComponent).join('/')}`
        )
        await page
          .getByRole('group', { name: 'The step' })
          .getByRole('heading', { name: step.name, exact: true })
          .waitFor()
        await page.getByRole('group', { name: 'Variables', exact: true }).waitFor()
      }
    }
  }
  expect(events.troubles).toEqual([])
})

test('a step shows its issues, or the error if its request failed', async (context) => {
  const inspector = await openInspector(context, {
    args: STEPS,
    hash: '#/workflows/class-draft/in-app-step',
    viewport: { width: 390, height: 800 }
  })
  const { page, env, go, mock } = inspector
  await page
    .getByText(/in_app: No Inbox has been connected/)
    .first()
    .waitFor()
  await page
    .getByRole('group', { name: 'Issues' })
    .getByText('Invalid URL. Must be a valid full URL')
    .waitFor()
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  await go('#/workflows/class-reminder/in-blocks')
  await page.frameLocator('iframe').getByText("{{subscriber.firstName | default: 'you'}}").waitFor()
  await go('#/workflows/class-draft/nothing')
  await page.getByText('This environment has no class-draft/nothing').waitFor()
  await go('#/workflows/class-draft/in-app-step')
  await env.faults.add({ operation: 'retrieveWorkflowStep', effect: { status: 503 } })
  // Wait until the inspector has reloaded, because a later reload would remove the error below.
  await page.getByRole('button', { name: '1 fault' }).waitFor()
  await page.getByRole('button', { name: 'Request again' }).click()
  await page
    .getByRole('alert')
    .getByText(/fault-1/)
    .waitFor()
  await mock.environment({ name: 'Bare' })
  await go('#/workflows?environment=Bare')
  await page.getByRole('heading', { name: 'No workflows yet' }).waitFor()
  await expectAccessible(inspector)
})
