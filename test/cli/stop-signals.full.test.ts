import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startOpenRequest } from '../support/open-request.js'
import { createTempFolder, startCommand } from '../support/process.js'
import {
  AUTHORIZATION,
  expectCleanFile,
  KEPT,
  primaryInFile,
  SET_PRIMARY,
  untilClosing
} from './stopping.js'

test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
  '%s stops an idle server cleanly, even if connections are open',
  async (signal) => {
    const cwd = createTempFolder()
    const { child, url, ended } = await startCommand(KEPT, { cwd })
    const agent = new Agent({ keepAlive: true })
    onTestFinished(() => agent.destroy())
    const [response] = await once(get(`${url}/health`, { agent }), 'response')
    await once(response.resume(), 'end')
    const unused = connect(Number(new URL(url).port), '127.0.0.1')
    await once(unused, 'connect')
    unused.on('error', () => {})

    child.kill(signal)
    // The server logs a warning when it closes busy connections. An empty stderr means that it
    // treated none of these connections as busy.
    expect(await ended).toMatchObject({ code: 0, signal: null, stderr: '' })
    expectCleanFile(cwd)
  }
)

test('requests in flight finish after a signal, even if npm sends it twice', async () => {
  const cwd = createTempFolder()
  const { child, url, ended } = await startCommand(KEPT, { cwd })
  const calls = await Promise.all(
    [1, 2, 3].map((key) =>
      startOpenRequest(`${url}${SET_PRIMARY}`, { ...AUTHORIZATION, 'idempotency-key': `${key}` })
    )
  )
  child.kill('SIGTERM')
  await untilClosing(url)
  child.kill('SIGTERM')
  // Finish the requests one by one. If the server closed all connections after the first response,
  // the later requests would fail.
  for (const [index, call] of calls.entries()) {
    expect(await call.finish()).toMatchObject({
      status: 200,
      headers: { connection: 'close', 'idempotency-key': `${index + 1}` },
      text: expect.stringContaining('"primary":true')
    })
  }
  expect(await ended).toMatchObject({ code: 0, signal: null, stderr: '' })
  expectCleanFile(cwd)
  expect(primaryInFile(cwd)).toBe(1)
})

test('logs an uncaught error, leaves a clean data file, and exits with code 1', async () => {
  const cwd = createTempFolder()
  writeFileSync(
    join(cwd, 'fault.mjs'),
    `process.once('SIGUSR2', () => { throw new Error('out of the blue') })`
  )
  const env = { NODE_OPTIONS: `--import=${join(cwd, 'fault.mjs')}` }
  const { child, ended } = await startCommand(KEPT, { cwd, env })
  child.kill('SIGUSR2')
  const { code, stderr } = await ended
  expect(code).toBe(1)
  expect(JSON.parse(stderr)).toMatchObject({ level: 60, err: { message: 'out of the blue' } })
  expectCleanFile(cwd)
})
