import { cpSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { createServer, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/client/index.js'
import { openPage } from '../support/browser.js'
import { expectAccessible, openInspector } from '../support/inspector.js'
import {
  buildPackage,
  commandIn,
  createTempFolder,
  startCommand,
  startProcess
} from '../support/process.js'

test('the inspector opens the first environment and contacts no other server', async (context) => {
  const { page, events, url } = await openInspector(context)
  await page.getByRole('heading', { name: 'Requests', exact: true }).waitFor()
  await page.getByRole('button', { name: 'Environment Development' }).waitFor()
  const isForeign = (requested: string) =>
    !requested.startsWith(url) && !requested.startsWith('data:')
  expect(events.requested.filter(isForeign)).toEqual([])
  expect(events.troubles).toEqual([])
})

test('the compressed script is under 50 KB and the compressed style sheet under 6 KB', async () => {
  const folder = join(commandIn(await buildPackage()), '../../inspector')
  const size = (name: string) => gzipSync(readFileSync(join(folder, name))).length
  expect(size('inspector.js')).toBeLessThan(50 * 1024)
  expect(size('inspector.css')).toBeLessThan(6 * 1024)
})

test('every view opens from the navigation and the palette, and is accessible', async (context) => {
  for (const colorScheme of ['light', 'dark'] as const) {
    const inspector = await openInspector(context, { colorScheme })
    const { page } = inspector
    await page.getByRole('heading', { level: 1 }).waitFor()
    const links = page.getByRole('navigation', { name: 'Views' }).getByRole('link')
    const names = (await links.allTextContents()).map((name) => name.trim())
    expect(names.slice(0, 4)).toEqual(['Requests', 'Messages', 'Integrations', 'Workflows'])
    for (const name of names) {
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox', { name: 'Find an action or a record' }).fill(`go to ${name}`)
      if (name === 'Requests') await expectAccessible(inspector)
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { level: 1, name }).waitFor()
      await expectAccessible(inspector)
      await links.filter({ hasText: name }).click()
      expect(await links.filter({ hasText: name }).getAttribute('aria-current')).toBe('page')
    }
    // The navigation is a single Tab stop, and the arrow keys move between its links.
    await links.last().focus()
    await page.keyboard.press('Home')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Messages' }).waitFor()
  }
}, 180_000)

test('a URL with an invalid escape sequence opens the view that it names', async (context) => {
  const { page } = await openInspector(context, { hash: '#/messages/%E0' })
  await page.getByRole('heading', { level: 1, name: 'Messages' }).waitFor()
})

test('the ? key shows the keyboard shortcuts', async (context) => {
  const { page } = await openInspector(context)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.keyboard.press('?')
  await page
    .getByRole('dialog', { name: 'Keyboard shortcuts' })
    .getByText('Move through the list')
    .waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor({ state: 'detached' })
})

describe('the environment in the URL', () => {
  test('the URL names the selected environment', async (context) => {
    const { page, url } = await openInspector(context, { hash: '#/messages' })
    await page.getByRole('button', { name: 'Environment Development' }).click()
    await page.getByRole('button', { name: 'Production', exact: true }).first().click()
    await page.waitForURL(`${url}/#/messages?environment=Production`)
    await page.getByRole('link', { name: 'Integrations' }).click()
    await page.waitForURL(`${url}/#/integrations?environment=Production`)
  })

  test('a URL with an unknown environment lists the existing environments', async (context) => {
    const { page } = await openInspector(context, { hash: '#/messages?environment=Nowhere' })
    await page.getByRole('heading', { name: 'No environment is named Nowhere' }).waitFor()
    await page.getByRole('link', { name: 'Production' }).click()
    await page.getByRole('heading', { name: 'Requests', exact: true }).waitFor()
  })

  test('a URL can name an environment created after the inspector loaded', async (context) => {
    const { page, mock, url } = await openInspector(context)
    await page.getByRole('heading', { name: 'Requests', exact: true }).waitFor()
    await mock.environment({ name: 'Later' })
    await page.goto(`${url}/#/messages?environment=Later`)
    await page.getByRole('heading', { name: 'Messages', exact: true }).waitFor()
    await page.goto(`${url}/#/messages?environment=Still later`)
    await page.getByRole('heading', { name: 'No environment is named Still later' }).waitFor()
    await mock.environment({ name: 'Still later' })
    await page.getByRole('heading', { name: 'Messages', exact: true }).waitFor()
  })

  test('an environment is reported as unknown only after the list has loaded', async (context) => {
    const { page, mock, url } = await openInspector(context)
    await page.getByRole('heading', { name: 'Requests', exact: true }).waitFor()
    let allowLoading = () => {}
    const isAllowed = new Promise<void>((resolve) => {
      allowLoading = resolve
    })
    await page.route('**/_mock/environments?*', async (route) => {
      await isAllowed
      await route.continue()
    })
    const loading = page.waitForRequest('**/_mock/environments?*')
    await page.goto(`${url}/#/messages?environment=Late`)
    await loading
    await page.getByText('Loading…').waitFor()
    expect(await page.getByRole('heading', { name: 'No environment is named Late' }).count()).toBe(
      0
    )
    await mock.environment({ name: 'Late' })
    allowLoading()
    await page.getByRole('heading', { name: 'Messages', exact: true }).waitFor()
  })
})

test('after a failed reload, the inspector keeps its view and offers to retry', async (context) => {
  const { page, env } = await openInspector(context)
  await page.getByRole('heading', { name: 'Requests', exact: true }).waitFor()
  await page.route('**/_mock/environments?*', (route) => route.abort())
  const alert = page.getByRole('alert')
  // Changing the clock reloads the inspector's data, including the environments.
  await page.getByRole('button', { name: /^Clock: / }).click()
  await page.getByRole('button', { name: '+1 hour' }).click()
  await expect.poll(() => alert.count()).toBe(1)
  expect(await page.getByRole('heading', { name: 'Requests', exact: true }).count()).toBe(1)
  expect(await page.getByRole('textbox', { name: 'Admin token' }).count()).toBe(0)
  await page.unroute('**/_mock/environments?*')
  await alert.getByRole('button', { name: 'Try again' }).click()
  await expect.poll(() => alert.count()).toBe(0)
  expect((await env.clock.get()).now).toBeTruthy()
})

test('the inspector accepts only a key of the environment that the URL names', async (context) => {
  const data = join(createTempFolder(), 'data.db')
  const first = await startCommand(['--data', data])
  const { apiKey } = await connect(first.url).environment({ name: 'Kept' })
  const other = await connect(first.url).environment({ name: 'Kept too' })
  first.child.kill()
  await first.ended
  const { url } = await startCommand(['--data', data])
  const { page } = await openPage(context)
  await page.goto(`${url}/#/requests?environment=Kept`)
  const field = page.getByRole('textbox', { name: 'API key' })
  await field.fill('production-key')
  await field.press('Enter')
  await page
    .getByRole('alert')
    .getByText('This API key belongs to Production, not to Kept.')
    .waitFor()
  await field.fill('no-key-of-any')
  await field.press('Enter')
  await page.getByRole('alert').getByText('no environment has this key').waitFor()
  await field.fill(apiKey)
  await field.press('Enter')
  await page.getByRole('heading', { name: 'Requests', exact: true }).waitFor()
  await page.goto(`${url}/#/requests?environment=Kept%20too`)
  await page
    .getByRole('alert')
    .getByText('This API key belongs to Kept, not to Kept too.')
    .waitFor()
  await field.fill(other.apiKey)
  await field.press('Enter')
  await page.getByRole('heading', { name: 'Requests', exact: true }).waitFor()
})

describe('from another machine', () => {
  const args = ['--host', '0.0.0.0', '--admin-token', 'the-admin-token']

  test('the inspector prompts for the admin token and keeps it only in memory', async (context) => {
    const { url } = await startCommand(args)
    const { page } = await openPage(context)
    // A host name that isn't local simulates a browser on another machine.
    await page.goto(`http://mock.test:${new URL(url).port}/`)
    const token = page.getByRole('textbox', { name: 'Admin token' })
    await page.getByRole('alert').waitFor()
    await token.fill('wrong')
    await token.press('Enter')
    await page.getByText('the admin token is wrong').waitFor()
    await token.fill('the-admin-token')
    await token.press('Enter')
    await page.getByRole('heading', { name: 'Requests', exact: true }).waitFor()
    expect(
      await page.evaluate(
        'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])'
      )
    ).toBe('[{},{},""]')
    expect(page.url()).not.toContain('token')
    await page.reload()
    await token.waitFor()
  })

  test('a user with an API key sees only the environment of that key', async (context) => {
    const { url } = await startCommand(args)
    const { page } = await openPage(context)
    await page.goto(`http://mock.test:${new URL(url).port}/`)
    const key = page.getByRole('textbox', { name: 'API key of one environment' })
    await key.fill('no-key-of-any')
    await key.press('Enter')
    await page.getByText('no environment has this key').waitFor()
    await key.fill('production-key')
    await key.press('Enter')
    await page.getByRole('heading', { name: 'Requests', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Environment', exact: false }).click()
    await page.getByRole('button', { name: 'Copy API key' }).waitFor()
    // The menu has neither a list of environments nor the profile setting.
    for (const name of ['Production', 'Profile'])
      expect(await page.getByRole('button', { name, exact: name === 'Production' }).count()).toBe(0)
    await page.goto(`http://mock.test:${new URL(url).port}/#/requests?environment=Development`)
    await page.getByText('This API key belongs to Production, not to Development.').waitFor()
    await key.fill('development-key')
    await key.press('Enter')
    await page.getByRole('heading', { name: 'Requests', exact: true }).waitFor()
  })
})

test('the inspector works behind a proxy with a path prefix', async (context) => {
  const { url } = await startCommand(['--admin-token', 'the-admin-token'])
  const proxy = createServer((request, response) => {
    const path = request.url?.replace(/^\/mocks\/one/, '')
    if (path === request.url || path === undefined) return response.writeHead(404).end()
    const { method, headers } = request
    const forwarded = send(`${url}${path}`, { method, headers }, (reply) => {
      response.writeHead(reply.statusCode ?? 500, reply.headers)
      reply.pipe(response)
    })
    // If the server stops before the browser closes its event stream, the forwarded request fails.
    forwarded.on('error', () => response.destroy())
    request.pipe(forwarded)
  }).listen(0, '127.0.0.1')
  onTestFinished(() => {
    proxy.close()
    proxy.closeAllConnections()
  })
  const { page, events } = await openPage(context)
  await page.goto(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}/mocks/one/`)
  await page.getByRole('heading', { name: 'Requests', exact: true }).waitFor()
  expect(events.troubles).toEqual([])
})

test('without the inspector, browsers get the same response as other clients', async () => {
  const { url } = await startCommand(['--no-inspector'])
  const page = await fetch(url, { headers: { accept: 'text/html,*/*;q=0.8' } })
  expect([page.status, page.headers.get('content-type')]).toEqual([
    200,
    'application/json; charset=utf-8'
  ])
  expect((await fetch(`${url}/inspector/inspector.js`)).status).toBe(404)
})

test("if the inspector's files are missing, browsers get a 404 with the reason", async () => {
  const built = await buildPackage()
  const folder = createTempFolder()
  for (const name of ['migrations', 'seeds', 'node_modules'])
    symlinkSync(join(built, name), join(folder, name))
  for (const name of ['package.json', 'dist'])
    cpSync(join(built, name), join(folder, name), { recursive: true })
  rmSync(join(folder, 'dist/inspector'), { recursive: true })
  const { url } = await startProcess(process.execPath, [commandIn(folder), '--port', '0'])
  expect((await fetch(url)).status).toBe(200)
  const page = await fetch(url, { headers: { accept: 'text/html' } })
  expect([page.status, page.headers.get('x-mock-reason')]).toEqual([
    404,
    expect.stringContaining('npm run build')
  ])
})
