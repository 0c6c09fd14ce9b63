import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createTempFolder, type RunningProcess, startCommand } from '../support/process.js'

const SHOP = `
environments:
  - name: Shop
    apiKeys: [shop-key]
    messages: [{ channel: email, subject: Hello }]
`
const OTHER = '  - { name: Other, subscribers: [{ subscriberId: ada }] }\n'
const MORE = `${SHOP.replace('}]', '}, { channel: sms, content: Bye }]')}`
const MORE_RELOADED =
  'seed changed: shop.yaml: Shop reloaded ' +
  '(2 messages, 0 integrations, 0 subscribers, 0 workflows, 0 steps)\n'
const STAYS = 'the changed seed was not applied; the data is unchanged\n'

interface Watched extends RunningProcess {
  cwd: string
  /** Overwrites a file in place, like `>` in a shell. */
  write(text: string, file?: string): void
  /** Waits for the given number of new lines on stdout, and resolves to them. */
  nextLines(lines: number): Promise<string>
  /** Waits for the given number of new lines on stderr, and resolves to them. */
  nextErrorLines(lines: number): Promise<string>
  get(path: string, key?: string): Promise<Record<string, unknown>>
}

/**
 * Writes the files into a new folder, and starts a server there with `--watch`. The server is
 * stopped when the test ends.
 */
async function startWatching(
  files: Record<string, string>,
  args: readonly string[] = []
): Promise<Watched> {
  const cwd = createTempFolder()
  const write = (text: string, file = 'shop.yaml') => writeFileSync(join(cwd, file), text)
  for (const [file, text] of Object.entries(files)) write(text, file)
  const seeds = Object.keys(files).flatMap((file) => ['--seed', file])
  const running = await startCommand([...seeds, '--watch', ...args], { cwd })
  const get: Watched['get'] = async (path, key = 'shop-key') => {
    const response = await fetch(`${running.url}${path}`, {
      headers: { authorization: `ApiKey ${key}` }
    })
    return { status: response.status, ...((await response.json()) as object) }
  }
  const { stdout, stderr } = running.child
  return {
    ...running,
    cwd,
    write,
    get,
    nextLines: linesOf(stdout),
    nextErrorLines: linesOf(stderr)
  }
}

/** Returns a function that reads the next lines written to the stream. */
function linesOf(stream: RunningProcess['child']['stdout']): (lines: number) => Promise<string> {
  let text = ''
  stream.on('data', (more: string) => {
    text += more
  })
  return async (count) => {
    while (text.split('\n').length <= count)
      await new Promise((settle) => stream.once('data', settle))
    const lines = text.split('\n')
    text = lines.slice(count).join('\n')
    return `${lines.slice(0, count).join('\n')}\n`
  }
}

test('keeps existing data at startup, and reloads a seed when its file changes', async () => {
  const data = ['--data', join(createTempFolder(), 'mock.db')]
  const first = await startWatching({ 'shop.yaml': SHOP }, data)
  first.child.kill('SIGTERM')
  await first.ended
  const mock = await startWatching({ 'shop.yaml': MORE }, data)
  expect(await mock.get('/v1/messages')).toMatchObject({ totalCount: 1 })
  expect(mock.printed).toContain('\nWatching shop.yaml for changes\n')
  mock.write(MORE.replace('Hello', 'Hi'))
  expect(await mock.nextLines(1)).toBe(MORE_RELOADED)
  expect(await mock.get('/v1/messages')).toMatchObject({ totalCount: 2 })
  // The journal still has the requests from before the change.
  expect(await mock.get('/_mock/requests')).toMatchObject({
    requests: [{ status: 200 }, { status: 200 }]
  })
})

test('a seed change adds, reloads or removes environments, and prints each action', async () => {
  const mock = await startWatching({ 'shop.yaml': MORE })
  mock.write(MORE.replace('shop-key', 'shop-key, new-key') + OTHER)
  const added = 'seed changed: shop.yaml: Other added, with the key other-key\n'
  expect(await mock.nextLines(2)).toBe(`${MORE_RELOADED}${added}`)
  expect(await mock.get('/v1/messages', 'new-key')).toMatchObject({ totalCount: 2 })
  mock.write(OTHER.replace('  -', 'environments:\n  -').replace('ada', 'bob'))
  expect(await mock.nextLines(2)).toBe(
    'seed changed: shop.yaml: Other reloaded ' +
      '(0 messages, 0 integrations, 1 subscriber, 0 workflows, 0 steps)\n' +
      'seed changed: shop.yaml: Shop removed\n'
  )
  expect(await mock.get('/v1/messages')).toMatchObject({ status: 401 })
})

test('prints issues once, and keeps the old data until the seed is fixed', async () => {
  const mock = await startWatching({ 'shop.yaml': SHOP })
  mock.write(SHOP.replace('channel: email', 'channel: emial'))
  const issue =
    'shop.yaml:5:27 environments[0].messages[0].channel: ' +
    'must be one of in_app, email, sms, chat, push'
  expect(await mock.nextErrorLines(2)).toBe(`${issue}; did you mean email?\n${STAYS}`)
  expect(await mock.get('/v1/messages')).toMatchObject({
    totalCount: 1,
    data: [{ subject: 'Hello' }]
  })
  mock.write(MORE)
  expect(await mock.nextLines(1)).toBe(MORE_RELOADED)
  rmSync(join(mock.cwd, 'shop.yaml'))
  expect(await mock.nextErrorLines(2)).toMatch(
    /^shop\.yaml: can't be read: there is no such file.*\n/
  )
  mock.write(MORE)
  expect(await mock.nextLines(1)).toBe('seed changed: shop.yaml: no changes to the data\n')
  mock.child.kill('SIGTERM')
  const { code, stderr } = await mock.ended
  expect(code).toBe(0)
  expect(stderr.split(STAYS)).toHaveLength(3)
})
