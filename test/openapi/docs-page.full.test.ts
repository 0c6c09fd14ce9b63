import type { Page } from '@playwright/test'
import { describe, expect, test } from 'vitest'
import { OPERATION_IDS } from '../../src/domain/enums.js'
import { openPage } from '../support/browser.js'
import { useMock } from '../support/mock.js'

const OPERATIONS = {
  setPrimary: '#operations-Integrations-setIntegrationAsPrimary',
  messages: '#operations-Messages-listMessages',
  step: '#operations-Workflows-retrieveWorkflowStep'
}

describe('Swagger UI in a browser', () => {
  test('lists the operations, and loads files only from this server', async (context) => {
    const { port } = await useMock()
    // Don't use localhost: Swagger UI disables its online validator there, so the test wouldn't
    // notice requests to the validator.
    const origin = `http://mock.test:${port}`
    const { page, events } = await openPage(context)
    await page.goto(`${origin}/docs`, { waitUntil: 'networkidle' })

    await expect.poll(() => page.locator('.opblock').count()).toBe(OPERATION_IDS.length)
    for (const operation of Object.values(OPERATIONS))
      expect(await page.locator(operation).isVisible()).toBe(true)
    expect(events.requested.filter((url) => new URL(url).origin !== origin)).toEqual([])
    expect(events.requested).toContain(`${origin}/docs/json`)
    expect(events.troubles).toEqual([])
  })

  test('runs no injected script', async (context) => {
    const { url } = await useMock()
    const { page } = await openPage(context)
    await page.goto(`${url}/docs`, { waitUntil: 'networkidle' })
    const ran = await page.evaluate(`
      const script = document.createElement('script')
      script.textContent = 'window.ran = true'
      document.body.append(script)
      'ran' in window
    `)
    expect(ran).toBe(false)
  })

  test('sends requests with the API key from the help text of the page', async (context) => {
    const mock = await useMock()
    const { page, events } = await openPage(context)
    await page.goto(`${mock.url}/docs`)

    await page.click('.auth-wrapper .authorize')
    const dialog = page.locator('.auth-container')
    const suggestedKey = await dialog.locator('code', { hasText: 'development-key' }).innerText()
    await dialog.locator('input').fill(suggestedKey)
    await dialog.locator('button.authorize').click()
    await dialog.locator('button.btn-done').click()
    const stored = await page.evaluate(
      'JSON.stringify([localStorage, sessionStorage, document.cookie])'
    )
    expect(stored).not.toContain(suggestedKey)

    const messages = await openOperation(page, OPERATIONS.messages)
    await messages.locator('.execute').click()
    const response = messages.locator('.live-responses-table')
    expect(await response.locator('tbody .response-col_status').first().innerText()).toMatch(/^200/)
    const displayed = JSON.parse(await response.locator('.highlight-code code').first().innerText())
    expect(displayed).toEqual((await mock.get('/v1/messages')).json)
    expect(displayed.data.length).toBeGreaterThan(0)

    for (const operation of [OPERATIONS.setPrimary, OPERATIONS.step]) {
      const other = await openOperation(page, operation)
      await other.locator('.execute').click()
      expect(
        await other.locator('.live-responses-table tbody .response-col_status').first().innerText()
      ).toMatch(/^200/)
    }
    expect(events.troubles).toEqual([])
  })
})

describe('over HTTP', () => {
  test.each([{ cors: true }, { cors: false }])(
    'serves the page /docs and the files that it loads, with the options %o',
    async (options) => {
      const mock = await useMock({ ...options, profile: 'live' })
      const html = await mock.get('/docs', { key: null })
      expect([html.status, html.headers.get('content-type')]).toEqual([
        200,
        'text/html; charset=utf-8'
      ])
      const loaded = [...html.text.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, url]) => url ?? '')
      expect(loaded.length).toBe(5)
      for (const url of ['/docs', ...loaded]) {
        const { status, headers } = await mock.get(url, { key: null })
        expect([url, status, headers.get('x-content-type-options')]).toEqual([url, 200, 'nosniff'])
        expect(headers.get('content-security-policy')).toMatch(
          /^default-src 'none'; script-src 'self' 'sha256-[\w+/=]+';/
        )
      }
      const served = (await mock.get('/openapi.json', { key: null })).json
      // Here, the server's URL is relative, because a server behind a proxy doesn't know its URL.
      expect((await mock.get('/docs/json')).json).toEqual({
        ...served,
        servers: [{ ...served.servers[0], url: '/' }]
      })
    }
  )

  test('responds with 404 for an unknown path under /docs, and with 405 for a POST', async () => {
    const mock = await useMock()
    for (const path of [
      '/docs/none',
      '/docs/static/none.css?x=1',
      '/docs/static/..%2f..%2fpackage.json'
    ]) {
      const response = await mock.get(path)
      expect(response.status).toBe(404)
      expect(response.json).toMatchObject({
        path,
        message: `Cannot GET ${path.replace('?x=1', '')}`,
        ctx: {}
      })
    }
    expect(await mock.post('/docs')).toMatchObject({
      status: 405,
      json: { message: 'POST is not allowed for /docs' }
    })
  })
})

async function openOperation(page: Page, operation: string) {
  await page.click(`${operation} .opblock-summary`)
  return page.locator(operation)
}
