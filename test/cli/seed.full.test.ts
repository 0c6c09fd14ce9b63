import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  buildPackage,
  commandIn,
  createTempFolder,
  runCommand,
  startCommand
} from '../support/process.js'

test('`seed new` writes a commented seed without issues', async () => {
  const cwd = createTempFolder()
  expect(await runCommand(['seed', 'new'], { cwd })).toMatchObject({ code: 0, stderr: '' })
  const text = readFileSync(join(cwd, 'seed.yaml'), 'utf8')
  expect(text).toMatch(
    /^# yaml-language-server: \$schema=\.\/node_modules\/notification-mock\/seeds\/schema\.json\n/
  )
  expect(await runCommand(['seed', 'check', 'seed.yaml'], { cwd })).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(
      '3 integrations, 1 subscriber, 1 workflow, 2 steps, 2 messages\n'
    )
  })
})

test('`seed new` never overwrites a file', async () => {
  const cwd = createTempFolder()
  writeFileSync(join(cwd, 'seed.yaml'), 'mine')
  expect(await runCommand(['seed', 'new', 'seed.yaml'], { cwd })).toMatchObject({
    code: 1,
    stderr: "error: can't write seed.yaml: it already exists; choose another file\n"
  })
  expect(readFileSync(join(cwd, 'seed.yaml'), 'utf8')).toBe('mine')
})

test('`seed check -` reads the seed from standard input', async () => {
  const args = [commandIn(await buildPackage()), 'seed', 'check', '-']
  const input = 'environments:\n  - name: Shop\n'
  const { stdout } = spawnSync(process.execPath, args, { input, encoding: 'utf8' })
  expect(stdout).toMatch(/^Shop: 0 integrations, .*\n-: no issues\n$/)
})

const DEVELOPMENT = { NOTIFICATION_MOCK_API_KEY: 'development-key' }

test('`seed export` writes an environment to a file, as a seed without issues', async () => {
  const cwd = createTempFolder()
  const { url } = await startCommand(['--seed', 'one-page'])
  const env = { NOTIFICATION_MOCK_URL: url, ...DEVELOPMENT }
  const exported = await runCommand(['seed', 'export', '--out', 'out.yaml'], { cwd, env })
  expect(exported).toMatchObject({ code: 0, stdout: `exported ${url} to out.yaml\n`, stderr: '' })
  expect(readFileSync(join(cwd, 'out.yaml'), 'utf8')).toMatch(/^environments:\n/m)
  const check = await runCommand(['seed', 'check', 'out.yaml'], { cwd })
  expect(check).toMatchObject({ code: 0, stdout: expect.stringContaining(' 7 messages\n') })
  expect(readdirSync(cwd)).toEqual(['out.yaml'])
})

test('`seed export --json` prints the state of an environment', async () => {
  const { url } = await startCommand(['--seed', 'one-page'])
  const args = ['seed', 'export', `${url}/`, '--json', '--api-key', 'development-key']
  const { stdout } = await runCommand(args)
  const headers = { authorization: 'ApiKey development-key' }
  expect(JSON.parse(stdout)).toEqual(await (await fetch(`${url}/_mock/state`, { headers })).json())
})

test('`seed export` reports an unknown API key, and writes no file', async () => {
  const cwd = createTempFolder()
  const { url } = await startCommand(['--seed', 'one-page'])
  const env = { NOTIFICATION_MOCK_URL: url, ...DEVELOPMENT }
  const args = ['seed', 'export', '--api-key', 'other', '--out', 'other.yaml']
  // The command used to wait until the server closed the connection after 72 seconds.
  expect(await runCommand(args, { cwd, env, timeout: 40_000 })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`${url}/_mock/state returned 401: no environment has`)
  })
  expect(readdirSync(cwd)).toEqual([])
})

test('`seed check` counts the messages that a seed generates', async () => {
  const cwd = createTempFolder()
  const workflow = '{ name: Order placed, steps: [{ type: email }] }'
  const environment = `{ name: Shop, workflows: [${workflow}], generate: { messages: 500 } }`
  writeFileSync(join(cwd, 'shop.yaml'), `environments: [${environment}]\n`)
  expect(await runCommand(['seed', 'check', 'shop.yaml'], { cwd })).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('0 messages and 500 generated messages\n')
  })
})

const VALID = `environments:
  - name: Shop
    subscribers: [{ subscriberId: ada }, { subscriberId: bob }]
    workflows: [{ identifier: shipped, steps: [{ type: email }] }]
`

test('`seed check` prints the counts of records, and accepts names of built-in seeds', async () => {
  const cwd = createTempFolder()
  writeFileSync(join(cwd, 'shop.yaml'), VALID)
  // The command must find the built-in seed even though a folder has the same name.
  mkdirSync(join(cwd, 'empty'))
  const { stdout, ...ended } = await runCommand(['seed', 'check', 'shop.yaml', 'empty'], { cwd })
  expect(ended).toEqual({ code: 0, signal: null, stderr: '' })
  expect(stdout).toContain('Shop: 0 integrations, 2 subscribers, 1 workflow, 1 step, 0 messages\n')
  expect(stdout).toMatch(/^shop\.yaml, \S*empty\S*: no issues\n$/m)
})

test('`seed` without a command prints its help, and exits with 2', async () => {
  const { code, stderr } = await runCommand(['seed'])
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringContaining('check [options] <file...>')
  })
})
