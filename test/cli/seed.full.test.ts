import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { createTempFolder, runCommand, spawnCommand, startCommand } from '../support/process.js'
import { resolveEnvironments } from '../support/resolved.js'

test('seed new writes a beginning with comments that has no issue, and never over a file', async () => {
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
  writeFileSync(join(cwd, 'seed.yaml'), 'mine')
  const again = await runCommand(['seed', 'new', 'seed.yaml'], { cwd })
  expect(again).toMatchObject({
    code: 1,
    stderr: "error: can't write seed.yaml: it exists already; name another file\n"
  })
  expect(readFileSync(join(cwd, 'seed.yaml'), 'utf8')).toBe('mine')
})

test('seed export writes the state of the environment of a key as a seed that has no issue', async () => {
  const cwd = createTempFolder()
  const { url } = await startCommand(['--seed', 'one-page'])
  const env = { NOTIFICATION_MOCK_URL: url, NOTIFICATION_MOCK_API_KEY: 'development-key' }
  const [yaml, json, refused] = await Promise.all([
    runCommand(['seed', 'export', '--out', 'out.yaml'], { cwd, env }),
    runCommand(['seed', 'export', `${url}/`, '--json', '--api-key', 'development-key']),
    runCommand(['seed', 'export', '--api-key', 'other', '--out', 'other.yaml'], { cwd, env })
  ])
  expect(yaml).toMatchObject({ code: 0, stdout: `${url} written to out.yaml\n`, stderr: '' })
  expect(readFileSync(join(cwd, 'out.yaml'), 'utf8')).toMatch(/^environments:\n/m)
  const check = await runCommand(['seed', 'check', 'out.yaml'], { cwd })
  expect(check).toMatchObject({ code: 0, stdout: expect.stringContaining(' 7 messages\n') })
  const headers = { authorization: 'ApiKey development-key' }
  expect(JSON.parse(json.stdout)).toEqual(
    await (await fetch(`${url}/_mock/state`, { headers })).json()
  )
  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`${url}/_mock/state: answers 401: no environment has`)
  })
  expect(readdirSync(cwd)).toEqual(['out.yaml'])
})

/** Arguments that generate so many messages into a data file of the folder. */
const generating = (messages: number, ...more: string[]) =>
  `seed generate --data mock.db --messages ${messages}`.split(' ').concat(more)

/** Not read-only: that would leave files of its own beside it. */
function countIn(file: string): number {
  const database = new Database(file)
  const count = database.prepare('SELECT count(*) FROM messages').pluck().get() as number
  database.close()
  return count
}

describe('seed generate --data', () => {
  test('seeds a new file first, and adds to an existing one', async () => {
    const cwd = createTempFolder()
    const file = join(cwd, 'mock.db')
    const args = generating(21_000, '--subscribers', '50')
    expect(await runCommand(args, { cwd })).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Development: 21000 messages into mock.db, in [\d.]+ s\n$/)
    })
    const own = resolveEnvironments('default').reduce(
      (sum, { messages }) => sum + messages.length,
      0
    )
    expect(countIn(file)).toBe(21_000 + own)
    expect(await runCommand(generating(40, '--random-seed', '2'), { cwd })).toMatchObject({
      code: 0,
      stderr: ''
    })
    expect(countIn(file)).toBe(21_040 + own)
    expect(readdirSync(cwd)).toEqual(['mock.db'])

    const { url } = await startCommand(['--data', 'mock.db'], { cwd })
    const headers = { authorization: 'ApiKey development-key' }
    const total = async () =>
      (await (await fetch(`${url}/v1/messages?limit=1`, { headers })).json()) as {
        totalCount: number
      }
    const before = await total()
    await fetch(`${url}/_mock/reset`, { method: 'POST', headers })
    expect(await total()).toEqual(before)
  })

  test('leaves nothing of a new file when it is interrupted', async () => {
    const cwd = createTempFolder()
    const { child, ended } = await spawnCommand(generating(3_000_000), { cwd })
    while (!readdirSync(cwd).some((name) => statSync(join(cwd, name)).size > 1e6)) await delay(5)
    child.kill('SIGINT')
    expect(await ended).toMatchObject({
      code: 1,
      stdout: '',
      // Behind how far it was, if it took long.
      stderr: expect.stringMatching(
        /^([\d,]+ messages\n)*error: interrupted; mock\.db is as it was before\n$/
      )
    })
    expect(readdirSync(cwd)).toEqual([])
  })

  test.each(['SIGINT', 'SIGKILL'] as const)(
    'leaves an existing file as it was on %s',
    async (signal) => {
      const cwd = createTempFolder()
      const file = join(cwd, 'mock.db')
      await runCommand(generating(100), { cwd })
      const before = countIn(file)
      const { child, ended } = await spawnCommand(generating(3_000_000), { cwd })
      while (!existsSync(`${file}-wal`) || statSync(`${file}-wal`).size < 1e6) await delay(5)
      child.kill(signal)
      await ended
      expect(await runCommand(generating(0), { cwd })).toMatchObject({ code: 0 })
      expect(countIn(file)).toBe(before)
      expect(readdirSync(cwd)).toEqual(['mock.db'])
    }
  )
})
