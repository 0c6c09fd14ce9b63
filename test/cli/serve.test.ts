import { execFile, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, describe, expect, test } from 'vitest'
import { commandIn, givenFolder, givenPackage, type Running, runCommand, startCommand } from '../support/process.js'

const SHOP = `
environments:
  - name: Shop
    apiKeys: [shop-key]
    messages: [{ channel: email, subject: Hello }]
`

/** A folder with the seed in it, to start the command in. */
function givenShop(seed = SHOP): { cwd: string } {
  const cwd = givenFolder()
  writeFileSync(join(cwd, 'shop.yaml'), seed)
  return { cwd }
}

function shell(command: string): Promise<{ stdout: string; stderr: string }> {
  return promisify(execFile)('bash', ['-c', command])
}

describe('when it is ready', () => {
  test('it prints its address, its keys, and a curl that works as pasted', async () => {
    const { printed, url } = await startCommand(['--seed', 'shop.yaml'], givenShop())

    expect(printed.replaceAll(/:\d+/g, ':4210').replace(/\d+\.\d+\.\d+ is/, '0.0.0 is')).toBe(`\
notification-mock 0.0.0 is ready at http://127.0.0.1:4210, profile document
Open it in a browser to see its data and requests; docs at http://127.0.0.1:4210/docs
API keys:
  Shop  shop-key
Try:
  curl -H 'Authorization: ApiKey shop-key' 'http://127.0.0.1:4210/v1/messages?limit=1'
`)
    const [curl] = /curl.*/.exec(printed) ?? []
    const { stdout } = await shell(`${curl} --fail --silent`)
    expect(JSON.parse(stdout)).toMatchObject({ totalCount: 1, data: [{ subject: 'Hello' }] })
    expect((await fetch(`${url}/docs`)).status).toBe(200)
  })

  test('the curl works also with a key of characters that a shell interprets', async () => {
    const seed = `environments: [{ name: Odd, apiKeys: ["it's-$HOME-\`x\`-\\"!"] }]`
    const { printed } = await startCommand(['--seed', 'shop.yaml'], givenShop(seed))
    const { stdout } = await shell(`${/curl.*/.exec(printed)?.[0]} --fail --silent`)
    expect(JSON.parse(stdout)).toMatchObject({ totalCount: 0 })
  })

  test('--json makes it one line of JSON, with environments, ids and keys', async () => {
    const { printed } = await startCommand(['--seed', 'shop.yaml', '--json'], givenShop())
    expect(printed).toMatch(/^\{.*\}\n$/)
    expect(JSON.parse(printed)).toEqual({
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      docs: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/docs$/),
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      seeded: true,
      environments: [
        {
          id: expect.stringMatching(/^[0-9a-f]{24}$/),
          organizationId: expect.stringMatching(/^[0-9a-f]{24}$/),
          name: 'Shop',
          profile: 'document',
          apiKeys: ['shop-key']
        }
      ]
    })
  })

  test('without a flag it serves the seed that comes with the package, wherever it is started', async () => {
    const { printed } = await startCommand([], { cwd: givenFolder() })
    expect(printed).toContain('development-key')
    expect(printed).toContain('production-key')
    expect(printed).toContain('other-organization-key')
  })

  test('--no-seed starts without environments, and says so', async () => {
    const { printed, url } = await startCommand(['--no-seed'])
    expect(printed).toContain('No environments: start with a seed, or create one by POST /_mock/environments\n')
    expect(printed).not.toContain('curl')
    expect((await fetch(`${url}/health`)).status).toBe(200)
  })

  test('--seed may be repeated: all of them are loaded', async () => {
    const shop = givenShop()
    writeFileSync(join(shop.cwd, 'other.json'), '{"environments":[{"name":"Other"}]}')
    const { printed } = await startCommand(['--seed', 'shop.yaml', '--seed', 'other.json'], shop)
    expect(printed).toContain('  Shop   shop-key\n  Other  other-key\n')
  })

  test('a server that listens on all addresses prints one that can be called', async () => {
    const { printed, url } = await startCommand(['--seed', 'shop.yaml', '--host', '0.0.0.0'], givenShop())
    expect(printed).toContain(`is ready at http://127.0.0.1:`)
    expect((await fetch(`${url}/health`)).status).toBe(200)
  })

  test('--port 0 takes a free port, and two servers take two', async () => {
    const shop = givenShop()
    const [one, other] = await Promise.all(
      ['0', '0'].map((port) => startCommand(['--seed', 'shop.yaml', '--port', port], shop))
    )
    expect(one?.url).not.toBe(other?.url)
    for (const { url } of [one, other] as Running[]) expect((await fetch(`${url}/health`)).status).toBe(200)
  })

  test('--profile and --assume decide how it answers', async () => {
    const args = ['--seed', 'shop.yaml', '--profile', 'live', '--assume', 'total-count=present']
    const { url, printed } = await startCommand(args, givenShop())
    expect(printed).toContain('profile live')
    const page = await fetch(`${url}/v1/messages?channel=fax`, { headers: { authorization: 'ApiKey shop-key' } })
    expect(await page.json()).toMatchObject({ data: [], totalCount: 0 })
  })

  test('--no-cors keeps other origins out', async () => {
    const open = await startCommand(['--seed', 'shop.yaml'], givenShop())
    const closed = await startCommand(['--seed', 'shop.yaml', '--no-cors'], givenShop())
    const headers = { origin: 'http://elsewhere.example' }
    expect((await fetch(`${open.url}/health`, { headers })).headers.get('access-control-allow-origin')).toBe('*')
    expect((await fetch(`${closed.url}/health`, { headers })).headers.has('access-control-allow-origin')).toBe(false)
  })
})

describe('an option set by', () => {
  test('a variable is used unless its flag is given', async () => {
    const { cwd } = givenShop()
    const env = { NOTIFICATION_MOCK_SEED: 'shop.yaml', NOTIFICATION_MOCK_PROFILE: 'live', NOTIFICATION_MOCK_JSON: '1' }
    const byVariable = await startCommand([], { cwd, env })
    expect(JSON.parse(byVariable.printed)).toMatchObject({ environments: [{ name: 'Shop', profile: 'live' }] })
    const byFlag = await startCommand(['--profile', 'document'], { cwd, env })
    expect(JSON.parse(byFlag.printed)).toMatchObject({ environments: [{ name: 'Shop', profile: 'document' }] })
  })

  test('NOTIFICATION_MOCK_SEED may name several, joined by commas', async () => {
    const { cwd } = givenShop()
    writeFileSync(join(cwd, 'other.json'), '{"environments":[{"name":"Other"}]}')
    const { printed } = await startCommand([], { cwd, env: { NOTIFICATION_MOCK_SEED: 'shop.yaml,other.json' } })
    expect(printed).toContain('  Shop   shop-key\n  Other  other-key\n')
  })

  test.each([
    [
      '--no-seed wins over a seed in a variable',
      ['--no-seed'],
      { NOTIFICATION_MOCK_SEED: 'gone.yaml' },
      'No environments'
    ],
    ['--seed wins over no seed in a variable', ['--seed', 'shop.yaml'], { NOTIFICATION_MOCK_NO_SEED: '1' }, 'shop-key'],
    ['a switch of 0 is off', ['--seed', 'shop.yaml'], { NOTIFICATION_MOCK_JSON: '0' }, 'API keys:'],
    ['an empty variable is none', ['--seed', 'shop.yaml'], { NOTIFICATION_MOCK_PROFILE: '' }, 'profile document'],
    ['NOTIFICATION_MOCK_NO_SEED=true', [], { NOTIFICATION_MOCK_NO_SEED: 'true' }, 'No environments'],
    [
      'the variables of a Kubernetes service of our name are not ours',
      ['--seed', 'shop.yaml', '--port', '0'],
      { NOTIFICATION_MOCK_PORT: 'tcp://10.0.0.1:4210', NOTIFICATION_MOCK_SERVICE_HOST: '10.0.0.1' },
      'shop-key'
    ]
  ])('flag and variable: %s', async (_, args, env, expected) => {
    const { printed } = await startCommand(args, { ...givenShop(), env: env as unknown as Record<string, string> })
    expect(printed).toContain(expected)
  })

  test('PORT is the port when no other is given', async () => {
    const [port, other, third] = await freePorts(3)
    const shop = givenShop()
    const byFallback = await startCommand(['--seed', 'shop.yaml'], { ...shop, env: { PORT: `${port}` } })
    expect(byFallback.url).toBe(`http://127.0.0.1:${port}`)
    const both = { PORT: `${port}`, NOTIFICATION_MOCK_PORT: `${other}` }
    expect((await startCommand(['--seed', 'shop.yaml'], { ...shop, env: both })).url).toBe(`http://127.0.0.1:${other}`)
    const byFlag = await startCommand(['--seed', 'shop.yaml', '--port', `${third}`], { ...shop, env: both })
    expect(byFlag.url).toBe(`http://127.0.0.1:${third}`)
  })
})

describe('what can not be done is reported in one line, with the remedy and without a stack', () => {
  test('a taken port', async () => {
    const { url } = await startCommand(['--no-seed'])
    const { port } = new URL(url)
    const ended = await runCommand(['--no-seed', '--port', port])
    expect(ended).toEqual({
      code: 1,
      signal: null,
      stdout: '',
      stderr: `error: can't listen on 127.0.0.1:${port}: the port is taken; stop what uses it, or choose another with --port (0 takes a free one)\n`
    })
  })

  const folder = mkdtempSync(join(tmpdir(), 'notification-mock-'))
  writeFileSync(join(folder, 'wrong.yaml'), 'environments: \n')
  afterAll(() => rmSync(folder, { recursive: true }))

  test.concurrent.each<[string, string[], Record<string, string>, number, string]>([
    ['an unknown flag', ['--prot', '1'], {}, 2, `unknown option '--prot'; did you mean --port?`],
    ['a flag without its value', ['--port'], {}, 2, `option '--port <number>' argument missing`],
    ['a port that is none', ['--port', '70000'], {}, 2, 'It must be a whole number from 0 to 65535.'],
    ['a port that is no number', ['--port', '4e3'], {}, 2, 'It must be a whole number from 0 to 65535.'],
    ['an unknown profile', ['--profile', 'lvie'], {}, 2, 'Allowed choices are document, live.'],
    ['an unknown level', ['--log-level', 'loud'], {}, 2, 'Allowed choices are trace, debug,'],
    ['an unknown assumption', ['--assume', 'envelop=data'], {}, 2, 'no assumption envelop; did you mean envelope?'],
    ['an assumption without a value', ['--assume', 'envelope'], {}, 2, 'must be one of bare, data, not nothing.'],
    ['an unknown command', ['srve'], {}, 2, `unknown command 'srve'; did you mean serve?`],
    ['a word too many', ['serve', 'shop.yaml'], {}, 2, `serve takes no words, and was given 'shop.yaml'`],
    ['an unknown subcommand', ['seed', 'chekc', 'x'], {}, 2, `unknown command 'chekc'; did you mean check?`],
    ['an empty file name', ['--data', ''], {}, 2, 'It must not be empty.'],
    ['an empty seed name', ['--seed', ''], {}, 2, 'It must not be empty.'],
    ['an empty host', ['--host', ''], {}, 2, 'It must not be empty.'],
    ['a contradiction', ['--seed', 'a', '--no-seed'], {}, 2, '--seed and --no-seed contradict each other'],
    ['the same the other way round', ['--no-seed', '--seed', 'a'], {}, 2, '--seed and --no-seed contradict each other'],
    [
      'a contradiction of variables',
      [],
      { NOTIFICATION_MOCK_NO_SEED: '1', NOTIFICATION_MOCK_SEED: 'a' },
      2,
      '--seed and --no-seed contradict each other'
    ],
    [
      'a wrong value of a variable',
      [],
      { NOTIFICATION_MOCK_PORT: 'x' },
      2,
      `value 'x' from env 'NOTIFICATION_MOCK_PORT' is invalid. It must be a whole number`
    ],
    ['a wrong PORT', [], { PORT: 'x' }, 2, `value 'x' from env 'PORT' is invalid.`],
    ['a switch that is no switch', [], { NOTIFICATION_MOCK_JSON: 'maybe' }, 2, 'NOTIFICATION_MOCK_JSON must be 1 or 0'],
    [
      'a misspelt variable',
      [],
      { NOTIFICATION_MOCK_SEEDS: 'a' },
      2,
      'no variable NOTIFICATION_MOCK_SEEDS; did you mean NOTIFICATION_MOCK_SEED?'
    ],
    ['a seed that is not there', ['--seed', 'gone.yaml'], {}, 1, `gone.yaml: can't be read: there is no such file`],
    ['a seed that is a folder', ['--seed', '/'], {}, 1, `/: can't be read: it is a folder; name a file in it`],
    ['a name of no seed', ['--seed', 'defualt'], {}, 1, 'did you mean default?'],
    ['an issue in a seed', ['--seed', 'wrong.yaml'], {}, 1, 'wrong.yaml:1:15 environments: must be a list, not null'],
    ['an address that is not ours', ['--no-seed', '--host', '192.0.2.1'], {}, 1, 'choose another with --host'],
    ['a host that does not exist', ['--no-seed', '--host', 'no.invalid'], {}, 1, 'with --host'],
    ['a data folder that is not there', ['--no-seed', '--data', 'gone/a.db'], {}, 1, 'does not exist; make it first'],
    ['a data file in a file', ['--no-seed', '--data', 'wrong.yaml/a.db'], {}, 1, 'is not a folder'],
    ['a data file that is a folder', ['--no-seed', '--data', '.'], {}, 1, 'it is a folder; name a file in it'],
    ['a data file that is no database', ['--no-seed', '--data', 'wrong.yaml'], {}, 1, 'it is not a database'],
    [
      'a data folder that can not be written',
      ['--no-seed', '--data', '/proc/a.db'],
      {},
      1,
      'check the path and the permissions'
    ],
    ['no healthy server', ['healthcheck', '--port', '9'], {}, 1, 'http://127.0.0.1:9/health: no answer']
  ])('%s', async (_, args, env, code, sentence) => {
    const ended = await runCommand(args, { cwd: folder, env })
    expect(ended).toEqual({ code, signal: null, stdout: '', stderr: expect.stringMatching(/^[^\n]+\n$/) })
    expect(ended.stderr).toContain(sentence)
    expect(ended.stderr).not.toMatch(/\n {4}at |Error:/)
  })

  test('every issue of every seed has its own line', async () => {
    const shop = givenShop('environments:\n  - nam: x\n  - name: 7\n')
    writeFileSync(join(shop.cwd, 'other.yaml'), 'environment: []\n')
    const { code, stderr } = await runCommand(['--seed', 'shop.yaml', '--seed', 'other.yaml'], shop)
    expect(code).toBe(1)
    expect(stderr).toBe(`\
shop.yaml:2:5 environments[0]: must have name
shop.yaml:2:5 environments[0].nam: is not a field here; did you mean name?
shop.yaml:3:11 environments[1].name: must be a string, not 7: put it in quotes
other.yaml:1:1: must have environments
other.yaml:1:1 environment: is not a field here; did you mean environments?
`)
  })

  test('a database addon that was not built, as when npm may run no scripts or Node has changed', async () => {
    const [ours, folder] = [await givenPackage(), givenFolder()]
    for (const name of ['package.json', 'dist', 'migrations', 'seeds'])
      cpSync(join(ours, name), join(folder, name), { recursive: true })
    const addon = realpathSync(join(ours, 'node_modules/better-sqlite3'))
    mkdirSync(join(folder, 'node_modules'))
    for (const name of NEEDS_BUILD ? ['bindings', 'file-uri-to-path'] : []) {
      symlinkSync(join(addon, '..', name), join(folder, 'node_modules', name))
    }
    for (const name of ['package.json', 'lib']) {
      cpSync(join(addon, name), join(folder, 'node_modules/better-sqlite3', name), {
        recursive: true
      })
    }
    const { status, stdout, stderr } = spawnSync(process.execPath, [commandIn(folder), '--no-seed', '--port', '0'], {
      encoding: 'utf8'
    })
    expect({ status, stdout, stderr }).toEqual({
      status: 1,
      stdout: '',
      stderr: `error: the database addon was not built for this Node, ${process.version}; run: ${NEEDS_BUILD ? 'npm rebuild' : 'npm update'} better-sqlite3\n`
    })
  })

  test.each<[string, { node: string; napi: string }, string[], RegExp]>([
    [
      'that Node 20 needs and that is not installed',
      NODE_20,
      [],
      /has to be .* 12, and it is not installed; with npm, run: npm install --no-save .*@12$/
    ],
    [
      'that would crash this Node, before it is loaded',
      NODE_20,
      ['13.2.0'],
      /has to be .* 12, and 13.2.0 is .*; with npm, run: npm install --no-save .*@12$/
    ],
    [
      'that is not installed, as when optional packages are left out',
      NODE_24,
      [],
      /not installed; with npm, run: npm install --include=optional --ignore-scripts$/
    ],
    [
      'that was compiled and would abort this Node, before it is loaded',
      NODE_24,
      ['12.11.1', 'build/config.gypi'],
      /12.11.1 was compiled, and aborts on Node v24.19.0; with npm, run: npm update better-sqlite3$/
    ],
    ['that was downloaded is tried', NODE_24, ['12.11.1'], /Cannot find package/],
    ['that was compiled for Node 22 is tried', NODE_22, ['12.11.1', 'build/config.gypi'], /Cannot find package/],
    ['that was compiled for Node 26 is tried', NODE_26, ['12.11.1', 'build/config.gypi'], /Cannot find package/]
  ])('a database addon %s', async (_, node, [addon, ...files], message) => {
    const [ours, folder] = [await givenPackage(), givenFolder()]
    for (const name of ['package.json', 'dist']) cpSync(join(ours, name), join(folder, name), { recursive: true })
    if (addon) {
      mkdirSync(join(folder, 'node_modules/better-sqlite3/build'), { recursive: true })
      writeFileSync(join(folder, 'node_modules/better-sqlite3/package.json'), JSON.stringify({ version: addon }))
    }
    for (const file of files) writeFileSync(join(folder, 'node_modules/better-sqlite3', file), '')
    const { status, stdout, stderr } = spawnSync(process.execPath, [commandIn(folder)], {
      encoding: 'utf8',
      env: { ...process.env, NODE_OPTIONS: otherNode(node) }
    })
    expect({ status, stdout, stderr: stderr.trimEnd() }).toEqual({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(message)
    })
  })

  test.each(['18.20.8', '20.19.1', '21.7.3', '22.13.1'])(
    'Node %s, which is too old, before anything else is loaded',
    async (version) => {
      expect(await runCommand(['--version'], { env: { NODE_OPTIONS: otherNode({ node: version }) } })).toEqual({
        code: 1,
        signal: null,
        stdout: '',
        stderr: `notification-mock needs Node ^20.19.2 or >=22.14.0, and this is v${version}; install another Node\n`
      })
    }
  )

  test.each(['20.19.2', '20.20.0', '22.14.0', '23.6.0', '26.0.0'])('no Node like %s', async (version) => {
    const ended = await runCommand(['--version'], { env: { NODE_OPTIONS: otherNode({ node: version }) } })
    expect(ended).toMatchObject({ code: 0, stderr: '' })
  })
})

const NODE_20 = { node: '20.19.2', napi: '9' }
const NODE_22 = { node: '22.23.3', napi: '10' }
const NODE_24 = { node: '24.19.0', napi: '10' }
const NODE_26 = { node: '26.10.0', napi: '10' }

/** Whether this Node takes better-sqlite3 12: it is built for one Node alone. */
const NEEDS_BUILD = Number(process.versions.napi) < 10

/** The option that makes Node say that it is another. */
function otherNode(versions: { node: string; napi?: string }): string {
  const file = join(givenFolder(), 'other.mjs')
  writeFileSync(
    file,
    `Object.defineProperty(process, 'version', { value: 'v${versions.node}' })
    Object.defineProperty(process, 'versions', { value: { ...process.versions, ...${JSON.stringify(versions)} } })`
  )
  return `--import=${pathToFileURL(file)}`
}

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const ports = servers.map((server) => (server.address() as { port: number }).port)
  await Promise.all(servers.map((server) => once(server.close(), 'close')))
  return ports
}
