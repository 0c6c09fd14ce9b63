import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { useNewMock } from '../support/mock.js'
import { createTempFolder } from '../support/process.js'
import {
  blocksOf,
  type Example,
  examplesOf,
  INSTALLED_PAGES,
  matchesShown,
  normalize,
  outputOf,
  outputOfProgram,
  userPages,
  writeFilesOf
} from './examples.js'

const PAGES = userPages().filter((name) => !INSTALLED_PAGES.includes(name))
const pathOf = (page: string) => join('docs', page)
const NOW = '2026-02-18T10:00:00Z'

/**
 * Code that creates `mock` and the environment `env`, for pages whose JavaScript uses them without
 * calling `createMock`.
 */
const PRELUDE = `import { createMock } from 'notification-mock'
const mock = await createMock({ unref: true })
const env = await mock.environment({ from: 'Development', clock: '${NOW}' })
`
/**
 * Code that ends the process. Otherwise, a response whose body isn't read keeps the process alive
 * until the response is garbage-collected, which can take a minute.
 */
const EXIT = 'process.exit()'

test.each(PAGES.filter((page) => examplesOf(pathOf(page), 'sh').length > 0))(
  'every command in docs/%s prints what the page shows',
  async (page) => {
    const mock = await useNewMock({ now: Date.parse(NOW) })
    const folder = createTempFolder()
    writeFilesOf(pathOf(page), folder)
    const examples = examplesOf(pathOf(page), 'sh')
    const outputs: string[] = []
    for (const { input, output } of examples) {
      const printed = normalize(await outputOf(input.text, folder, mock.port))
      outputs.push(matchesShown(printed, output) ? output : printed)
    }
    if (process.env.UPDATE_DOCS) return updateOutputs(pathOf(page), examples, outputs)
    expect(outputs).toEqual(examples.map(({ output }) => output))
  }
)

test.each(PAGES.filter((page) => examplesOf(pathOf(page), 'js').length > 0))(
  'the JavaScript in docs/%s prints what the page shows',
  async (page) => {
    const examples = examplesOf(pathOf(page), 'js')
    const source = examples.map(({ input }) => input.text).join('\n')
    const needsPrelude = !source.includes('createMock(')
    const program = needsPrelude ? PRELUDE + source + EXIT : source
    const shown = examples.map(({ output }) => output).join('')
    const printed = await outputOfProgram(program, `${page}.mjs`)
    expect(matchesShown(printed, shown) ? shown : printed).toBe(shown)
  }
)

/** Control routes without an example, because only servers that `open` starts serve them. */
const OF_REPLAYS = ['get /_mock/replay', 'post /_mock/replay/next']

test('the pages have an example of every control route', async () => {
  const mock = await useNewMock()
  const commands = PAGES.flatMap((page) => examplesOf(pathOf(page), 'sh')).flatMap(({ input }) =>
    input.text.replaceAll('\\\n', ' ').split(/^(?=curl)/m)
  )
  const { paths } = (await mock.get('/_mock/openapi.json')).json
  const missing = Object.entries<object>(paths).flatMap(([path, methods]) =>
    Object.keys(methods)
      .filter((method) => !commands.some((command) => isCall(command, method, path)))
      .map((method) => `${method} ${path}`)
  )
  expect(missing).toEqual(OF_REPLAYS)
})

/**
 * Replaces the outputs that a page shows with the actual outputs. To update all pages, run
 * `UPDATE_DOCS=1 npx vitest run test/docs/pages.full.test.ts`.
 */
function updateOutputs(page: string, examples: Example[], outputs: string[]): void {
  let text = readFileSync(page, 'utf8')
  for (const [index, { input, output }] of examples.entries()) {
    const before = `${input.text}\`\`\`\n\n\`\`\``
    const start = text.indexOf(before) + before.length
    const end = text.indexOf(output, start)
    if (output === '' || start < before.length || end < 0) continue
    text = text.slice(0, end) + (outputs[index] ?? '') + text.slice(end + output.length)
  }
  writeFileSync(page, text)
}

/** Returns whether a command is a curl call with this method and path. */
function isCall(command: string, method: string, path: string): boolean {
  const url = new RegExp(`:4210${path.replace(/\{\w+\}/g, '[\\w-]+')}(?=[\\s'"?]|$)`)
  const sent = /-X (\w+)/.exec(command)?.[1] ?? (/ -d |--data/.test(command) ? 'post' : 'get')
  return sent.toLowerCase() === method && url.test(command)
}

test('the seed in docs/write-seeds.md generates as many messages as the page says', async () => {
  const seed = blocksOf('docs/write-seeds.md').find(({ text }) => text.includes('generate:'))
  expect(seed?.text).toContain('messages: 10000')
  const mock = await useNewMock({ seed: seed?.text ?? '' })
  expect((await mock.get('/v1/messages?limit=1')).json.totalCount).toBe(10_000)
})
