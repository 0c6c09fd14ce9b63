import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { lineOf } from '../../src/cli/progress.js'
import { givenFolder, givenPackage, runCommand, spawnCommand, startCommand } from '../support/process.js'

const UNTIL = ['--until', '2026-02-18T10:00:00Z']
const generate = (...args: string[]) => ['seed', 'generate', ...args]

/** Not read-only: that would leave files of its own beside it. */
function countIn(file: string): number {
  const database = new Database(file)
  const count = database.prepare('SELECT count(*) FROM messages').pluck().get() as number
  database.close()
  return count
}

describe('into a seed', () => {
  test('the same arguments make the same bytes, another random seed makes others', async () => {
    const cwd = givenFolder()
    const made = async (file: string, randomSeed: string) => {
      const args = ['--messages', '500', '--random-seed', randomSeed, ...UNTIL, '--out', file]
      expect(await runCommand(generate(...args), { cwd })).toMatchObject({ code: 0, stderr: '' })
      return readFileSync(join(cwd, file), 'utf8')
    }
    const first = await made('one.yaml', '7')
    expect(await made('two.yaml', '7')).toBe(first)
    expect(await made('three.yaml', '8')).not.toBe(first)
  })

  test('which a server takes, and serves all of', async () => {
    const cwd = givenFolder()
    await runCommand(generate('--messages', '300', '--environment', 'Production', '--out', 'shop.yaml'), { cwd })
    const { url } = await startCommand(['--seed', 'shop.yaml'], { cwd })
    const headers = { authorization: 'ApiKey production-key' }
    const page = await (await fetch(`${url}/v1/messages?limit=1`, { headers })).json()
    const { length: own } = (await messagesOf('default')).filter(({ environment }) => environment === 'Production')
    expect(page).toMatchObject({ totalCount: 300 + own })
  })

  test('or as one message a line', async () => {
    const cwd = givenFolder()
    expect(await runCommand(generate('--messages', '25', '--out', 'many.ndjson', '--json'), { cwd })).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /^\{"environment":"Development","messages":25,"file":"many.ndjson","seconds":[\d.]+\}\n$/
      )
    })
    const lines = readFileSync(join(cwd, 'many.ndjson'), 'utf8').trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toHaveLength(25)
  })
})

async function messagesOf(seed: string): Promise<{ environment: string }[]> {
  const { readSeeds } = await import('../../src/seeds/read.js')
  const [file] = readSeeds([seed])
  return (file?.seed.environments ?? []).flatMap(({ name, messages = [] }) =>
    messages.map(() => ({ environment: name }))
  )
}

const THREAD = 'dist/generate-thread.cjs'

/** Says that it failed, as soon as it has work. */
const FAILING_THREAD = `
  require('node:worker_threads').parentPort.once('message', ({ port, counts }) => {
    port.postMessage(new Error('no messages today'))
    Atomics.add(counts, 0, 1)
    Atomics.notify(counts, 0)
  })`

/** Runs with the command's thread replaced by another, or by none. */
async function withThread<T>(text: string | undefined, run: () => Promise<T>): Promise<T> {
  const file = join(await givenPackage(), THREAD)
  renameSync(file, `${file}.kept`)
  if (text !== undefined) writeFileSync(file, text)
  try {
    return await run()
  } finally {
    rmSync(file, { force: true })
    renameSync(`${file}.kept`, file)
  }
}

/** Of messages of a few letters, and a few that a thread has no room for. */
const SEED = {
  environments: [
    {
      name: 'Shop',
      subscribers: [{ subscriberId: 'ada' }, { subscriberId: 'jürgen', firstName: 'Jürgen' }],
      workflows: [
        ...Array.from({ length: 60 }, (_, place) => ({
          identifier: `short-${place}`,
          steps: [{ type: 'in_app', controlValues: { body: '📦 {{payload.order}} 建' } }]
        })),
        { identifier: 'long', steps: [{ type: 'sms', controlValues: { body: 'Sehr lang, für dich. '.repeat(4000) } }] }
      ]
    }
  ]
}

describe('into a data file', () => {
  test('many are made in a thread, and are those that would be made without one', async () => {
    const cwd = givenFolder()
    writeFileSync(join(cwd, 'shop.json'), JSON.stringify(SEED))
    const rows = async (data: string) => {
      const args = ['--messages', '20000', '--seed', 'shop.json', '--data', data, ...UNTIL]
      expect(await runCommand(generate(...args), { cwd })).toMatchObject({ code: 0, stderr: '' })
      const database = new Database(join(cwd, data), { readonly: true })
      const hash = createHash('sha256')
      let longest = 0
      for (const row of database.prepare('SELECT * FROM messages ORDER BY sequence').raw().iterate() as Iterable<
        string[]
      >) {
        hash.update(JSON.stringify(row))
        longest = Math.max(longest, row.at(-1)?.length ?? 0)
      }
      const kinds = database.prepare('SELECT DISTINCT typeof(document) FROM messages').pluck().all()
      database.close()
      return { longest, kinds, hash: hash.digest('hex') }
    }
    const inThread = await rows('one.db')
    expect(inThread.longest).toBeGreaterThan(80_000)
    expect(inThread.kinds).toEqual(['text'])
    expect(await withThread(undefined, () => rows('two.db'))).toEqual(inThread)
  })

  test('a thread that fails leaves no file', async () => {
    const cwd = givenFolder()
    const args = generate('--messages', '20000', '--data', 'mock.db')
    const { code, stderr } = await withThread(FAILING_THREAD, () => runCommand(args, { cwd }))
    expect(code).toBe(1)
    expect(stderr).toContain('no messages today')
    expect(readdirSync(cwd)).toEqual([])
  })

  test('a new one is seeded first, and one that is there gets more', async () => {
    const cwd = givenFolder()
    const file = join(cwd, 'mock.db')
    const args = generate('--messages', '21000', '--subscribers', '50', '--data', 'mock.db')
    expect(await runCommand(args, { cwd })).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Development: 21000 messages into mock.db, in [\d.]+ s\n$/)
    })
    const { length: own } = await messagesOf('default')
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

  test('interrupted, it leaves nothing of a new one', async () => {
    const cwd = givenFolder()
    const { child, ended } = await spawnCommand(generate('--messages', '3000000', '--data', 'mock.db'), { cwd })
    while (!readdirSync(cwd).some((name) => statSync(join(cwd, name)).size > 1e6)) await delay(5)
    child.kill('SIGINT')
    expect(await ended).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'error: interrupted; mock.db is as it was before\n'
    })
    expect(readdirSync(cwd)).toEqual([])
  })

  test.each(['SIGINT', 'SIGKILL'] as const)('%s leaves one that was there with what it had', async (signal) => {
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

describe('is refused', () => {
  test.each([
    ['without a place', generate('--messages', '1'), 2, 'give either --out or --data, to say where to'],
    ['with two places', generate('--messages', '1', '--out', 'a.yaml', '--data', 'b.db'), 2, 'give either'],
    ['without a number', generate('--out', 'a.yaml'), 2, "required option '--messages <count>' not specified"],
    ['with a number that is none', generate('--messages', '-1', '--out', 'a.yaml'), 2, 'a whole number from 0 to'],
    ['with a time that is none', generate('--messages', '1', '--until', 'noon', '--out', 'a.yaml'), 2, 'a time such'],
    ['for another kind of file', generate('--messages', '1', '--out', 'a.txt'), 1, 'must end in .yaml, for a seed'],
    [
      'for an environment that there is not',
      generate('--messages', '1', '--out', 'a.yaml', '--environment', 'Shop'),
      1,
      'there is no environment Shop; there are Development, Production, Northlight development'
    ],
    [
      'where there is nothing to make messages of',
      generate('--messages', '1', '--out', 'a.yaml', '--seed', 'empty'),
      1,
      'environment Development has nothing to make messages of'
    ],
    [
      'into a seed in a folder that there is not',
      generate('--messages', '1', '--out', 'none/a.yaml'),
      1,
      "error: can't write none/a.yaml: its folder does not exist; make it first"
    ],
    [
      'into a seed in what is no folder',
      generate('--messages', '1', '--out', '/dev/null/a.yaml'),
      1,
      "error: can't write /dev/null/a.yaml: a part of its path is not a folder"
    ],
    [
      'into a folder that can not be written',
      ['seed', 'generate', '--messages', '10', '--data', '/proc/mock.db'],
      1,
      "error: can't use the data file /proc/mock.db: it or its folder can not be read or written; check the path"
    ]
  ])('%s, and writes nothing', async (_, args, code, complaint) => {
    const cwd = givenFolder()
    const ended = await runCommand(args, { cwd })
    expect(ended).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(complaint) })
    expect(ended.stderr.trimEnd().split('\n')).toHaveLength(1)
    expect(readdirSync(cwd)).toEqual([])
  })
})

test('on a terminal it tells how far it is, how fast, and how long it still takes', () => {
  expect(lineOf(412_000, 1_000_000, 8)).toBe('412,000 of 1,000,000 messages, 51,500 a second, 12 s left')
  expect(lineOf(500, 999, 1)).toBe('500 of 999 messages, 500 a second, 1 s left')
})
