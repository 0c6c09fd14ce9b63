import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { givenFolder, type Running, runCommand, startCommand } from '../support/process.js'

const SHOP = `
environments:
  - name: Shop
    apiKeys: [shop-key]
    messages: [{ channel: email, subject: Hello }]
`
const OTHER = '  - { name: Other, subscribers: [{ subscriberId: ada }] }\n'
const MORE = `${SHOP.replace('}]', '}, { channel: sms, content: Bye }]')}`
const MORE_TOLD = 'seed changed: Shop: 1 message added\n'
const STAYS = 'the changed seed is not applied: the data stays as it was\n'

interface Watched extends Running {
  cwd: string
  /** Puts a text into the file, as `cat` does. */
  write(text: string, file?: string): void
  /** Settles with what it has written to stdout since, or to stderr, once that has so many lines. */
  told(lines: number): Promise<string>
  complained(lines: number): Promise<string>
  get(path: string, key?: string): Promise<Record<string, unknown>>
}

/** The command, watching the files in a folder; stopped when the test ends. */
async function watched(files: Record<string, string>, args: readonly string[] = []): Promise<Watched> {
  const cwd = givenFolder()
  const write = (text: string, file = 'shop.yaml') => writeFileSync(join(cwd, file), text)
  for (const [file, text] of Object.entries(files)) write(text, file)
  const seeds = Object.keys(files).flatMap((file) => ['--seed', file])
  const running = await startCommand([...seeds, '--watch', ...args], { cwd })
  const get: Watched['get'] = async (path, key = 'shop-key') => {
    const response = await fetch(`${running.url}${path}`, { headers: { authorization: `ApiKey ${key}` } })
    return { status: response.status, ...((await response.json()) as object) }
  }
  return {
    ...running,
    cwd,
    write,
    get,
    told: linesOf(running.child.stdout),
    complained: linesOf(running.child.stderr)
  }
}

/** All that is written from now on, in helpings of lines. */
function linesOf(stream: Running['child']['stdout']): (lines: number) => Promise<string> {
  let text = ''
  stream.on('data', (more: string) => {
    text += more
  })
  return async (lines) => {
    for (;;) {
      const end = endOf(text, lines)
      if (end > 0) {
        const told = text.slice(0, end)
        text = text.slice(end)
        return told
      }
      await new Promise((settle) => stream.once('data', settle))
    }
  }
}

/** Where the line with this number ends; 0 if it does not yet. */
function endOf(text: string, lines: number): number {
  let end = 0
  for (let line = 0; line < lines; line++) {
    end = text.indexOf('\n', end) + 1
    if (end === 0) return 0
  }
  return end
}

test('a seed that is written over is taken over: what changed is told, and served', async () => {
  const mock = await watched({ 'shop.yaml': SHOP })
  expect(mock.printed).toContain('\nWatching shop.yaml: changes are applied\n')
  expect(await mock.get('/v1/messages')).toMatchObject({ totalCount: 1 })
  mock.write(MORE)
  expect(await mock.told(1)).toBe(MORE_TOLD)
  expect(await mock.get('/v1/messages')).toMatchObject({ totalCount: 2 })
  mock.write(MORE.replace('shop-key', 'shop-key, new-key').replace('Hello', 'Hi') + OTHER)
  expect(await mock.told(2)).toBe(`\
seed changed: Shop: 1 message changed; 1 API key added
seed changed: Other: new, with the key other-key
`)
  expect(await mock.get('/v1/messages', 'new-key')).toMatchObject({ totalCount: 2 })
  mock.write(OTHER.replace('  -', 'environments:\n  -').replace('ada', 'bob'))
  expect(await mock.told(2)).toBe(`\
seed changed: Other: 1 subscriber added, 1 removed
seed changed: Shop: removed
`)
  expect(await mock.get('/v1/messages')).toMatchObject({ status: 401 })
})

test('so is one that a new file takes the place of, again and again', async () => {
  const mock = await watched({ 'shop.yaml': SHOP })
  for (const [text, told] of [
    [MORE, MORE_TOLD],
    [SHOP, MORE_TOLD.replace('added', 'removed')],
    [MORE, MORE_TOLD]
  ] as const) {
    mock.write(text, 'shop.yaml.new')
    renameSync(join(mock.cwd, 'shop.yaml.new'), join(mock.cwd, 'shop.yaml'))
    expect(await mock.told(1)).toBe(told)
  }
})

test('so is one behind a link to a folder that is exchanged, as in a Kubernetes volume', async () => {
  const cwd = givenFolder()
  for (const [folder, text] of Object.entries({ one: SHOP, two: MORE })) {
    mkdirSync(join(cwd, folder))
    writeFileSync(join(cwd, folder, 'shop.yaml'), text)
  }
  symlinkSync('one', join(cwd, 'present'))
  const { child } = await startCommand(['--seed', 'present/shop.yaml', '--watch'], { cwd })
  const told = linesOf(child.stdout)
  symlinkSync('two', join(cwd, 'next'))
  renameSync(join(cwd, 'next'), join(cwd, 'present'))
  expect(await told(1)).toBe(MORE_TOLD)
})

test('of several seeds, one that comes with the package among them, each is watched', async () => {
  const mock = await watched({ 'shop.yaml': SHOP, 'other.yaml': `environments:\n${OTHER}` }, ['--seed', 'default'])
  mock.write(`environments:\n${OTHER.replace('ada', 'bob')}`, 'other.yaml')
  expect(await mock.told(1)).toBe('seed changed: Other: 1 subscriber added, 1 removed\n')
  mock.write(MORE)
  expect(await mock.told(1)).toBe(MORE_TOLD)
})

test('mistakes are told once with their places, and the old data stays, until they are mended', async () => {
  const mock = await watched({ 'shop.yaml': SHOP })
  mock.write(`${SHOP.replace('channel: email', 'channel: emial')}  - nam: x\n`)
  const mistakes = `\
shop.yaml:5:27 environments[0].messages[0].channel: must be one of in_app, email, sms, chat, push; did you mean email?
shop.yaml:6:5 environments[1]: must have name
shop.yaml:6:5 environments[1].nam: is not a field here; did you mean name?
`
  expect(await mock.complained(4)).toBe(mistakes + STAYS)
  expect(await mock.get('/v1/messages')).toMatchObject({ totalCount: 1, data: [{ subject: 'Hello' }] })
  mock.write(MORE)
  expect(await mock.told(1)).toBe(MORE_TOLD)
  mock.write('')
  expect(await mock.complained(2)).toMatch(/^shop\.yaml.*is empty.*\n/)
  mock.write(MORE)
  expect(await mock.told(1)).toBe('seed changed: nothing that the data shows\n')
  mock.child.kill('SIGTERM')
  const { code, stderr } = await mock.ended
  expect(code).toBe(0)
  expect(stderr.split(STAYS)).toHaveLength(3)
})

test('a file that is deleted is a mistake, and one that comes back is taken over', async () => {
  const mock = await watched({ 'shop.yaml': SHOP })
  rmSync(join(mock.cwd, 'shop.yaml'))
  expect(await mock.complained(2)).toMatch(
    /^shop\.yaml: can't be read: there is no such file.*\nthe changed seed is not/
  )
  expect(await mock.get('/v1/messages')).toMatchObject({ totalCount: 1 })
  mock.write(MORE)
  expect(await mock.told(1)).toBe(MORE_TOLD)
})

test('what has been done to an environment stays while another one changes; of a changed one, journal and faults', async () => {
  const mock = await watched({ 'shop.yaml': SHOP + OTHER })
  const send = (path: string, key: string, body: object) =>
    fetch(`${mock.url}${path}`, {
      method: 'POST',
      headers: { authorization: `ApiKey ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body)
    })
  await mock.get('/v1/messages')
  const seed = { environments: [{ name: 'x', messages: [{ channel: 'sms' }] }] }
  expect((await send('/_mock/seed', 'other-key', seed)).ok).toBe(true)
  expect((await send('/_mock/faults', 'shop-key', { effect: { status: 503 } })).ok).toBe(true)
  mock.write(MORE + OTHER)
  expect(await mock.told(1)).toBe(MORE_TOLD)
  expect(await mock.get('/v1/messages', 'other-key')).toMatchObject({ totalCount: 1 })
  expect(await mock.get('/v1/messages')).toMatchObject({ status: 503 })
  expect(await mock.get('/_mock/requests')).toMatchObject({ requests: [{ status: 200 }, { status: 503 }] })
})

test('--json makes each change one line of JSON', async () => {
  const mock = await watched({ 'shop.yaml': SHOP }, ['--json'])
  mock.write(MORE)
  expect(JSON.parse(await mock.told(1))).toEqual({
    event: 'seed-changed',
    applied: true,
    environments: [
      {
        id: JSON.parse(mock.printed).environments[0].id,
        name: 'Shop',
        change: 'changed',
        apiKeys: ['shop-key'],
        records: { messages: { added: 1, changed: 0, removed: 0 } },
        settings: []
      }
    ]
  })
  mock.write('environments: 7')
  expect(JSON.parse(await mock.told(1))).toEqual({
    event: 'seed-changed',
    applied: false,
    mistakes: [
      {
        place: 'shop.yaml:1:15',
        file: 'shop.yaml',
        line: 1,
        column: 15,
        path: 'environments',
        message: 'must be a list, not 7'
      }
    ]
  })
  expect(await mock.complained(2)).toBe(`shop.yaml:1:15 environments: must be a list, not 7\n${STAYS}`)
})

test('what changes is taken over also into data that was left as it is at the start', async () => {
  const cwd = givenFolder()
  const data = join(cwd, 'mock.db')
  const first = await watched({ 'shop.yaml': SHOP }, ['--data', data])
  first.child.kill('SIGTERM')
  await first.ended
  const mock = await watched({ 'shop.yaml': MORE + OTHER }, ['--data', data])
  expect(mock.printed).toContain('as it was left')
  expect(await mock.get('/v1/messages')).toMatchObject({ totalCount: 1 })
  mock.write(MORE.replace('Hello', 'Hi') + OTHER)
  expect(await mock.told(1)).toBe('seed changed: Shop: 1 message changed\n')
  expect(await mock.get('/v1/messages')).toMatchObject({ totalCount: 2 })
  expect(await mock.get('/v1/messages', 'other-key')).toMatchObject({ status: 401 })
})

test.each([
  [['--watch', '--no-seed'], {}],
  [['--no-seed'], { NOTIFICATION_MOCK_WATCH: '1' }]
])('%j with %j: there is nothing to watch', async (args, env) => {
  expect(await runCommand(args, { env: env as Record<string, string> })).toEqual({
    code: 2,
    signal: null,
    stdout: '',
    stderr: expect.stringMatching(/^error: --watch and --no-seed contradict each other: [^\n]*\n$/)
  })
})

test('without --watch a changed seed is left aside', async () => {
  const mock = await watched({ 'shop.yaml': SHOP })
  const other = await startCommand(['--seed', 'shop.yaml'], { cwd: mock.cwd })
  mock.write(MORE)
  await mock.told(1)
  const page = await fetch(`${other.url}/v1/messages`, { headers: { authorization: 'ApiKey shop-key' } })
  expect(await page.json()).toMatchObject({ totalCount: 1 })
  other.child.kill('SIGTERM')
  expect(await other.ended).toMatchObject({ code: 0, stdout: other.printed, stderr: '' })
})
