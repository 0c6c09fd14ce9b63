import { execFile, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { unsupportedNodeMessage } from '../../src/core/node-version.js'
import { commandIn, givenFolder, givenPackage, runCommand, startCommand } from '../support/process.js'
import { optionsOf, runHere } from './here.js'

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

/** What it sets for a service of our name. */
const KUBERNETES = { NOTIFICATION_MOCK_PORT: 'tcp://10.0.0.1:4210', NOTIFICATION_MOCK_SERVICE_HOST: '10.0.0.1' }

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

  test('--no-seed starts without environments, and says so; --host 0.0.0.0 prints an address that can be called', async () => {
    const { printed, url } = await startCommand(['--no-seed', '--host', '0.0.0.0'])
    expect(printed).toContain(`is ready at http://127.0.0.1:`)
    expect(printed).toContain(
      'No environments, and so no API keys: start with a seed, or create one by POST /_mock/environments\n'
    )
    expect(printed).not.toContain('curl')
    expect((await fetch(`${url}/health`)).status).toBe(200)
  })

  test('without a flag it serves the seed that comes with the package, wherever it is started, to all origins', async () => {
    const { printed, url } = await startCommand([], { cwd: givenFolder() })
    for (const key of ['development-key', 'production-key', 'other-organization-key']) expect(printed).toContain(key)
    expect((await fetch(`${url}/health`, ELSEWHERE)).headers.get('access-control-allow-origin')).toBe('*')
  })

  test('--profile and --assume decide how it answers; --no-cors keeps other origins out', async () => {
    const args = ['--seed', 'shop.yaml', '--profile', 'live', '--assume', 'total-count=present', '--no-cors']
    const { url, printed } = await startCommand(args, givenShop())
    expect(printed).toContain('profile live')
    const page = await fetch(`${url}/v1/messages?channel=fax`, { headers: { authorization: 'ApiKey shop-key' } })
    expect(await page.json()).toMatchObject({ data: [], totalCount: 0 })
    expect((await fetch(`${url}/health`, ELSEWHERE)).headers.has('access-control-allow-origin')).toBe(false)
  })
})

const ELSEWHERE = { headers: { origin: 'http://elsewhere.example' } }

describe('an option set by', () => {
  test('a variable is used unless its flag is given; a variable names several seeds, and a flag is repeated', async () => {
    const { cwd } = givenShop()
    writeFileSync(join(cwd, 'other.json'), '{"environments":[{"name":"Other"}]}')
    const seeds = { NOTIFICATION_MOCK_SEED: 'shop.yaml,other.json' }
    const env = { ...seeds, NOTIFICATION_MOCK_PROFILE: 'live', NOTIFICATION_MOCK_JSON: '1' }
    const byVariable = await startCommand([], { cwd, env: { ...env, PORT: '0' } })
    const profile = 'live'
    const both = [
      { name: 'Shop', profile },
      { name: 'Other', profile }
    ]
    expect(JSON.parse(byVariable.printed)).toMatchObject({ environments: both })
    const flags = ['--profile', 'document', '--seed', 'other.json', '--seed', 'shop.yaml']
    expect(await optionsOf(flags, env)).toMatchObject({ profile: 'document', seeds: ['other.json', 'shop.yaml'] })
  })

  test.each([
    ['--no-seed wins over a variable', ['--no-seed'], { NOTIFICATION_MOCK_SEED: 'a.yaml' }, { seeds: [] }],
    ['--seed wins over no seed in a variable', ['--seed', 'a'], { NOTIFICATION_MOCK_NO_SEED: '1' }, { seeds: ['a'] }],
    ['the last of --no-seed and --seed counts', ['--no-seed', '--seed', 'a'], {}, { seeds: ['a'] }],
    [
      'a switch of 0 is off',
      [],
      { NOTIFICATION_MOCK_NO_CORS: '0', NOTIFICATION_MOCK_NO_SEED: 'No' },
      { cors: true, seeds: ['default'] }
    ],
    ['an empty variable is none', [], { NOTIFICATION_MOCK_PROFILE: '' }, { profile: 'document' }],
    ['NOTIFICATION_MOCK_NO_SEED=true', [], { NOTIFICATION_MOCK_NO_SEED: 'true' }, { seeds: [] }],
    ['those of a Kubernetes service are not ours', [], KUBERNETES, { port: 4210 }],
    ['PORT is the port when no other is given', [], { PORT: '1' }, { port: 1 }],
    ['NOTIFICATION_MOCK_PORT wins over PORT', [], { PORT: '1', NOTIFICATION_MOCK_PORT: '2' }, { port: 2 }],
    ['a flag wins over PORT', ['--port', '3'], { PORT: '1', NOTIFICATION_MOCK_PORT: '2' }, { port: 3 }],
    ['200,50 is a latency', ['--latency', '200,50'], {}, { latency: { delay: 200, spread: 50 } }]
  ])('flag and variable: %s', async (_, args, env, expected) => {
    expect(await optionsOf(args, env as unknown as Record<string, string>)).toMatchObject(expected)
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

  test.each<[string, string[], Record<string, string>, number, string]>([
    ['an unknown flag', ['--prot', '1'], {}, 2, `unknown option '--prot'; did you mean --port?`],
    ['a flag without its value', ['--port'], {}, 2, `option '--port <number>' argument missing`],
    ['a port that is no number', ['--port', '4e3'], {}, 2, 'It must be a whole number from 0 to 65535.'],
    ['an unknown profile', ['--profile', 'lvie'], {}, 2, 'Allowed choices are document, live.'],
    ['an unknown assumption', ['--assume', 'envelop=data'], {}, 2, 'no assumption envelop; did you mean envelope?'],
    ['an assumption without a value', ['--assume', 'envelope'], {}, 2, 'must be one of bare, data, not nothing'],
    ['an unknown command', ['srve'], {}, 2, `unknown command 'srve'; did you mean serve?`],
    ['a word too many', ['serve', 'shop.yaml'], {}, 2, `too many arguments for 'serve'`],
    ['an unknown subcommand', ['seed', 'chekc', 'x'], {}, 2, `unknown command 'chekc'; did you mean check?`],
    ['an empty file name', ['--data', ''], {}, 2, 'It must not be empty.'],
    ['nothing to watch', ['--watch', '--no-seed'], {}, 2, '--watch and --no-seed contradict each other'],
    [
      'a latency of no kind',
      ['--latency', 'slow'],
      {},
      2,
      'one of none, office, mobile, bad, not slow; milliseconds are'
    ],
    [
      'a wrong variable',
      [],
      { NOTIFICATION_MOCK_PORT: 'x' },
      2,
      `'x' from env 'NOTIFICATION_MOCK_PORT' is invalid. It`
    ],
    ['a seed that is not there', ['--seed', 'gone.yaml'], {}, 1, `gone.yaml: can't be read: there is no such file`],
    ['a seed that is a folder', ['--seed', '/'], {}, 1, `/: can't be read: it is a folder; name a file in it`],
    ['a name of no seed', ['--seed', 'defualt'], {}, 1, 'did you mean default?'],
    [
      'an issue in a seed',
      ['--seed', join(folder, 'wrong.yaml')],
      {},
      1,
      'wrong.yaml:1:15 environments: must be a list, not null'
    ],
    ['an address that is not ours', ['--no-seed', '--host', '192.0.2.1'], {}, 1, 'choose another with --host'],
    ['a data folder that is not there', ['--no-seed', '--data', 'gone/a.db'], {}, 1, 'it or its folder is not there'],
    ['a data file that is a folder', ['--no-seed', '--data', folder], {}, 1, 'it or its folder is not there'],
    [
      'a data file that is no database',
      ['--no-seed', '--data', join(folder, 'wrong.yaml')],
      {},
      1,
      'it is not a database'
    ],
    ['a data folder that can not be written', ['--no-seed', '--data', '/proc/a.db'], {}, 1, 'check the path and the'],
    ['no healthy server', ['healthcheck', '--port', '9'], {}, 1, 'http://127.0.0.1:9/health: no answer']
  ])('%s', async (_, args, env, code, sentence) => {
    const ended = await runHere(args, env)
    expect(ended).toEqual({ code, stdout: '', stderr: expect.stringMatching(/^[^\n]+\n$/) })
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

  const LACKING = /has to be .* 12, and it is not installed; with npm, run: npm install --no-save .*@12$/
  const CRASHING = /has to be .* 12, and 13.2.0 is .*; with npm, run: npm install --no-save .*@12$/
  const LEFT_OUT = /not installed; with npm, run: npm install --include=optional --ignore-scripts$/
  test.each<[string, string, string, string | undefined, RegExp]>([
    ['that Node 20 needs and that is not installed', '20.19.2', '9', undefined, LACKING],
    ['that would crash this Node, before it is loaded', '20.19.2', '9', '13.2.0', CRASHING],
    ['that is not installed, as when optional packages are left out', '24.19.0', '10', undefined, LEFT_OUT],
    ['that is of another version is tried', '24.19.0', '10', '12.11.1', /Cannot find package/]
  ])('a database addon %s', async (_, node, napi, addon, message) => {
    const [ours, folder] = [await givenPackage(), givenFolder()]
    for (const name of ['package.json', 'dist']) cpSync(join(ours, name), join(folder, name), { recursive: true })
    if (addon) {
      mkdirSync(join(folder, 'node_modules/better-sqlite3'), { recursive: true })
      writeFileSync(join(folder, 'node_modules/better-sqlite3/package.json'), JSON.stringify({ version: addon }))
    }
    const env = { ...process.env, NODE_OPTIONS: otherNode({ node, napi }) }
    const { status, stdout, stderr } = spawnSync(process.execPath, [commandIn(folder)], { encoding: 'utf8', env })
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr.trimEnd()).toMatch(message)
  })

  test('a Node that is too old, before anything else is loaded', async () => {
    const env = { NODE_OPTIONS: otherNode({ node: '18.20.8' }) }
    expect(await runCommand(['--version'], { env })).toEqual({
      code: 1,
      signal: null,
      stdout: '',
      stderr: 'notification-mock needs Node ^20.19.2 or >=22.14.0, and this is v18.20.8; install another Node\n'
    })
  })

  test.each([
    [['18.20.8', '20.19.1', '21.7.3', '22.13.1'], /needs Node/],
    [['20.19.2', '20.20.0', '22.14.0', '23.6.0', '26.0.0'], /^((?!needs Node \^).)*$/]
  ])('Nodes like %j', (versions, message) => {
    const { versions: own } = process
    onTestFinished(() => void Object.defineProperty(process, 'versions', { value: own }))
    for (const node of versions) {
      Object.defineProperty(process, 'versions', { value: { ...own, node }, configurable: true })
      expect(unsupportedNodeMessage() ?? '').toMatch(message)
    }
  })
})

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
