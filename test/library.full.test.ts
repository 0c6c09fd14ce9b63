import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { build } from 'esbuild'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { createMock } from '../src/index.js'
import { buildPackage } from './support/process.js'

test('close() waits until a slow client has read the whole response', async () => {
  const content = 'x'.repeat(50_000)
  const messages = Array.from({ length: 1000 }, () => ({ channel: 'email', content }))
  const warnings: string[] = []
  const logger = pino(
    { level: 'warn' },
    {
      write: (line) => {
        warnings.push(line)
      }
    }
  )
  const seed = { environments: [{ name: 'Shop', apiKeys: ['shop-key'], messages }] }
  const mock = await createMock({ seed, logger })
  onTestFinished(() => mock.close())
  const socket = connect(mock.port, '127.0.0.1')
  socket.write(
    'GET /v1/messages?limit=1000 HTTP/1.1\r\nHost: x\r\nAuthorization: ApiKey shop-key\r\n\r\n'
  )
  await once(socket, 'readable')
  const closing = mock.close()
  let size = 0
  for await (const chunk of socket) size += chunk.length
  await closing
  expect(size).toBeGreaterThan(1000 * content.length)
  // The server would log a warning if it closed a busy connection.
  expect(warnings).toEqual([])
})

test('with unref, `node --test` ends even if a mock and its connections are open', async () => {
  const folder = await buildPackage()
  const program = `
    import { test } from 'node:test'
    import { connect } from 'node:net'
    import { createMock } from 'notification-mock'
    test('starts a server and never closes it', async () => {
      const mock = await createMock({ unref: true })
      const env = await mock.environment({ from: 'Development' })
      const response = await fetch(mock.url + '/v1/messages', { headers: env.headers })
      // An unread body keeps the socket open until its response is garbage-collected.
      await response.text()
      const other = connect(mock.port, '127.0.0.1').unref()
      await new Promise((settle) => other.once('connect', settle))
    })`
  const file = join(mkdtempSync(join(folder, 'test-')), 'forgotten.test.mjs')
  writeFileSync(file, program)
  const { status, stdout } = spawnSync(process.execPath, ['--test', '--test-reporter=tap', file], {
    encoding: 'utf8',
    timeout: 60_000
  })
  expect({ status, stdout }).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('# pass 1')
  })
})

test("Node.js prints an uncaught error without the bundle's source above it", async () => {
  for (const load of [
    "Promise.resolve(require('notification-mock'))",
    "import('notification-mock')"
  ]) {
    const program = `${load}.then(({ createMock }) => createMock({ seeds: ['none.yaml'] }))`
    const cwd = await buildPackage()
    const { status, stderr } = spawnSync(process.execPath, ['-e', program], {
      cwd,
      encoding: 'utf8'
    })
    expect({ status, shown: stderr.slice(0, 1000) }).toMatchObject({
      status: 1,
      shown: expect.stringContaining("none.yaml: can't be read")
    })
  }
})

test.each([
  ['an ES module', 'app.mjs', ['better-sqlite3'], /^http/],
  [
    'an ES module that includes the addon',
    'app.mjs',
    [],
    /addon was not found: mark .* as external/
  ],
  ['CommonJS', 'app.cjs', ['better-sqlite3'], /can't find its files: mark it as external/],
  [
    'an ES module outside the project',
    join(mkdtempSync(join(tmpdir(), 'bundle-')), 'app.mjs'),
    [],
    /can't find its files: mark .* as external/
  ]
] as const)('works in a bundle, or reports what to mark as external: %s', async (...bundle) => {
  const [, file, external, printed] = bundle
  const folder = mkdtempSync(join(await buildPackage(), 'bundle-'))
  const outfile = resolve(folder, file)
  const format = file.endsWith('.mjs') ? 'esm' : 'cjs'
  const contents = `import { createMock } from 'notification-mock'
    createMock().then((mock) => console.log(mock.url) ?? mock.close())`
  const stdin = { contents, resolveDir: folder }
  await build({
    ...{ stdin, format, outfile, bundle: true, platform: 'node', logLevel: 'silent' },
    external: [...external]
  })
  const { stdout, stderr } = spawnSync(process.execPath, [outfile], { encoding: 'utf8' })
  expect(stdout + stderr).toMatch(printed)
})
