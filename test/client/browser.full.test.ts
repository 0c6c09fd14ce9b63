import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { chromium } from '@playwright/test'
import { expect, onTestFinished, test } from 'vitest'
import type * as client from '../../src/client/index.js'
import { givenOwnMock } from '../support/mock.js'
import { commandIn, givenPackage } from '../support/process.js'

const PAGE = `<!doctype html><script type="module">import * as client from '/client.js'; window.client = client</script>`

test('the client does in a browser what it does elsewhere, on a page of another origin too', async () => {
  const { url } = await givenOwnMock({ cors: true, adminToken: 'the-admin-token' })
  const script = readFileSync(join(commandIn(await givenPackage()), '../../client.js'))
  const pages = createServer(({ url: path }, response) => {
    if (path === '/client.js') response.setHeader('content-type', 'text/javascript').end(script)
    else response.setHeader('content-type', 'text/html').end(PAGE)
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void pages.close().closeAllConnections())
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
  onTestFinished(() => browser.close())
  const page = await browser.newPage()
  await page.goto(`http://127.0.0.1:${(pages.address() as AddressInfo).port}/`)

  const seen = await page.evaluate(async (server) => {
    const { connect, MockError } = (globalThis as unknown as { client: typeof client }).client
    const env = await connect(server, { adminToken: 'the-admin-token' }).environment({ from: 'Development' })
    const { status } = await fetch(`${env.url}/v1/messages?channel=sms`, { headers: env.headers })
    const streamed: string[] = []
    for await (const request of env.requests.stream({ replay: true })) {
      if (streamed.push(request.path) === 1) break
    }
    const error = await env.requests.verify({ status: 404 }).catch((thrown) => thrown)
    await env.remove()
    return { status, streamed, isError: error instanceof MockError, message: error.message }
  }, url)
  expect(seen).toEqual({
    ...{ status: 200, streamed: ['/v1/messages'], isError: true },
    message: expect.stringContaining('0 requests match, at least 1 expected; nearest is request 1')
  })
})
