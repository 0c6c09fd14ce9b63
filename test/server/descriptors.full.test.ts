import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { expectCleanFile } from '../cli/stopping.js'
import { commandIn, givenFolder, givenPackage, startProcess } from '../support/process.js'

const PATHS = ['/docs', '/docs/static/index.css', '/docs/json', '/openapi.json', '/_mock/openapi.json', '/health']

test('what needs a file is served again once there are file descriptors, and the server ends with 0', async () => {
  const cwd = givenFolder()
  const server = `"${process.execPath}" "${commandIn(await givenPackage())}" --port 0 --data kept.db`
  const { child, url, ended } = await startProcess('bash', ['-c', `ulimit -n 60; exec ${server}`], { cwd })
  // One connection for all, as there is none to be had later.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  onTestFinished(() => agent.destroy())
  const statusOf = async (path: string) => {
    const [response] = await once(get(`${url}${path}`, { agent }), 'response')
    await text(response)
    return response.statusCode as number
  }
  // Loads what is else loaded ten seconds after the start.
  expect(await statusOf('/docs')).toBe(200)

  const port = Number(new URL(url).port)
  const others = Array.from({ length: 60 }, () => connect(port, '127.0.0.1').on('error', () => {}))
  // Those that the server has no descriptor for it closes; whatever is read before that stays in its memory.
  await Promise.race(others.map((socket) => new Promise((resolve) => socket.on('close', resolve))))
  onTestFinished(() => {
    for (const socket of others) socket.destroy()
  })
  const statuses = async () => {
    const found = []
    for (const path of PATHS) found.push(await statusOf(path))
    return found
  }
  expect(await statuses()).toContain(500)
  for (const socket of others) socket.destroy()
  while ((await statuses()).includes(500));

  child.kill('SIGTERM')
  expect(await ended).toMatchObject({ code: 0 })
  expectCleanFile(cwd)
})
