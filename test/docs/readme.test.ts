import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import {
  buildPackage,
  createTempFolder,
  freePort,
  runCommand,
  startCommand
} from '../support/process.js'
import { type Block, blocksOf, runShown } from './shown-commands.js'

/** Runs what README.md and SKILL.md show, in their order, and compares what comes with what they say comes. */
const README = 'README.md'
const SKILL = 'SKILL.md'

const linesOf = (page: string) => readFileSync(page, 'utf8').trimEnd().split('\n')

test('the README is short, and its first commands are the two that a newcomer needs', () => {
  expect(linesOf(README).length).toBeLessThanOrEqual(200)
  const shell = blocksOf(README).filter(({ language }) => language === 'sh')
  expect(shell.slice(0, 2).map(({ text }) => text.trim())).toEqual([
    'npm ci && npm start',
    'npm ci && npm test'
  ])
})

test('every command and program of the README prints what the README says it prints', async () => {
  const folder = createTempFolder()
  const server = await startCommand([])
  const port = Number(new URL(server.url).port)
  await compareShown(README, folder, async ({ language, text }) => {
    if (text.startsWith('npm ci && npm start'))
      return server.printed.replaceAll(String(port), '4210')
    if (language === 'sh' && !text.startsWith('npm ci')) return runShown(text, folder, port)
    return language === 'js' ? program(text, port) : undefined
  })
})

test('the skill for agents has its front matter, is short, and its commands print what it says', async () => {
  const lines = linesOf(SKILL)
  expect(lines.slice(0, 4)).toEqual([
    '---',
    'name: notification-mock',
    expect.stringMatching(/^description: ./),
    '---'
  ])
  expect(lines.length).toBeLessThanOrEqual(120)
  const folder = createTempFolder()
  const port = await freePort()
  onTestFinished(async () => void (await runCommand(['stop', '--port', String(port)])))
  await compareShown(SKILL, folder, async ({ language, text }) =>
    language === 'sh' ? runShown(text, folder, port) : undefined
  )
})

/** Runs the blocks of a page that print, and compares each with the block after it. */
async function compareShown(
  page: string,
  folder: string,
  run: (block: Block) => Promise<string | undefined>
): Promise<void> {
  const blocks = blocksOf(page)
  const shown: Block[] = []
  const seen: Block[] = []
  for (const [index, block] of blocks.entries()) {
    if (block.language === 'yaml') writeFileSync(join(folder, 'shop.yaml'), block.text)
    const output = await run(block)
    if (output === undefined) continue
    const after = blocks[index + 1]
    if (!after) throw new Error(`a command at the end of ${page} has no output`)
    shown.push(after)
    seen.push({ language: after.language, text: output })
  }
  expect(seen).toEqual(shown)
  expect(seen.length).toBeGreaterThanOrEqual(5)
}

/** In the folder of the package, where its own name and those of other packages are found as by a program of a user. */
async function program(text: string, port: number): Promise<string> {
  const file = join(await buildPackage(), `readme-${text.length}.mjs`)
  writeFileSync(file, text.replaceAll('4210', String(port)))
  return (await promisify(execFile)(process.execPath, [file])).stdout
}
