import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')
const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc')
const consumer = mkdtempSync(join(tmpdir(), 'notification-mock-consumer-'))

afterAll(() => rmSync(consumer, { recursive: true, force: true }))

/** The packed package is installed in an empty folder, with the database addon and no other package or type. */
beforeAll(() => {
  const modules = join(consumer, 'node_modules')
  mkdirSync(join(modules, 'notification-mock'), { recursive: true })
  execFileSync('npm', ['pack', '--silent', '--pack-destination', consumer], { cwd: root })
  const [tarball = ''] = readdirSync(consumer).filter((name) => name.endsWith('.tgz'))
  execFileSync('tar', ['-xzf', tarball, '--strip-components=1', '-C', join(modules, 'notification-mock')], {
    cwd: consumer
  })
  symlinkSync(join(root, 'node_modules/better-sqlite3'), join(modules, 'better-sqlite3'))
  writeFileSync(join(consumer, 'package.json'), '{ "private": true }')
  for (const name of ['use.ts', 'use.mts', 'use.cts']) writeFileSync(join(consumer, name), TYPED_USE)
}, 300_000)

const TYPED_USE = `
import { createMock, type Mock, type MockOptions, SeedError, StartError } from 'notification-mock'

export async function use(options: MockOptions): Promise<string[]> {
  const sought: MockOptions = { port: 0, seeds: [], clock: () => 0, watch: (reload) => reload.applied, ...options }
  try {
    await using mock: Mock = await createMock(sought)
    return mock.environments.flatMap(({ apiKeys }) => apiKeys)
  } catch (error) {
    if (error instanceof SeedError || error instanceof StartError) return [error.message]
    throw error
  }
}

// @ts-expect-error there is no such option
use({ prot: 1 })
`

describe('the types compile with `skipLibCheck: false` and no other types installed, under', () => {
  test.each([
    ['node16', 'node16', ['use.ts', 'use.mts', 'use.cts']],
    ['nodenext', 'nodenext', ['use.ts', 'use.mts', 'use.cts']],
    ['esnext', 'bundler', ['use.ts', 'use.mts']]
  ])('module %s with resolution %s', (module, moduleResolution, files) => {
    const compilerOptions = { module, moduleResolution, strict: true, skipLibCheck: false, noEmit: true }
    const project = join(consumer, `tsconfig.${moduleResolution}.json`)
    const target = { target: 'es2022', lib: ['es2022'], types: [] }
    writeFileSync(project, JSON.stringify({ compilerOptions: { ...compilerOptions, ...target }, files }))
    const { status, stdout } = spawnSync(process.execPath, [compiler, '-p', project], { encoding: 'utf8' })
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' })
  })
})

describe('the library starts, answers and lets the program end, loaded by', () => {
  const USE = `
    createMock({ seed: { environments: [{ name: 'Shop', prot: 1 }] } })
      .catch((error) => error instanceof SeedError && createMock())
      .then(async (mock) => {
        const headers = { authorization: 'ApiKey development-key' }
        const { status } = await fetch(mock.url + '/v1/messages', { headers })
        const docs = await fetch(mock.url + '/docs').then((response) => response.status)
        await mock.close()
        console.log(status, docs)
      })`

  test.each([
    ['import', 'use.mjs', `import { createMock, SeedError } from 'notification-mock'`],
    ['require', 'use.cjs', `const { createMock, SeedError } = require('notification-mock')`]
  ])('%s', (_, name, load) => {
    writeFileSync(join(consumer, name), `${load}\n${USE}`)
    const { status, stdout, stderr } = spawnSync(process.execPath, [name], { cwd: consumer, encoding: 'utf8' })
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '200 200\n', stderr: '' })
  })
})
