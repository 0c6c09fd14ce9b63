import { execFile, spawnSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, describe, expect, test } from 'vitest'
import { configOf } from '../../src/config.js'
import {
  buildPackage,
  commandIn,
  createTempFolder,
  runCommand,
  startCommand
} from '../support/process.js'
import { optionsOf, runHere } from './here.js'

const SHOP = `
environments:
  - name: Shop
    apiKeys: ["it's-$HOME-\`x\`-key!"]
    messages: [{ channel: email, subject: Hello }]
`
/** An API key with characters that have a special meaning in a shell. */
const SHOP_KEY = "it's-$HOME-`x`-key!"

/** Creates a folder with the seed `shop.yaml`, and returns it as the working directory. */
function createShop(seed = SHOP): { cwd: string } {
  const cwd = createTempFolder()
  writeFileSync(join(cwd, 'shop.yaml'), seed)
  return { cwd }
}

/** The variables that Kubernetes sets for a service named `notification-mock`. */
const KUBERNETES = {
  NOTIFICATION_MOCK_PORT: 'tcp://10.0.0.1:4210',
  NOTIFICATION_MOCK_SERVICE_HOST: '10.0.0.1'
}

function shell(command: string): Promise<{ stdout: string; stderr: string }> {
  return promisify(execFile)('bash', ['-c', command])
}

describe('when the server is ready', () => {
  test('prints the URL, the API keys, and a curl command that runs unchanged', async () => {
    const { printed, url } = await startCommand(['--seed', 'shop.yaml'], createShop())

    const lines = printed
      .replaceAll(/:\d+/g, ':4210')
      .replace(/\d+\.\d+\.\d+ is/, '0.0.0 is')
      .split('\n')
    expect(lines.slice(0, 5)).toEqual([
      'notification-mock 0.0.0 is ready at http://127.0.0.1:4210',
      'Open it in a browser to inspect data and requests; docs at http://127.0.0.1:4210/docs',
      'API keys:',
      `  Shop  ${SHOP_KEY}`,
      'Try:'
    ])
    const [curl] = /curl.*/.exec(printed) ?? []
    const { stdout } = await shell(`${curl} --fail --silent`)
    expect(JSON.parse(stdout)).toMatchObject({ totalCount: 1, data: [{ subject: 'Hello' }] })
    expect((await fetch(`${url}/docs`)).status).toBe(200)
  })

  test('--json prints one line of JSON with environments, their ids and API keys', async () => {
    const { printed } = await startCommand(['--seed', 'shop.yaml', '--json'], createShop())
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
          apiKeys: [SHOP_KEY]
        }
      ]
    })
  })

  test('prints a reachable URL for --host 0.0.0.0', async () => {
    const { printed, url } = await startCommand(['--no-seed', '--host', '0.0.0.0'])
    expect(printed).toContain(`is ready at http://127.0.0.1:`)
    expect((await fetch(`${url}/health`)).status).toBe(200)
  })

  test('says how to create an environment if --no-seed is set', async () => {
    const { printed } = await startCommand(['--no-seed'])
    expect(printed).toContain(
      'No environments, so no API keys; start with a seed, or use POST /_mock/environments\n'
    )
    expect(printed).not.toContain('curl')
  })

  test('--profile and --assume change the responses', async () => {
    const behavior = ['--profile', 'live', '--assume', 'total-count=present']
    const { url, printed } = await startCommand(['--seed', 'shop.yaml', ...behavior], createShop())
    expect(printed).toContain('Profile live: behaves like')
    const page = await fetch(`${url}/v1/messages?channel=fax`, {
      headers: { authorization: `ApiKey ${SHOP_KEY}` }
    })
    expect(await page.json()).toMatchObject({ data: [], totalCount: 0 })
  })

  test('--no-cors blocks web pages of other origins', async () => {
    const { url } = await startCommand(['--no-seed', '--no-cors'])
    const { headers } = await fetch(`${url}/health`, {
      headers: { origin: 'http://elsewhere.example' }
    })
    expect(headers.has('access-control-allow-origin')).toBe(false)
  })
})

describe('option values', () => {
  const VARIABLES = {
    NOTIFICATION_MOCK_SEED: 'shop.yaml,other.json',
    NOTIFICATION_MOCK_PROFILE: 'live',
    NOTIFICATION_MOCK_JSON: '1'
  }

  test('variables set options, and commas in a variable separate several seeds', async () => {
    const { cwd } = createShop()
    writeFileSync(join(cwd, 'other.json'), '{"environments":[{"name":"Other"}]}')
    const { printed } = await startCommand([], { cwd, env: { ...VARIABLES, PORT: '0' } })
    const environments = ['Shop', 'Other'].map((name) => ({ name, profile: 'live' }))
    expect(JSON.parse(printed)).toMatchObject({ environments })
  })

  test('flags override variables, and a repeated flag lists several seeds', async () => {
    const flags = ['--profile', 'document', '--seed', 'other.json', '--seed', 'shop.yaml']
    expect(await optionsOf(flags, VARIABLES)).toMatchObject({
      profile: 'document',
      seeds: ['other.json', 'shop.yaml']
    })
  })

  test.each([
    [
      '--no-seed overrides NOTIFICATION_MOCK_SEED',
      ['--no-seed'],
      { NOTIFICATION_MOCK_SEED: 'a.yaml' },
      { seeds: [] }
    ],
    [
      '--seed overrides NOTIFICATION_MOCK_NO_SEED',
      ['--seed', 'a'],
      { NOTIFICATION_MOCK_NO_SEED: '1' },
      { seeds: ['a'] }
    ],
    [
      'if both --no-seed and --seed are given, the last one counts',
      ['--no-seed', '--seed', 'a'],
      {},
      { seeds: ['a'] }
    ],
    ['the value 0 turns a switch off', [], { NOTIFICATION_MOCK_NO_CORS: '0' }, { cors: true }],
    [
      'the value No turns a switch off',
      [],
      { NOTIFICATION_MOCK_NO_SEED: 'No' },
      { seeds: ['default'] }
    ],
    [
      'an empty variable is ignored',
      [],
      { NOTIFICATION_MOCK_PROFILE: '' },
      { profile: 'document' }
    ],
    [
      'the variables that Kubernetes sets for a service are ignored',
      [],
      KUBERNETES,
      { port: 4210 }
    ],
    ['PORT is used when no other port is given', [], { PORT: '1' }, { port: 1 }],
    [
      'NOTIFICATION_MOCK_PORT overrides PORT',
      [],
      { PORT: '1', NOTIFICATION_MOCK_PORT: '2' },
      { port: 2 }
    ],
    [
      'a flag overrides PORT',
      ['--port', '3'],
      { PORT: '1', NOTIFICATION_MOCK_PORT: '2' },
      { port: 3 }
    ],
    ['200,50 is a latency', ['--latency', '200,50'], {}, { latency: { delay: 200, spread: 50 } }],
    ['--stubs selects a built-in set', ['--stubs', 'novu-client'], {}, { stubs: 'novu-client' }]
  ])('%s', async (_, args, env, expected) => {
    expect(await optionsOf(args, env as unknown as Record<string, string>)).toMatchObject(expected)
  })
})

describe('an error is reported in one line, with a fix and without a stack trace', () => {
  const folder = mkdtempSync(join(tmpdir(), 'notification-mock-'))
  writeFileSync(join(folder, 'wrong.yaml'), 'environments: \n')
  afterAll(() => rmSync(folder, { recursive: true }))

  test.each<[string, string[], string]>([
    ['an unknown flag', ['--prot', '1'], `unknown option '--prot'; did you mean --port?`],
    ['a port that is not a number', ['--port', '4e3'], 'It must be an integer from 0 to 65535.'],
    ['an unknown profile', ['--profile', 'lvie'], 'Allowed choices are document, live.'],
    [
      'an unknown assumption',
      ['--assume', 'envelop=data'],
      'no assumption envelop; did you mean envelope?'
    ],
    ['an unknown command', ['srve'], `unknown command 'srve'; did you mean serve?`],
    ['an extra argument', ['serve', 'shop.yaml'], `too many arguments for 'serve'`],
    [
      'an unknown subcommand',
      ['seed', 'chekc', 'x'],
      `unknown command 'chekc'; did you mean check?`
    ],
    ['nothing to watch', ['--watch', '--no-seed'], '--watch and --no-seed contradict each other'],
    [
      'an unknown latency',
      ['--latency', 'slow'],
      'one of none, office, mobile, bad, not slow; write milliseconds as'
    ],
    [
      'an invalid variable',
      ['NOTIFICATION_MOCK_PORT=x'],
      `'x' from env 'NOTIFICATION_MOCK_PORT' is invalid. It`
    ]
  ])('%s is a usage error (exit code 2)', (_, args, message) => expectError(args, 2, message))

  const wrong = join(folder, 'wrong.yaml')
  test.each<[string, string[], string]>([
    ['a missing seed', ['--seed', 'gone.yaml'], `gone.yaml: can't be read: there is no such file`],
    ['an unknown seed name', ['--seed', 'defualt'], 'did you mean default?'],
    [
      'an issue in a seed',
      ['--seed', wrong],
      'wrong.yaml:1:15 environments: must be a list, not null'
    ],
    [
      'a --host that is the address of another machine',
      ['--no-seed', '--host', '192.0.2.1'],
      'choose another with --host'
    ],
    ['a data file that is not a database', ['--no-seed', '--data', wrong], 'it is not a database'],
    ['no healthy server', ['healthcheck', '--port', '9'], 'http://127.0.0.1:9/health: no response']
  ])('%s is a failure (exit code 1)', (_, args, message) => expectError(args, 1, message))

  async function expectError(args: string[], code: number, message: string) {
    const [name = '', value] = args[0]?.split('=') ?? []
    const ended = await (value ? runHere([], { [name]: value }) : runHere(args))
    expect(ended).toEqual({ code, stdout: '', stderr: expect.stringMatching(/^[^\n]+\n$/) })
    expect(ended.stderr).toContain(message)
    expect(ended.stderr).not.toMatch(/\n {4}at |Error:/)
  }

  test('reports a database addon that is not built for this Node version', async () => {
    const folder = await copyPackage('package.json', 'dist', 'migrations', 'seeds')
    const addon = realpathSync(join(await buildPackage(), 'node_modules/better-sqlite3'))
    mkdirSync(join(folder, 'node_modules'))
    for (const name of NEEDS_BUILD ? ['bindings', 'file-uri-to-path'] : []) {
      symlinkSync(join(addon, '..', name), join(folder, 'node_modules', name))
    }
    for (const name of ['package.json', 'lib']) {
      cpSync(join(addon, name), join(folder, 'node_modules/better-sqlite3', name), {
        recursive: true
      })
    }
    const { status, stderr } = spawnSync(process.execPath, [commandIn(folder), '--no-seed'], {
      encoding: 'utf8'
    })
    const problem = `the database addon was not built for this Node, ${process.version}`
    const fix = `run: npm ${NEEDS_BUILD ? 'rebuild' : 'update'} better-sqlite3`
    expect([status, stderr]).toEqual([1, `error: ${problem}; ${fix}\n`])
  })

  const LACKING =
    /must be .* 12, and it is not installed; with npm, run: npm install --no-save .*@12$/
  const CRASHING = /must be .* 12, and 13.2.0 is .*; with npm, run: npm install --no-save .*@12$/
  const LEFT_OUT = /not installed; with npm, run: npm install --include=optional --ignore-scripts$/
  test.each<[string, string, string, string | undefined, RegExp]>([
    ['a missing database addon on Node 20', '20.19.2', '9', undefined, LACKING],
    ['a database addon that would crash Node 20', '20.19.2', '9', '13.2.0', CRASHING],
    ['a missing database addon on Node 24', '24.19.0', '10', undefined, LEFT_OUT]
  ])('reports %s', async (_, node, napi, addon, message) => {
    const folder = await copyPackage('package.json', 'dist')
    if (addon) {
      mkdirSync(join(folder, 'node_modules/better-sqlite3'), { recursive: true })
      writeFileSync(
        join(folder, 'node_modules/better-sqlite3/package.json'),
        JSON.stringify({ version: addon })
      )
    }
    const env = { ...process.env, NODE_OPTIONS: otherNode({ node, napi }) }
    const { status, stdout, stderr } = spawnSync(process.execPath, [commandIn(folder)], {
      encoding: 'utf8',
      env
    })
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr.trimEnd()).toMatch(message)
  })

  test('reports an unsupported Node version before loading anything else', async () => {
    const env = { NODE_OPTIONS: otherNode({ node: '18.20.8' }) }
    expect(await runCommand(['--version'], { env })).toEqual({
      code: 1,
      signal: null,
      stdout: '',
      stderr:
        'notification-mock needs Node ^20.19.2 or >=22.14.0, ' +
        'and this is v18.20.8; install another Node\n'
    })
  })
})

/** Whether this Node needs better-sqlite3 12, which must be built again for each Node version. */
const NEEDS_BUILD = Number(process.versions.napi) < 10

/** Copies the given files and folders of our package to a new folder. */
async function copyPackage(...names: string[]): Promise<string> {
  const source = await buildPackage()
  const folder = createTempFolder()
  for (const name of names) cpSync(join(source, name), join(folder, name), { recursive: true })
  return folder
}

/** Returns a command-line option that makes Node report another version. */
function otherNode(versions: { node: string; napi?: string }): string {
  const file = join(createTempFolder(), 'other.mjs')
  writeFileSync(
    file,
    `const versions = { ...process.versions, ...${JSON.stringify(versions)} }
    Object.defineProperty(process, 'version', { value: 'v${versions.node}' })
    Object.defineProperty(process, 'versions', { value: versions })`
  )
  return `--import=${pathToFileURL(file)}`
}

test('--host accepts an IPv6 address in brackets, and knows that [::1] is this machine', async () => {
  const { host, adminToken } = await optionsOf(['--host', '[::1]'])
  expect({ host, adminToken }).toEqual({ host: '::1', adminToken: undefined })
  expect(configOf({ host: '[::1]' }).host).toBe('::1')
})

test('--watch rejects standard input', async () => {
  expect(await runHere(['serve', '--seed', '-', '--watch'])).toMatchObject({
    code: 1,
    stderr: "error: standard input can't be watched; save the seed as a file\n"
  })
})
