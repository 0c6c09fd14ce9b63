import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  buildPackage,
  commandIn,
  createTempFolder,
  type ProcessResult,
  type RunningProcess,
  startCommand,
  startProcess
} from '../support/process.js'

/**
 * Whether tests can run a command in a terminal with `script`. Only the Linux version of `script`
 * accepts the arguments that the tests pass.
 */
const HAS_SCRIPT = process.platform === 'linux'

const SECRETS = ['shop-key-7f3a', 'SG.credential-91c', 'no-such-key-5d2']

const SHOP = `
environments:
  - name: Shop
    apiKeys: [shop-key-7f3a]
    integrations:
      - identifier: mail
        providerId: sendgrid
        channel: email
        credentials: { apiKey: SG.credential-91c }
`

/** Creates a folder with the seed `shop.yaml`. */
function createShop(): string {
  const cwd = createTempFolder()
  writeFileSync(join(cwd, 'shop.yaml'), SHOP)
  return cwd
}

/**
 * Sends one request that succeeds and four that are rejected. The `authorization` headers contain
 * known and unknown keys, in valid and invalid formats.
 */
async function callAll(url: string): Promise<void> {
  const call = (path: string, authorization: string, method = 'GET') =>
    fetch(`${url}${path}`, { method, headers: { authorization } })
  expect(
    (await call('/v1/integrations/mail/set-primary', 'ApiKey shop-key-7f3a', 'POST')).status
  ).toBe(200)
  expect((await call('/v1/messages?limit=0', 'ApiKey shop-key-7f3a')).status).toBe(422)
  expect((await call('/v1/messages', 'ApiKey no-such-key-5d2')).status).toBe(401)
  expect((await call('/v1/messages', 'shop-key-7f3a')).status).toBe(401)
  expect((await call('/v1/messages', 'Bearer no-such-key-5d2')).status).toBe(401)
}

async function logOf({ child, url, ended }: RunningProcess): Promise<string> {
  await callAll(url)
  child.kill('SIGTERM')
  const { stderr } = await ended
  for (const secret of SECRETS) expect(stderr).not.toContain(secret)
  return stderr
}

test('logs the reason for each rejected request as JSON, without keys or credentials', async () => {
  const log = await logOf(await startCommand(['--seed', 'shop.yaml'], { cwd: createShop() }))
  const lines = log
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines.map(({ statusCode }) => statusCode)).toEqual([422, 401, 401, 401])
  for (const line of lines) {
    expect(line).toMatchObject({
      level: 30,
      msg: 'request rejected',
      reason: expect.stringMatching(/\w+ \w+/)
    })
  }
})

test.skipIf(!HAS_SCRIPT)(
  'logs readable lines at a terminal, in color unless NO_COLOR is set',
  async () => {
    const { code, stdout } = await onTerminal()
    expect(code).toBe(0)
    expect(stdout).toMatch(/is ready at http:.*\r\n/)
    expect(stdout).toContain(ESCAPE)
    expect(stdout).not.toContain('"level"')
    for (const secret of SECRETS.slice(1)) expect(stdout).not.toContain(secret)
    const plain = (await onTerminal({ NO_COLOR: '1' })).stdout
    expect(plain).not.toContain(ESCAPE)
    const time = '^\\[\\d\\d:\\d\\d:\\d\\d\\] INFO:'
    const rejected = '422 [\\d.]+ ms Shop request rejected: limit must be a whole'
    expect(plain).toMatch(new RegExp(`${time} GET /v1/messages\\?limit=0 ${rejected}`, 'm'))
    expect(plain).toMatch(
      new RegExp(`${time} GET /v1/messages 503 [\\d.]+ ms Shop fault x-mock-fault: 503\r$`, 'm')
    )
    expect(plain).toContain('put "ApiKey " before the key')
  }
)

const ESCAPE = String.fromCharCode(27)
const CTRL_C = String.fromCharCode(3)

/**
 * Starts a server in a terminal, sends requests, stops the server with Ctrl-C and returns its
 * output. The output includes the seed's API key, which `serve` prints for the user.
 */
async function onTerminal(env: Record<string, string> = {}): Promise<ProcessResult> {
  const file = commandIn(await buildPackage())
  const command = `exec "${process.execPath}" "${file}" --seed shop.yaml --port 0`
  const terminal = await startProcess('script', ['-qec', command, '/dev/null'], {
    cwd: createShop(),
    env: { TERM: 'xterm-256color', ...env }
  })
  await callAll(terminal.url)
  await fetch(`${terminal.url}/v1/messages`, {
    headers: { authorization: 'ApiKey shop-key-7f3a', 'x-mock-fault': 'status=503' }
  })
  terminal.child.stdin.write(CTRL_C)
  return terminal.ended
}
