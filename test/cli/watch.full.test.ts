import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { givenFolder, type Running, startCommand } from '../support/process.js'

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
  /** Settles with so many lines that it has written to stdout since, or to stderr. */
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
  const { stdout, stderr } = running.child
  return { ...running, cwd, write, get, nextLines: linesOf(stdout), nextErrorLines: linesOf(stderr) }
}

/** All that is written from now on, some lines at a time. */
function linesOf(stream: Running['child']['stdout']): (lines: number) => Promise<string> {
  let text = ''
  stream.on('data', (more: string) => {
    text += more
  })
  return async (count) => {
    while (text.split('\n').length <= count) await new Promise((settle) => stream.once('data', settle))
    const lines = text.split('\n')
    text = lines.slice(count).join('\n')
    return `${lines.slice(0, count).join('\n')}\n`
  }
}

test('applies a seed that is written over, prints what was reloaded, and serves it', async () => {
  const mock = await watched({ 'shop.yaml': SHOP })
  expect(mock.printed).toContain('\nWatching shop.yaml: changes are applied\n')
  mock.write(MORE)
  expect(await mock.nextLines(1)).toBe(MORE_RELOADED)
  expect(await mock.get('/v1/messages')).toMatchObject({ totalCount: 2 })
  mock.write(MORE.replace('shop-key', 'shop-key, new-key').replace('Hello', 'Hi') + OTHER)
  const added = 'seed changed: shop.yaml: Other added, with the key other-key\n'
  expect(await mock.nextLines(2)).toBe(`${MORE_RELOADED}${added}`)
  expect(await mock.get('/v1/messages', 'new-key')).toMatchObject({ totalCount: 2 })
  mock.write(OTHER.replace('  -', 'environments:\n  -').replace('ada', 'bob'))
  expect(await mock.nextLines(2)).toBe(`\
seed changed: shop.yaml: Other reloaded (0 messages, 0 integrations, 1 subscriber, 0 workflows, 0 steps)
seed changed: shop.yaml: Shop removed
`)
  expect(await mock.get('/v1/messages')).toMatchObject({ status: 401 })
})

test('applies a new file that replaces the old one, also of one of several seeds', async () => {
  const mock = await watched({ 'shop.yaml': SHOP, 'other.yaml': `environments:\n${OTHER}` }, ['--seed', 'default'])
  for (const [text, line] of [
    [MORE, MORE_RELOADED],
    [SHOP, reloaded('1 message')]
  ] as const) {
    mock.write(text, 'shop.yaml.new')
    renameSync(join(mock.cwd, 'shop.yaml.new'), join(mock.cwd, 'shop.yaml'))
    expect(await mock.nextLines(1)).toBe(line)
  }
  mock.write(`environments:\n${OTHER.replace('ada', 'bob')}`, 'other.yaml')
  expect(await mock.nextLines(1)).toMatch(/^seed changed: other.yaml: Other reloaded /)
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

test('prints issues once with their locations, and keeps the old data until they are fixed', async () => {
  const mock = await watched({ 'shop.yaml': SHOP })
  mock.write(SHOP.replace('channel: email', 'channel: emial'))
  const issue = 'shop.yaml:5:27 environments[0].messages[0].channel: must be one of in_app, email, sms, chat, push'
  expect(await mock.nextErrorLines(2)).toBe(`${issue}; did you mean email?\n${STAYS}`)
  expect(await mock.get('/v1/messages')).toMatchObject({ totalCount: 1, data: [{ subject: 'Hello' }] })
  mock.write(MORE)
  expect(await mock.nextLines(1)).toBe(MORE_RELOADED)
  rmSync(join(mock.cwd, 'shop.yaml'))
  expect(await mock.nextErrorLines(2)).toMatch(/^shop\.yaml: can't be read: there is no such file.*\n/)
  mock.write(MORE)
  expect(await mock.nextLines(1)).toBe('seed changed: shop.yaml: nothing that changes the data\n')
  mock.child.kill('SIGTERM')
  const { code, stderr } = await mock.ended
  expect(code).toBe(0)
  expect(stderr.split(STAYS)).toHaveLength(3)
})

test('keeps the state of an unchanged environment, and the requests and faults of a changed one', async () => {
  const mock = await watched({ 'shop.yaml': SHOP + OTHER })
  const send = async (path: string, key: string, body: object) => {
    const headers = { authorization: `ApiKey ${key}`, 'content-type': 'application/json' }
    const response = await fetch(`${mock.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    expect(response.ok).toBe(true)
  }
  await mock.get('/v1/messages')
  await send('/_mock/seed', 'other-key', { environments: [{ name: 'x', messages: [{ channel: 'sms' }] }] })
  await send('/_mock/faults', 'shop-key', { effect: { status: 503 } })
  mock.write(MORE + OTHER)
  expect(await mock.nextLines(1)).toBe(MORE_RELOADED)
  expect(await mock.get('/v1/messages', 'other-key')).toMatchObject({ totalCount: 1 })
  expect(await mock.get('/v1/messages')).toMatchObject({ status: 503 })
  expect(await mock.get('/_mock/requests')).toMatchObject({ requests: [{ status: 200 }, { status: 503 }] })
})

test('--json prints each change as one line of JSON', async () => {
  const mock = await watched({ 'shop.yaml': SHOP }, ['--json'])
  mock.write(MORE)
  const { id } = JSON.parse(mock.printed).environments[0]
  const records = { messages: 2, integrations: 0, subscribers: 0, workflows: 0, steps: 0 }
  const facts = { event: 'seed-changed', files: ['shop.yaml'] }
  const environments = [{ id, name: 'Shop', change: 'reloaded', apiKeys: ['shop-key'], records }]
  expect(JSON.parse(await mock.nextLines(1))).toEqual({ ...facts, applied: true, environments })
  mock.write('environments: 7')
  const location = { location: 'shop.yaml:1:15', file: 'shop.yaml', line: 1, column: 15 }
  const issues = [{ ...location, path: 'environments', message: 'must be a list, not 7' }]
  expect(JSON.parse(await mock.nextLines(1))).toEqual({ ...facts, applied: false, issues })
  expect(await mock.nextErrorLines(2)).toBe(`shop.yaml:1:15 environments: must be a list, not 7\n${STAYS}`)
})

test('applies changes also to a data file that was left as it was at the start', async () => {
  const data = join(givenFolder(), 'mock.db')
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
