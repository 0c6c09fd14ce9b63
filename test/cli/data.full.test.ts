import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  buildPackage,
  commandIn,
  createTempFolder,
  type Options,
  type ProcessResult,
  type RunningProcess,
  runCommand,
  startCommand
} from '../support/process.js'

function givenSeed(folder: string, name: string, key = `${name}-key`): void {
  const integrations = [
    { identifier: 'one', providerId: 'sendgrid', channel: 'email', primary: true },
    { identifier: 'two', providerId: 'mailgun', channel: 'email' }
  ]
  writeFileSync(
    join(folder, `${name}.yaml`),
    JSON.stringify({ environments: [{ name, apiKeys: [key], integrations }] })
  )
}

async function stopped({ child, ended }: RunningProcess): Promise<ProcessResult> {
  child.kill('SIGTERM')
  return ended
}

async function setPrimary(url: string, identifier: string, key: string) {
  const response = await fetch(`${url}/v1/integrations/${identifier}/set-primary`, {
    method: 'POST',
    headers: { authorization: 'ApiKey shop-key', 'idempotency-key': key }
  })
  return { replayed: response.headers.get('idempotency-replay'), body: await response.text() }
}

test('exports the data of a session on exit as a seed that a later session loads', async () => {
  const cwd = createTempFolder()
  givenSeed(cwd, 'shop')
  const first = await startCommand(['--seed', 'shop.yaml', '--export-on-exit', 'state.yaml'], {
    cwd
  })
  const done = await setPrimary(first.url, 'two', 'once')
  expect(existsSync(join(cwd, 'state.yaml'))).toBe(false)
  expect((await stopped(first)).stderr).toMatch(/exported the data to state.yaml/)
  expect(statSync(join(cwd, 'state.yaml')).mode & 0o777).toBe(0o600)

  const ask = `fetch(process.env.NOTIFICATION_MOCK_URL + '/v1/integrations/two/set-primary', {
    method: 'POST', headers: { authorization: 'ApiKey ' + process.env.NOTIFICATION_MOCK_API_KEY }
  }).then((response) => response.text()).then((text) => process.stdout.write(text))`
  const flags = ['--seed', 'state.yaml', '--export-on-exit', 'again.yaml']
  const run = await runCommand(['exec', ...flags, '--', process.execPath, '-e', ask], { cwd })
  expect(run).toMatchObject({ code: 0, stdout: done.body, stderr: '' })
  expect(readFileSync(join(cwd, 'again.yaml'), 'utf8')).toBe(
    readFileSync(join(cwd, 'state.yaml'), 'utf8')
  )
})

test('seeds a new data file, leaves an existing one unchanged, and prints the keys found in the seeds', async () => {
  const cwd = createTempFolder()
  givenSeed(cwd, 'shop')
  givenSeed(cwd, 'other')
  const start = (seed: string, ...args: string[]) =>
    startCommand(['--data', 'mock.db', '--seed', seed, ...args], { cwd })
  const first = await start('shop.yaml')
  expect(first.printed).toContain('Data in mock.db\n')
  await stopped(first)

  const again = await start('shop.yaml')
  expect(again.printed).toContain(
    'Data in mock.db (existing data)\nWarning: shop.yaml not applied because mock.db already has data; '
  )
  expect(again.printed).toContain('  shop  shop-key\n')
  expect(again.printed).toMatch(/curl -H 'Authorization: ApiKey shop-key'/)
  await stopped(again)

  const run = await runCommand(['exec', '--data', 'mock.db', '--seed', 'shop.yaml', '--', 'true'], {
    cwd
  })
  expect(run).toMatchObject({ code: 0, stdout: '' })
  expect(run.stderr).toMatch(
    /^notification-mock exec: Warning: shop.yaml not applied because mock.db already has data; .+\n$/
  )

  const other = await start('other.yaml')
  expect(other.printed).toContain('  shop  (key unknown: no seed names it)\n')
  expect(other.printed).not.toMatch(/other-key|curl/)
  await stopped(other)
  const json = await start('other.yaml', '--json')
  expect(JSON.parse(json.printed)).toMatchObject({
    seeded: false,
    environments: [{ name: 'shop', apiKeys: [] }]
  })
})

/**
 * Root bypasses file permissions, so root runs the command as `nobody`, if `nobody` can read the
 * package.
 */
const NOBODY: Options = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}
const canBeNobody =
  process.getuid !== undefined &&
  spawnSync(process.execPath, [commandIn(await buildPackage()), '--version'], NOBODY).status === 0

test.skipIf(!canBeNobody)(
  'rejects an existing data file without write access, or in an unreadable folder, and leaves it unchanged',
  async () => {
    const folder = createTempFolder()
    await stopped(await startCommand(['--no-seed', '--data', 'mock.db'], { cwd: folder }))
    const before = readFileSync(join(folder, 'mock.db'))
    chmodSync(join(folder, 'mock.db'), 0o444)
    for (const mode of [0o555, 0o000]) {
      chmodSync(folder, mode)
      const { code, stderr } = await runCommand(
        ['--no-seed', '--data', join(folder, 'mock.db')],
        NOBODY
      )
      expect(code).toBe(1)
      expect(stderr).toMatch(
        /^error: can't use the data file .*mock\.db: the file or its folder is read-only; check .*\n$/
      )
    }
    chmodSync(folder, 0o755)
    expect(readFileSync(join(folder, 'mock.db')).equals(before)).toBe(true)
  }
)
