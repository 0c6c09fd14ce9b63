import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { useMock } from '../support/mock.js'
import { createTempFolder, runCommand } from '../support/process.js'

const root = join(import.meta.dirname, '../..')
const text = readFileSync(join(root, 'docs/seeds.md'), 'utf8')
const blocks = (language: string) =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(
    ([, block = '']) => block
  )

test('the document lists every seed of the package, and no other', () => {
  const listed = [...text.matchAll(/^\| `(\w[\w-]*)` \|/gm)].map(([, name]) => `${name}.yaml`)
  expect(listed.sort()).toEqual(
    readdirSync(join(root, 'seeds')).filter((name) => name.endsWith('.yaml'))
  )
})

test('the seed with generated messages is served with as many as it says', async () => {
  const [seed = ''] = blocks('yaml')
  const mock = await useMock({ seed })
  expect((await mock.get('/v1/messages?limit=1')).json.totalCount).toBe(10_000)
})

test.each(blocks('sh').flatMap((block) => block.trim().split('\n')))('%s', async (command) => {
  const cwd = createTempFolder()
  const args = command
    .replace(/^npx notification-mock /, '')
    .replace(/--messages \d+/, '--messages 10')
    .split(' ')
  expect(await runCommand(args, { cwd })).toMatchObject({ code: 0, stderr: '' })
  expect(readdirSync(cwd)).toEqual([args.at(-1)])
})
