import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { givenFolder, runCommand, spawnCommand, startCommand } from '../support/process.js'
import { environmentsOf } from '../support/resolved.js'

const generate = (...args: string[]) => ['seed', 'generate', ...args]

/** Not read-only: that would leave files of its own beside it. */
function countIn(file: string): number {
  const database = new Database(file)
  const count = database.prepare('SELECT count(*) FROM messages').pluck().get() as number
  database.close()
  return count
}

describe('seed generate --data', () => {
  test('seeds a new file first, and adds to an existing one', async () => {
    const cwd = givenFolder()
    const file = join(cwd, 'mock.db')
    const args = generate('--messages', '21000', '--subscribers', '50', '--data', 'mock.db')
    expect(await runCommand(args, { cwd })).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Development: 21000 messages into mock.db, in [\d.]+ s\n$/)
    })
    const own = environmentsOf('default').reduce((sum, { messages }) => sum + messages.length, 0)
    expect(countIn(file)).toBe(21_000 + own)
    const more = generate('--messages', '40', '--random-seed', '2', '--data', 'mock.db')
    expect(await runCommand(more, { cwd })).toMatchObject({ code: 0, stderr: '' })
    expect(countIn(file)).toBe(21_040 + own)
    expect(readdirSync(cwd)).toEqual(['mock.db'])

    const { url } = await startCommand(['--data', 'mock.db'], { cwd })
    const headers = { authorization: 'ApiKey development-key' }
    const total = async () =>
      (await (await fetch(`${url}/v1/messages?limit=1`, { headers })).json()) as { totalCount: number }
    const before = await total()
    await fetch(`${url}/_mock/reset`, { method: 'POST', headers })
    expect(await total()).toEqual(before)
  })

  test('leaves nothing of a new file when it is interrupted', async () => {
    const cwd = givenFolder()
    const { child, ended } = await spawnCommand(generate('--messages', '3000000', '--data', 'mock.db'), { cwd })
    while (!readdirSync(cwd).some((name) => statSync(join(cwd, name)).size > 1e6)) await delay(5)
    child.kill('SIGINT')
    expect(await ended).toMatchObject({
      code: 1,
      stdout: '',
      // Behind how far it was, if it took long.
      stderr: expect.stringMatching(/^([\d,]+ messages\n)*error: interrupted; mock\.db is as it was before\n$/)
    })
    expect(readdirSync(cwd)).toEqual([])
  })

  test.each(['SIGINT', 'SIGKILL'] as const)('leaves an existing file as it was on %s', async (signal) => {
    const cwd = givenFolder()
    const file = join(cwd, 'mock.db')
    await runCommand(generate('--messages', '100', '--data', 'mock.db'), { cwd })
    const before = countIn(file)
    const { child, ended } = await spawnCommand(generate('--messages', '3000000', '--data', 'mock.db'), { cwd })
    while (!existsSync(`${file}-wal`) || statSync(`${file}-wal`).size < 1e6) await delay(5)
    child.kill(signal)
    await ended
    expect(await runCommand(generate('--messages', '0', '--data', 'mock.db'), { cwd })).toMatchObject({ code: 0 })
    expect(countIn(file)).toBe(before)
    expect(readdirSync(cwd)).toEqual(['mock.db'])
  })
})
