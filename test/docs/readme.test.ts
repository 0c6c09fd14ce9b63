import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'

/**
 * Runs what the README shows, in its order and on one server, and compares what comes with what it says comes.
 * After a change that is meant: UPDATE_README=1 npx vitest run test/docs/readme.test.ts
 */
const README = 'README.md'
const TSX = ['--import', 'tsx']
const CLI = resolve('src/cli/index.ts')

interface Block {
  language: string
  text: string
}

const blocks: Block[] = [...readFileSync(README, 'utf8').matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(
  ([, language = '', text = '']) => ({ language, text })
)

test('the README is short, and its first commands are the two that a newcomer needs', () => {
  const lines = readFileSync(README, 'utf8').split('\n')
  expect(lines.length).toBeLessThan(200)
  const shell = blocks.filter(({ language }) => language === 'sh')
  expect(shell.slice(0, 2).map(({ text }) => text.trim())).toEqual(['npm ci && npm start', 'npm ci && npm test'])
})

test('every command and program of the README prints what the README says it prints', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'readme-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const server = await startCommand(folder)
  const shown: Block[] = []
  const seen: Block[] = []

  for (const [place, { language, text }] of blocks.entries()) {
    const after = blocks[place + 1]
    if (language === 'yaml') writeFileSync(join(folder, 'shop.yaml'), text)
    if (text.startsWith('npm ci && npm start')) {
      record(after, server.printed)
    } else if (language === 'sh' && !text.startsWith('npm ci')) {
      record(after, await shell(text, folder, server.port))
    } else if (language === 'js') {
      record(after, await program(text, server.port))
    }
  }
  if (process.env.UPDATE_README) update(seen)
  else expect(seen).toEqual(shown)
  expect(seen.length).toBeGreaterThanOrEqual(8)

  function record(block: Block | undefined, output: string): void {
    if (!block) throw new Error('a command at the end of the README has no output')
    shown.push(block)
    seen.push({ language: block.language, text: output.replaceAll(String(server.port), '4210') })
  }
})

/** `npm start` runs the built command; here the same from source, on a free port. */
async function startCommand(folder: string): Promise<{ port: number; printed: string }> {
  const child = spawn(process.execPath, [...TSX, CLI, '--port', '0'], { stdio: ['ignore', 'pipe', 'ignore'] })
  onTestFinished(() => void child.kill())
  const lines: string[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(line)
    if (line.includes('curl')) break
  }
  const port = Number(/127\.0\.0\.1:(\d+)/.exec(lines[0] ?? '')?.[1])
  expect(port, `${folder}: ${lines.join('\n')}`).toBeGreaterThan(0)
  return { port, printed: `${lines.join('\n')}\n` }
}

async function shell(text: string, folder: string, port: number): Promise<string> {
  const command = text
    .replaceAll('4210', String(port))
    .replaceAll('npx notification-mock', `"${process.execPath}" --import "${import.meta.resolve('tsx')}" "${CLI}"`)
  const { stdout } = await promisify(execFile)('bash', ['-c', command], { cwd: folder })
  return `${stdout.replaceAll('\r', '').trim()}\n`
}

/** In a file of this folder, so that packages are found as they are by a program of a user. */
async function program(text: string, port: number): Promise<string> {
  const file = resolve(`test/docs/program-${process.pid}-${text.length}.ts`)
  const source = text.replaceAll('4210', String(port)).replace("'notification-mock'", "'../../src/index.js'")
  writeFileSync(file, source)
  try {
    return (await promisify(execFile)(process.execPath, [...TSX, file])).stdout
  } finally {
    rmSync(file)
  }
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
