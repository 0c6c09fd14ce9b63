import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  buildPackage,
  commandIn,
  createTempFolder,
  startCommand,
  startProcess
} from '../support/process.js'

/** The tests run commands in a terminal with `script`, whose flags differ outside Linux. */
const HAS_SCRIPT = process.platform === 'linux'

/**
 * Text that tries to set a color and to fake a line of output. It contains C0 and C1 control
 * characters, DEL, direction controls and line ends.
 */
const HOSTILE = 'X\u001b[31m\u009b31m\u007f\u202e\u2066\u2028\r\nFAKE: | Admin token: 1'
const KEY = 'terminal-key-7f3a'

const SEED = {
  environments: [
    { name: HOSTILE, apiKeys: [KEY], workflows: [{ name: HOSTILE, identifier: 'welcome' }] }
  ]
}

/** Creates a folder with a valid and an invalid seed. The names in both seeds are hostile text. */
function createSeeds(): string {
  const cwd = createTempFolder()
  writeFileSync(join(cwd, 'seed.json'), JSON.stringify(SEED))
  const messages = [{ workflow: HOSTILE, subscriberId: HOSTILE, channel: 'email', [HOSTILE]: 1 }]
  writeFileSync(
    join(cwd, 'wrong.json'),
    JSON.stringify({ environments: [{ ...SEED.environments[0], messages }] })
  )
  return cwd
}

/**
 * Starts a service whose responses all contain hostile text. Its only message comes from the
 * default seed, and has an additional hostile field.
 */
async function startHostileService(): Promise<string> {
  const mock = await startCommand([])
  const headers = { authorization: 'ApiKey development-key' }
  const { data } = (await (await fetch(`${mock.url}/v1/messages?limit=1`, { headers })).json()) as {
    data: object[]
  }
  const fields = {
    [HOSTILE]: HOSTILE,
    message: HOSTILE,
    error: HOSTILE,
    page: 0,
    pageSize: 10,
    totalCount: 1
  }
  const server = createServer(({ url = '' }, response) => {
    const page =
      url.startsWith('/v1/messages') && !/page=[1-9]/.test(url)
        ? [{ ...data[0], [HOSTILE]: HOSTILE }]
        : []
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ ...fields, data: page, hasMore: false }))
  }).listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.close()
  })
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Starts a command in a terminal, and resolves when its output matches `ready`. */
async function startOnTerminal(command: string, cwd: string, ready = /./) {
  const ours = `exec "${process.execPath}" "${commandIn(await buildPackage())}" ${command}`
  const env = { TERM: 'xterm-256color', NO_COLOR: '1', TMPDIR: cwd }
  return startProcess('script', ['-qec', ours, '/dev/null'], { cwd, env, ready })
}

async function printedBy(command: string, cwd = createSeeds()): Promise<string> {
  const { stdout } = await (await startOnTerminal(command, cwd)).ended
  return stdout
}

/** Expects that the output shows the hostile text with all control characters escaped. */
function expectHarmless(printed: string): void {
  expect(printed).toContain('FAKE')
  expectNoControls(printed)
}

/** Expects no control characters, except in the sequence that clears a command's progress line. */
function expectNoControls(printed: string): void {
  const lines = printed.replaceAll('\u001b[K', '').replaceAll('\r', '\n').split('\n')
  for (const line of lines) {
    expect(line).not.toMatch(/[^\P{Cc}\t]|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u)
    expect(line).not.toMatch(/^\W*FAKE/)
  }
}

async function call(url: string, path: string, init: RequestInit = {}): Promise<number> {
  const { status } = await fetch(`${url}${path}`, {
    headers: { authorization: `ApiKey ${KEY}` },
    ...init
  })
  return status
}

const PATH = `/v2/workflows/${encodeURIComponent(HOSTILE)}/steps/x`

describe.skipIf(!HAS_SCRIPT)("untrusted text can't control a terminal", () => {
  test('serve escapes untrusted text in its output, its log and messages about seeds', async () => {
    const cwd = createSeeds()
    const file = 'FAKE\u001b[31m\u202e.db'
    const args = `--seed seed.json --watch --port 0 --log-level trace --data "${file}"`
    const { child, url, ended } = await startOnTerminal(args, cwd, /^ *curl/m)
    expect(await call(url, PATH)).toBe(404)
    expect(await call(url, `/v1/messages?${encodeURIComponent(HOSTILE)}=1`)).toBe(200)
    writeFileSync(
      join(cwd, 'seed.json'),
      JSON.stringify({ environments: [{ ...SEED.environments[0], messages: 1 }] })
    )
    await once(child.stdout, 'data')
    writeFileSync(
      join(cwd, 'seed.json'),
      JSON.stringify({ environments: [{ name: `${HOSTILE} 2`, apiKeys: [KEY] }] })
    )
    await once(child.stdout, 'data')
    rmSync(join(cwd, file))
    await once(child.stdout, 'data')
    child.stdin.write('\u0003')
    const { stdout } = await ended
    expectHarmless(stdout.replace('^C', ''))
    for (const level of ['DEBUG', 'INFO', 'ERROR'])
      expect(stdout).toMatch(new RegExp(`${level}: .*FAKE`))
    expect(stdout).toMatch(/^\[[\d:]+\] ERROR: the data file .* was deleted or moved/m)
  })

  test('start escapes untrusted text in its output', async () => {
    const cwd = createSeeds()
    const printed = await printedBy('start --seed seed.json --port 0', cwd)
    process.kill(Number(/Process (\d+)/.exec(printed)?.[1]))
    expectHarmless(printed)
  })

  test.each(['seed check seed.json', 'seed check wrong.json', 'seed check --json wrong.json'])(
    '%s escapes untrusted text',
    async (command) => {
      expectHarmless(await printedBy(command))
    }
  )

  const access = '--api-key some-key-of-theirs'
  test.each(['--verbose', '--json'])(
    'conformance %s never prints text from the target',
    async (flag) => {
      const printed = await printedBy(
        `conformance ${flag} --target ${await startHostileService()} ${access}`
      )
      expect(printed).toContain('wire.list.shape')
      expect(printed).not.toContain('FAKE')
      expectNoControls(printed)
    }
  )

  test.each([
    ['compare --target', '--seed seed.json'],
    ['compare --target', '--seed seed.json --json'],
    ['record --from', '--out out.yaml']
  ])('%s <url> %s escapes untrusted text', async (command, more) => {
    expectHarmless(await printedBy(`${command} ${await startHostileService()} ${access} ${more}`))
  })

  test('exec --coverage escapes untrusted text', async () => {
    const program =
      `const headers = { authorization: 'ApiKey ${KEY}' }; ` +
      'fetch(process.env.NOTIFICATION_MOCK_URL + process.argv[1], { headers })'
    const path = `/v1/messages?${encodeURIComponent(HOSTILE)}=1`
    const inner = `"${process.execPath}" -e "${program}" '${path}'`
    const printed = await printedBy(
      `exec --seed seed.json --log-level debug --coverage -- ${inner}`
    )
    expectHarmless(printed)
    expect(printed).toContain('`X\\u001b` is not a parameter of listMessages')
  })
})

test('serve --watch reports and survives a seed file replaced by a pipe or device', async () => {
  const cwd = createSeeds()
  const { child, url, ended } = await startCommand(['--seed', 'seed.json', '--watch'], { cwd })
  for (const become of ['mkfifo seed.json', 'ln -s /dev/zero seed.json']) {
    spawnSync('sh', ['-c', `rm seed.json; ${become}`], { cwd })
    await once(child.stderr, 'data')
    expect(await call(url, '/v1/messages')).toBe(200)
  }
  child.kill('SIGTERM')
  const { code, stderr } = await ended
  expect(code).toBe(0)
  const line =
    "seed.json: can't be read: it is not a regular file: save its content to a file, and use that file\n"
  expect(stderr.split(line)).toHaveLength(3)
})
