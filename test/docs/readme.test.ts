import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { commandIn, givenFolder, givenPackage, startCommand } from '../support/process.js'

/**
 * Runs what the README shows, in its order and on one server, and compares what comes with what it says comes.
 * After a change that is meant: UPDATE_README=1 npx vitest run test/docs/readme.test.ts
 */
const README = 'README.md'

interface Block {
  language: string
  text: string
}

const blocks: Block[] = [...readFileSync(README, 'utf8').matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(
  ([, language = '', text = '']) => ({ language, text })
)

test('the README is short, and its first commands are the two that a newcomer needs', () => {
  const lines = readFileSync(README, 'utf8').split('\n')
  expect(lines.length).toBeLessThan(270)
  const shell = blocks.filter(({ language }) => language === 'sh')
  expect(shell.slice(0, 2).map(({ text }) => text.trim())).toEqual(['npm ci && npm start', 'npm ci && npm test'])
})

test('every command and program of the README prints what the README says it prints', async () => {
  const folder = givenFolder()
  const server = await startCommand([])
  const port = Number(new URL(server.url).port)
  const shown: Block[] = []
  const seen: Block[] = []

  for (const [index, { language, text }] of blocks.entries()) {
    const after = blocks[index + 1]
    if (language === 'yaml') writeFileSync(join(folder, 'shop.yaml'), text)
    if (text.startsWith('npm ci && npm start')) {
      record(after, server.printed)
    } else if (language === 'sh' && !text.startsWith('npm ci')) {
      record(after, await shell(text, folder, port))
    } else if (language === 'js') {
      record(after, await program(text, port))
    }
  }
  if (process.env.UPDATE_README) update(seen)
  else expect(seen).toEqual(shown)
  expect(seen.length).toBeGreaterThanOrEqual(7)

  function record(block: Block | undefined, output: string): void {
    if (!block) throw new Error('a command at the end of the README has no output')
    shown.push(block)
    seen.push({ language: block.language, text: output.replaceAll(String(port), '4210') })
  }
})

async function shell(text: string, folder: string, port: number): Promise<string> {
  const command = text
    .replaceAll('4210', String(port))
    .replaceAll('npx notification-mock', `"${process.execPath}" "${commandIn(await givenPackage())}"`)
  const { stdout } = await promisify(execFile)('bash', ['-c', command], { cwd: folder })
  return `${stdout.replaceAll('\r', '').trim()}\n`
}

/** In the folder of the package, where its own name and those of other packages are found as by a program of a user. */
async function program(text: string, port: number): Promise<string> {
  const file = join(await givenPackage(), `readme-${text.length}.mjs`)
  writeFileSync(file, text.replaceAll('4210', String(port)))
  return (await promisify(execFile)(process.execPath, [file])).stdout
}

function update(outputs: Block[]): void {
  let next = 0
  let before = ''
  const text = readFileSync(README, 'utf8').replace(/^```(\w+)\n(.*?)^```$/gms, (whole, language, content) => {
    const runnable = /^(js|sh)$/.test(before) && (language === 'json' || language === 'text')
    before = content.startsWith('npm ci && npm test') ? '' : language
    return runnable ? `\`\`\`${language}\n${outputs[next++]?.text}\`\`\`` : whole
  })
  writeFileSync(README, text)
}
