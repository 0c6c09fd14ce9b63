import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { givenOpenCall } from '../support/open-call.js'
import { givenFolder, spawnCommand, startCommand } from '../support/process.js'
import { AUTHORIZATION, expectCleanFile, KEPT, primaryInFile, SET_PRIMARY, untilClosing } from './stopping.js'

describe.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('%s', (signal) => {
  test('ends an idle server with 0 and a clean file, whatever connections are kept open', async () => {
    const cwd = givenFolder()
    const { child, url, ended } = await startCommand(KEPT, { cwd })
    const agent = new Agent({ keepAlive: true })
    onTestFinished(() => agent.destroy())
    const [response] = await once(get(`${url}/health`, { agent }), 'response')
    await once(response.resume(), 'end')
    const unused = connect(Number(new URL(url).port), '127.0.0.1')
    await once(unused, 'connect')
    unused.on('error', () => {})

    child.kill(signal)
    // No word of having cut a connection either: it did not wait for one.
    expect(await ended).toMatchObject({ code: 0, signal: null, stderr: '' })
    expectCleanFile(cwd)
  })

  test('finishes a request that is being sent, and keeps its effect', async () => {
    const cwd = givenFolder()
    const { child, url, ended } = await startCommand(KEPT, { cwd })
    const call = await givenOpenCall(`${url}${SET_PRIMARY}`, { ...AUTHORIZATION, 'idempotency-key': 'one' })
    child.kill(signal)
    await untilClosing(url)

    expect(await call.finish()).toMatchObject({
      status: 200,
      headers: { connection: 'close', 'idempotency-key': 'one' },
      text: expect.stringContaining('"primary":true')
    })
    expect(await ended).toMatchObject({ code: 0, signal: null })
    expectCleanFile(cwd)
    expect(primaryInFile(cwd)).toBe(1)
  })
})

test('a signal during the start ends it as cleanly', async () => {
  const cwd = givenFolder()
  const { child, ended } = await spawnCommand([...KEPT, '--port', '0'], { cwd })
  while (!existsSync(join(cwd, 'kept.db'))) await setImmediate()
  child.kill('SIGTERM')
  expect(await ended).toMatchObject({ code: 0, signal: null, stderr: '' })
  expectCleanFile(cwd)
})

test('a signal at the moment of its ready line ends it as cleanly', async () => {
  const cwd = givenFolder()
  const { child, ended } = await startCommand(KEPT, { cwd })
  child.kill('SIGTERM')
  expect(await ended).toMatchObject({ code: 0, signal: null, stderr: '' })
  expectCleanFile(cwd)
})

test('a signal that comes twice at once, as from a terminal through npm, cuts nothing', async () => {
  const cwd = givenFolder()
  const { child, url, ended } = await startCommand(KEPT, { cwd })
  const calls = await Promise.all([1, 2, 3].map(() => givenOpenCall(`${url}${SET_PRIMARY}`, AUTHORIZATION)))
  child.kill('SIGINT')
  await untilClosing(url)
  child.kill('SIGINT')
  // One after the other: while the first is answered, a cut would come.
  for (const call of calls) expect(await call.finish()).toMatchObject({ status: 200 })
  expect(await ended).toMatchObject({ code: 0, stderr: '' })
  expectCleanFile(cwd)
})

test('an uncaught error closes the file clean, is logged, and ends it with 1', async () => {
  const cwd = givenFolder()
  writeFileSync(join(cwd, 'fault.mjs'), `process.once('SIGUSR2', () => { throw new Error('out of the blue') })`)
  const env = { NODE_OPTIONS: `--import=${join(cwd, 'fault.mjs')}` }
  const { child, ended } = await startCommand(KEPT, { cwd, env })
  child.kill('SIGUSR2')
  const { code, stderr } = await ended
  expect(code).toBe(1)
  expect(JSON.parse(stderr)).toMatchObject({ level: 60, err: { message: 'out of the blue' } })
  expectCleanFile(cwd)
})
