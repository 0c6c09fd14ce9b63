import { execFileSync, spawnSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc')
const consumer = mkdtempSync(join(tmpdir(), 'notification-mock-consumer-'))

afterAll(() => rmSync(consumer, { recursive: true, force: true }))

/** Creates a project whose only packages are our npm package and the database addon. */
beforeAll(() => {
  const modules = join(consumer, 'node_modules')
  mkdirSync(join(modules, 'notification-mock'), { recursive: true })
  execFileSync('npm', ['pack', '--silent', '--pack-destination', consumer], { cwd: root })
  const [tarball = ''] = readdirSync(consumer).filter((name) => name.endsWith('.tgz'))
  execFileSync(
    'tar',
    ['-xzf', tarball, '--strip-components=1', '-C', join(modules, 'notification-mock')],
    {
      cwd: consumer
    }
  )
  symlinkSync(join(root, 'node_modules/better-sqlite3'), join(modules, 'better-sqlite3'))
  writeFileSync(join(consumer, 'package.json'), '{ "private": true }')
  for (const name of ['use.ts', 'use.mts', 'use.cts'])
    writeFileSync(join(consumer, name), TYPED_USE)
}, 300_000)

const TYPED_USE = `
import { createMock, type Mock, type MockOptions, SeedError, StartError } from 'notification-mock'
import { connect, type Environment, MockError, type Seed } from 'notification-mock/client'
import { Channel, Integration, type MessageResponse } from 'notification-mock/contract'

export async function use(options: MockOptions): Promise<string[]> {
  const sought: MockOptions = {
    port: 0, seeds: [], clock: () => 0, watch: (reload) => reload.applied, ...options
  }
  try {
    await using mock: Mock = await createMock(sought)
    return mock.environments.flatMap(({ apiKeys }) => apiKeys)
  } catch (error) {
    if (error instanceof SeedError || error instanceof StartError) return [error.message]
    throw error
  }
}

const seed: Seed = {
  environments: [{ name: 'Shop', messages: [{ channel: 'sms', subject: 'Hi' }] }]
}

export async function useClient(mock: Mock): Promise<string> {
  try {
    await using env: Environment = await mock.environment({ seed, clock: new Date(0), ttl: '10m' })
    await env.faults.add({ operation: 'listMessages', effect: { status: 503 } })
    for await (const { sequence, flags } of env.requests.stream())
      if (flags.faulted) return String(sequence)
    const { matched } = await env.requests.verify({
      query: { channel: { matches: '^s' } }, within: '1s'
    })
    return connect(mock.url, { adminToken: 'x' }).attach(env.apiKey).url + matched.toFixed()
  } catch (error) {
    return error instanceof MockError
      ? [error.status, ...Object.keys(error.fields)].join() : 'unknown'
  }
}

export const shown = ({ subject = '', channel }: MessageResponse): string =>
  subject + channel.toUpperCase()
export const titles: string[] = [Integration.title, ...Channel.enum]
export const isOptional: boolean =
  !Integration.required.includes('conditions') && 'type' in Integration.properties.name
export const integration: Pick<Integration, 'channel'> = { channel: 'email' }

// @ts-expect-error unknown option
use({ prot: 1 })
// @ts-expect-error unknown field of a message
seed.environments[0]?.messages?.push({ channel: 'sms', subjekt: 'Hi' })
const wrong = async (mock: Mock, env: Environment) => {
  // @ts-expect-error unknown operation
  await env.faults.add({ operation: 'listMessage', effect: { status: 503 } })
  // @ts-expect-error unknown property of a recorded request
  await env.requests.verify({ querry: {} })
  // @ts-expect-error unknown unit
  await env.clock.advance('1y')
  // @ts-expect-error an attached environment can't be removed
  await mock.attach('development-key').remove()
}
export { wrong }
`

const FIXTURES = `
import * as playwright from 'notification-mock/playwright'
import { expect, test } from 'notification-mock/vitest'

test('has an environment', async ({ env, mock }) => {
  expect(env.url).toBe(mock.url)
})
test.override({ environmentOptions: { scenario: 'failures' } })

playwright.test.use({
  environmentOptions: { scenario: 'failures' }, mockOptions: { seeds: ['failures'] }
})
playwright.test('has an environment', async ({ env, page }) => {
  await page.goto(env.url)
})

// @ts-expect-error unknown option
playwright.test.use({ environmentOptions: { form: 'Development' } })
`

describe('TypeScript with `skipLibCheck: false`', () => {
  // TypeScript 6 reports `node10` as deprecated.
  const alone = { lib: ['es2022'], types: [], ignoreDeprecations: '6.0' }
  test.each([
    ['node16', 'node16', ['use.ts', 'use.mts', 'use.cts']],
    ['nodenext', 'nodenext', ['use.ts', 'use.mts', 'use.cts']],
    ['esnext', 'bundler', ['use.ts', 'use.mts']],
    // This resolution ignores `exports`, and reads `main`, `types` and `typesVersions` instead.
    ['commonjs', 'node10', ['use.ts']]
  ])(
    'compiles our types with module %s and resolution %s, without any other types',
    (module, moduleResolution, files) => {
      compile(module, moduleResolution, files, alone)
    }
  )

  // Vitest also runs tests in CommonJS packages, so compile `fixtures.cts` too.
  test('compiles the fixture types together with the types of their test runners', () => {
    for (const name of ['vitest', '@playwright/test', '@types/node']) {
      const link = join(consumer, 'node_modules', name)
      mkdirSync(dirname(link), { recursive: true })
      symlinkSync(join(root, 'node_modules', name), link)
    }
    const files = ['fixtures.mts', 'fixtures.cts']
    for (const name of files) writeFileSync(join(consumer, name), FIXTURES)
    compile('nodenext', 'nodenext', files, { types: ['node'] })
    compile('esnext', 'bundler', files.slice(0, 1), { types: ['node'] })
  })
})

function compile(module: string, moduleResolution: string, files: string[], options: object): void {
  const strictly = { strict: true, skipLibCheck: false, noEmit: true, target: 'es2022' }
  const project = join(consumer, 'tsconfig.json')
  writeFileSync(
    project,
    JSON.stringify({
      compilerOptions: { module, moduleResolution, ...strictly, ...options },
      files
    })
  )
  const { status, stdout } = spawnSync(process.execPath, [compiler, '-p', project], {
    encoding: 'utf8'
  })
  expect({ status, stdout }).toEqual({ status: 0, stdout: '' })
}

describe('the library', () => {
  const USE = `
    // The library has its own \`connect\`, which must throw the client's \`MockError\`.
    const errorOf = (connect) => {
      try { connect('not a URL') } catch (error) { return error }
    }
    const isSame = [
      errorOf(library.connect) instanceof client.MockError,
      library.MockError === client.MockError
    ]
    console.log(...isSame, contract.Integration.title)
    library.createMock({ seed: { environments: [{ name: 'Shop', prot: 1 }] } })
      .catch((error) => error instanceof library.SeedError && library.createMock())
      .then(async (mock) => {
        const headers = { authorization: 'ApiKey development-key' }
        const { status } = await fetch(mock.url + '/v1/messages', { headers })
        const docs = await fetch(mock.url + '/docs').then((response) => response.status)
        const removed = await mock.attach('unknown-key').state().catch((error) => error)
        await mock.close()
        console.log(status, docs, removed instanceof library.MockError)
      })`

  test.each([
    [
      'import',
      'use.mjs',
      (name: string, entry: string) => `import * as ${name} from 'notification-mock${entry}'`
    ],
    [
      'require',
      'use.cjs',
      (name: string, entry: string) => `const ${name} = require('notification-mock${entry}')`
    ]
  ])('works when loaded with `%s`, and has only one copy of each class', (_, name, load) => {
    const loads = [load('library', ''), load('client', '/client'), load('contract', '/contract')]
    const stdout = 'true true Integration\n200 200 true\n'
    expect(run(name, [...loads, USE].join('\n'))).toEqual({ status: 0, stdout, stderr: '' })
  })
})

test('the server runs without the globals that jsdom and happy-dom remove or replace', () => {
  const program = `
    import { get } from 'node:http'
    const { setTimeout: nodes, AbortController, TextDecoder } = globalThis
    delete globalThis.setImmediate
    delete globalThis.TextDecoder
    globalThis.setTimeout = (...args) => Object.assign(nodes(...args), { unref: undefined })
    globalThis.AbortController = class { signal = new (class AbortSignal {})() }
    const { createMock } = await import('notification-mock')
    const mock = await createMock({ latency: { delay: 1, spread: 0 }, unref: true })
    // Restore these globals, because the client uses Node's fetch, which needs them.
    Object.assign(globalThis, { AbortController, TextDecoder })
    const env = await mock.environment({ from: 'Development', ttl: '10m' })
    get(env.url + '/v1/messages', { headers: env.headers }, (response) =>
      console.log(response.statusCode))
    await env.requests.waitFor({ path: '/v1/messages' }, { within: '10s' })
    await mock.close()`
  expect(run('bare.mjs', program)).toEqual({ status: 0, stdout: '200\n', stderr: '' })
})

const DIST = join(consumer, 'node_modules/notification-mock/dist')
const readBuilt = (name: string) => readFileSync(join(DIST, name), 'utf8')

test('the client is smaller than 4.5 KB when compressed', () => {
  expect(gzipSync(readBuilt('client.js')).length).toBeLessThan(4608)
})

test('the client and its lazy chunks import no Node modules', () => {
  const text = readBuilt('client.js')
  const lazyImport = /\bimport\("[.][/](chunks[/][\w-]+[.]js)"\)/g
  const chunks = [...text.matchAll(lazyImport)].map(([, name = '']) => readBuilt(name))
  for (const script of [text.replace(lazyImport, ''), ...chunks]) {
    expect(script).not.toMatch(/\bimport\b(?!\.meta)|\brequire\b|\bprocess\b|\bBuffer\b/)
  }
})

test('the CommonJS entries have no `import()`, which Jest supports only with a flag', () => {
  for (const name of readdirSync(DIST).filter((file) => file.endsWith('.cjs'))) {
    const imports = readBuilt(name).match(/[^.\w'"`]import\((?!\/)["'`\w]+/g) ?? []
    expect(imports, name).toEqual([])
  }
})

function run(name: string, program: string) {
  writeFileSync(join(consumer, name), program)
  const { status, stdout, stderr } = spawnSync(process.execPath, [name], {
    cwd: consumer,
    encoding: 'utf8'
  })
  return { status, stdout, stderr }
}
