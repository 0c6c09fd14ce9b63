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
/** What a reload of Shop prints. */
const reloaded = (messages: string, file = 'shop.yaml') =>
  `seed changed: ${file}: Shop reloaded (${messages}, 0 integrations, 0 subscribers, 0 workflows, 0 steps)\n`
const MORE_RELOADED = reloaded('2 messages')
const STAYS = 'the changed seed is not applied: the data stays as it was\n'

interface Watched extends Running {
  cwd: string
  /** Puts a text into the file, as `cat` does. */
  write(text: string, file?: string): void
  /** Settles with what it has written to stdout since, or to stderr, once that has so many lines. */
  nextLines(lines: number): Promise<string>
  nextErrorLines(lines: number): Promise<string>
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
    nextLines: linesOf(running.child.stdout),
    nextErrorLines: linesOf(running.child.stderr)
  }
}

/** All that is written from now on, some lines at a time. */
function linesOf(stream: Running['child']['stdout']): (lines: number) => Promise<string> {
  let text = ''
  stream.on('data', (more: string) => {
    text += more
  })
  return async (lines) => {
    for (;;) {
      const end = endOf(text, lines)
      if (end > 0) {
        const found = text.slice(0, end)
        text = text.slice(end)
        return found
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

test('applies a seed that is written over, prints what was reloaded, and serves it', async () => {
  const mock = await watched({ 'shop.yaml': SHOP })
  expect(mock.printed).toContain('\nWatching shop.yaml: changes are applied\n')
  expect(await mock.get('/v1/messages')).toMatchObject({ totalCount: 1 })
  mock.write(MORE)
  expect(await mock.nextLines(1)).toBe(MORE_RELOADED)
  expect(await mock.get('/v1/messages')).toMatchObject({ totalCount: 2 })
  mock.write(MORE.replace('shop-key', 'shop-key, new-key').replace('Hello', 'Hi') + OTHER)
  expect(await mock.nextLines(2)).toBe(`\
${MORE_RELOADED}seed changed: shop.yaml: Other added, with the key other-key
`)
  expect(await mock.get('/v1/messages', 'new-key')).toMatchObject({ totalCount: 2 })
  mock.write(OTHER.replace('  -', 'environments:\n  -').replace('ada', 'bob'))
  expect(await mock.nextLines(2)).toBe(`\
seed changed: shop.yaml: Other reloaded (0 messages, 0 integrations, 1 subscriber, 0 workflows, 0 steps)
seed changed: shop.yaml: Shop removed
`)
  expect(await mock.get('/v1/messages')).toMatchObject({ status: 401 })
})

test('applies a new file that replaces the old one, repeatedly', async () => {
  const mock = await watched({ 'shop.yaml': SHOP })
  for (const [text, nextLines] of [
    [MORE, MORE_RELOADED],
    [SHOP, reloaded('1 message')],
    [MORE, MORE_RELOADED]
  ] as const) {
    mock.write(text, 'shop.yaml.new')
    renameSync(join(mock.cwd, 'shop.yaml.new'), join(mock.cwd, 'shop.yaml'))
    expect(await mock.nextLines(1)).toBe(nextLines)
  }
})

test('applies a file behind a link to a folder that is exchanged, as in a Kubernetes volume', async () => {
  const cwd = givenFolder()
  for (const [folder, text] of Object.entries({ one: SHOP, two: MORE })) {
    mkdirSync(join(cwd, folder))
    writeFileSync(join(cwd, folder, 'shop.yaml'), text)
  }
  symlinkSync('one', join(cwd, 'present'))
  const { child } = await startCommand(['--seed', 'present/shop.yaml', '--watch'], { cwd })
  const nextLines = linesOf(child.stdout)
  symlinkSync('two', join(cwd, 'next'))
  renameSync(join(cwd, 'next'), join(cwd, 'present'))
  expect(await nextLines(1)).toBe(reloaded('2 messages', 'present/shop.yaml'))
})

test('watches each of several seeds, with one of the package among them', async () => {
  const mock = await watched({ 'shop.yaml': SHOP, 'other.yaml': `environments:\n${OTHER}` }, ['--seed', 'default'])
  mock.write(`environments:\n${OTHER.replace('ada', 'bob')}`, 'other.yaml')
  expect(await mock.nextLines(1)).toBe(
    'seed changed: other.yaml: Other reloaded (0 messages, 0 integrations, 1 subscriber, 0 workflows, 0 steps)\n'
  )
  mock.write(MORE)
  expect(await mock.nextLines(1)).toBe(MORE_RELOADED)
})

test('prints issues once with their locations, and keeps the old data until they are fixed', async () => {
  const mock = await watched({ 'shop.yaml': SHOP })
  mock.write(`${SHOP.replace('channel: email', 'channel: emial')}  - nam: x\n`)
  const issues = `\
shop.yaml:5:27 environments[0].messages[0].channel: must be one of in_app, email, sms, chat, push; did you mean email?
shop.yaml:6:5 environments[1]: must have name
shop.yaml:6:5 environments[1].nam: is not a field here; did you mean name?
`
  expect(await mock.nextErrorLines(4)).toBe(issues + STAYS)
  expect(await mock.get('/v1/messages')).toMatchObject({ totalCount: 1, data: [{ subject: 'Hello' }] })
  mock.write(MORE)
  expect(await mock.nextLines(1)).toBe(MORE_RELOADED)
  mock.write('')
  expect(await mock.nextErrorLines(2)).toMatch(/^shop\.yaml.*is empty.*\n/)
  mock.write(MORE)
  expect(await mock.nextLines(1)).toBe('seed changed: shop.yaml: nothing that changes the data\n')
  mock.child.kill('SIGTERM')
  const { code, stderr } = await mock.ended
  expect(code).toBe(0)
  expect(stderr.split(STAYS)).toHaveLength(3)
})

test('reports a deleted file as an issue, and applies it when it comes back', async () => {
  const mock = await watched({ 'shop.yaml': SHOP })
  rmSync(join(mock.cwd, 'shop.yaml'))
  expect(await mock.nextErrorLines(2)).toMatch(
    /^shop\.yaml: can't be read: there is no such file.*\nthe changed seed is not/
  )
  expect(await mock.get('/v1/messages')).toMatchObject({ totalCount: 1 })
  mock.write(MORE)
  expect(await mock.nextLines(1)).toBe(MORE_RELOADED)
})

test('keeps the state of an unchanged environment, and the requests and faults of a changed one', async () => {
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
  expect(await mock.nextLines(1)).toBe(MORE_RELOADED)
  expect(await mock.get('/v1/messages', 'other-key')).toMatchObject({ totalCount: 1 })
  expect(await mock.get('/v1/messages')).toMatchObject({ status: 503 })
  expect(await mock.get('/_mock/requests')).toMatchObject({ requests: [{ status: 200 }, { status: 503 }] })
})

test('--json prints each change as one line of JSON', async () => {
  const mock = await watched({ 'shop.yaml': SHOP }, ['--json'])
  mock.write(MORE)
  expect(JSON.parse(await mock.nextLines(1))).toEqual({
    event: 'seed-changed',
    applied: true,
    files: ['shop.yaml'],
    environments: [
      {
        id: JSON.parse(mock.printed).environments[0].id,
        name: 'Shop',
        change: 'reloaded',
        apiKeys: ['shop-key'],
        records: { messages: 2, integrations: 0, subscribers: 0, workflows: 0, steps: 0 }
      }
    ]
  })
  mock.write('environments: 7')
  expect(JSON.parse(await mock.nextLines(1))).toEqual({
    event: 'seed-changed',
    applied: false,
    files: ['shop.yaml'],
    issues: [
      {
        location: 'shop.yaml:1:15',
        file: 'shop.yaml',
        line: 1,
        column: 15,
        path: 'environments',
        message: 'must be a list, not 7'
      }
    ]
  })
  expect(await mock.nextErrorLines(2)).toBe(`shop.yaml:1:15 environments: must be a list, not 7\n${STAYS}`)
})

test('applies changes also to a data file that was left as it was at the start', async () => {
  const cwd = givenFolder()
  const data = join(cwd, 'mock.db')
  const first = await watched({ 'shop.yaml': SHOP }, ['--data', data])
  first.child.kill('SIGTERM')
  await first.ended
  const mock = await watched({ 'shop.yaml': MORE + OTHER }, ['--data', data])
  expect(mock.printed).toContain('as it was left')
  expect(await mock.get('/v1/messages')).toMatchObject({ totalCount: 1 })
  mock.write(MORE.replace('Hello', 'Hi') + OTHER)
  expect(await mock.nextLines(1)).toBe(MORE_RELOADED)
  expect(await mock.get('/v1/messages')).toMatchObject({ totalCount: 2 })
  expect(await mock.get('/v1/messages', 'other-key')).toMatchObject({ status: 401 })
})

test.each([
  [['--watch', '--no-seed'], {}],
  [['--no-seed'], { NOTIFICATION_MOCK_WATCH: '1' }]
])('refuses %j with %j: there is nothing to watch', async (args, env) => {
  expect(await runCommand(args, { env: env as Record<string, string> })).toEqual({
    code: 2,
    signal: null,
    stdout: '',
    stderr: expect.stringMatching(/^error: --watch and --no-seed contradict each other: [^\n]*\n$/)
  })
})

test('answers requests while it reads a large file that has changed', async () => {
  const mock = await watched({ 'shop.yaml': SHOP })
  mock.write(`${SHOP}${OTHER.repeat(20_000)}  - nam: x\n`)
  let isRead = false
  const issues = mock.nextErrorLines(1).then(() => (isRead = true))
  let longest = 0
  while (!isRead) {
    const sent = performance.now()
    await mock.get('/health')
    longest = Math.max(longest, performance.now() - sent)
  }
  await issues
  expect(longest).toBeLessThan(1000)
})

test('without --watch a changed seed is ignored', async () => {
  const mock = await watched({ 'shop.yaml': SHOP })
  const other = await startCommand(['--seed', 'shop.yaml'], { cwd: mock.cwd })
  mock.write(MORE)
  await mock.nextLines(1)
  const page = await fetch(`${other.url}/v1/messages`, { headers: { authorization: 'ApiKey shop-key' } })
  expect(await page.json()).toMatchObject({ totalCount: 1 })
  other.child.kill('SIGTERM')
  expect(await other.ended).toMatchObject({ code: 0, stdout: other.printed, stderr: '' })
})
