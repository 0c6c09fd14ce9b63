import { execFile, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import {
  buildPackage,
  commandIn,
  createTempFolder,
  runCommand,
  startCommand
} from '../support/process.js'

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

  test('explains how to create an environment if --no-seed is set', async () => {
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

  test('--no-cors blocks web pages from other origins', async () => {
    const { url } = await startCommand(['--no-seed', '--no-cors'])
    const { headers } = await fetch(`${url}/health`, {
      headers: { origin: 'http://elsewhere.example' }
    })
    expect(headers.has('access-control-allow-origin')).toBe(false)
  })
})

test('environment variables set options, and commas separate several seeds', async () => {
  const VARIABLES = {
    NOTIFICATION_MOCK_SEED: 'shop.yaml,other.json',
    NOTIFICATION_MOCK_PROFILE: 'live',
    NOTIFICATION_MOCK_JSON: '1',
    PORT: '0'
  }
  const { cwd } = createShop()
  writeFileSync(join(cwd, 'other.json'), '{"environments":[{"name":"Other"}]}')
  const { printed } = await startCommand([], { cwd, env: VARIABLES })
  const environments = ['Shop', 'Other'].map((name) => ({ name, profile: 'live' }))
  expect(JSON.parse(printed)).toMatchObject({ environments })
})

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
  const problem = `the database addon was not built for Node ${process.version}`
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
      'but this is v18.20.8; install a supported version\n'
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

/** Returns an option for Node that makes `process.versions` report the given versions. */
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
