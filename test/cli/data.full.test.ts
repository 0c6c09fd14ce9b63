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

function writeSeed(folder: string, name: string, key = `${name}-key`): void {
  const integrations = [
    { identifier: 'one', providerId: 'sendgrid', channel: 'email', primary: true },
    { identifier: 'two', providerId: 'mailgun', channel: 'email' }
  ]
  writeFileSync(
    join(folder, `${name}.yaml`),
    JSON.stringify({ environments: [{ name, apiKeys: [key], integrations }] })
  )
}

async function stop({ child, ended }: RunningProcess): Promise<ProcessResult> {
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

test('--export-on-exit writes a seed that gives the next server the same data', async () => {
  const cwd = createTempFolder()
  writeSeed(cwd, 'shop')
  const first = await startCommand(['--seed', 'shop.yaml', '--export-on-exit', 'state.yaml'], {
    cwd
  })
  const response = await setPrimary(first.url, 'two', 'once')
  expect(existsSync(join(cwd, 'state.yaml'))).toBe(false)
  expect((await stop(first)).stderr).toMatch(/exported the data to state.yaml/)
  expect(statSync(join(cwd, 'state.yaml')).mode & 0o777).toBe(0o600)

  const program = `fetch(process.env.NOTIFICATION_MOCK_URL + '/v1/integrations/two/set-primary', {
    method: 'POST', headers: { authorization: 'ApiKey ' + process.env.NOTIFICATION_MOCK_API_KEY }
  }).then((response) => response.text()).then((text) => process.stdout.write(text))`
  const flags = ['--seed', 'state.yaml', '--export-on-exit', 'again.yaml']
  const run = await runCommand(['exec', ...flags, '--', process.execPath, '-e', program], { cwd })
  expect(run).toMatchObject({ code: 0, stdout: response.body, stderr: '' })
  expect(readFileSync(join(cwd, 'again.yaml'), 'utf8')).toBe(
    readFileSync(join(cwd, 'state.yaml'), 'utf8')
  )
})

/** Creates a folder with the seeds `shop` and `other`, and with a data file seeded from `shop`. */
async function createDataFile() {
  const cwd = createTempFolder()
  writeSeed(cwd, 'shop')
  writeSeed(cwd, 'other')
  const start = (seed: string, ...args: string[]) =>
    startCommand(['--data', 'mock.db', '--seed', seed, ...args], { cwd })
  const first = await start('shop.yaml')
  expect(first.printed).toContain('Data in mock.db\n')
  await stop(first)
  return { cwd, start }
}

const NOT_APPLIED = 'Warning: did not apply shop.yaml because mock.db already has data; '

test('serve keeps existing data, warns about the ignored seed, and prints its keys', async () => {
  const { start } = await createDataFile()
  const { printed } = await start('shop.yaml')
  expect(printed).toContain(`Data in mock.db (existing data)\n${NOT_APPLIED}`)
  expect(printed).toContain('  shop  shop-key\n')
  expect(printed).toMatch(/curl -H 'Authorization: ApiKey shop-key'/)
})

test('exec warns in one line that a seed is not applied to existing data', async () => {
  const { cwd } = await createDataFile()
  const args = ['exec', '--data', 'mock.db', '--seed', 'shop.yaml', '--', 'true']
  const { code, stdout, stderr } = await runCommand(args, { cwd })
  expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
  expect(stderr).toMatch(new RegExp(`^notification-mock exec: ${NOT_APPLIED}.+\\n$`))
})

test("serve prints an existing environment's key only if a seed contains the key", async () => {
  const { start } = await createDataFile()
  const other = await start('other.yaml')
  expect(other.printed).toContain('  shop  (key unknown: no seed contains it)\n')
  expect(other.printed).not.toMatch(/other-key|curl/)
  await stop(other)
  const json = await start('other.yaml', '--json')
  expect(JSON.parse(json.printed)).toMatchObject({
    seeded: false,
    environments: [{ name: 'shop', apiKeys: [] }]
  })
})

/**
 * File permissions don't apply to root. So if root runs the test, the command runs as `nobody`. The
 * test is skipped if `nobody` can't read the package.
 */
const NOBODY: Options = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}
const canBeNobody =
  process.getuid !== undefined &&
  spawnSync(process.execPath, [commandIn(await buildPackage()), '--version'], NOBODY).status === 0

/** Permissions of the data file's folder, each with the problem that the command reports. */
const NO_ACCESS = [
  [0o555, 'the file or its folder is read-only'],
  [0o000, 'the file or its folder is missing, or permissions forbid access']
] as const

test.skipIf(!canBeNobody)(
  "rejects a data file that it can't write to, and leaves the file unchanged",
  async () => {
    const folder = createTempFolder()
    await stop(await startCommand(['--no-seed', '--data', 'mock.db'], { cwd: folder }))
    const before = readFileSync(join(folder, 'mock.db'))
    chmodSync(join(folder, 'mock.db'), 0o444)
    for (const [mode, problem] of NO_ACCESS) {
      chmodSync(folder, mode)
      const { code, stderr } = await runCommand(
        ['--no-seed', '--data', join(folder, 'mock.db')],
        NOBODY
      )
      expect(code).toBe(1)
      expect(stderr).toMatch(
        new RegExp(`^error: can't use the data file .*mock\\.db: ${problem}; check .*\\n$`)
      )
    }
    chmodSync(folder, 0o755)
    expect(readFileSync(join(folder, 'mock.db')).equals(before)).toBe(true)
  }
)
