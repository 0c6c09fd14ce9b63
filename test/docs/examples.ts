import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { buildPackage, commandIn } from '../support/process.js'

const run = promisify(execFile)

/** A fenced code block on a page. */
export interface Block {
  language: string
  text: string
  /**
   * The name of the file to save the block in, if the line before the block names one, as in
   * "Save this as `shop.yaml`:".
   */
  file?: string
}

/** A command or program on a page, and the output that the page shows below it. */
export interface Example {
  input: Block
  output: string
}

const BLOCK =
  /(?:`([\w./-]+\.(?:feature|html|js|mjs|py|ts|yaml))`[^`\n]*:\n\n)?^```(\w+)\n(.*?)^```$/gms

/**
 * Pages whose commands need packages such as Vitest and Playwright. recipes.full.test.ts installs
 * the packages and runs the commands.
 */
export const INSTALLED_PAGES = ['develop-with-vite.md', 'run-in-ci.md', 'write-tests.md']

/** Returns the file names of the pages for users in docs/. Leaves out the index, README.md. */
export function userPages(): string[] {
  return readdirSync('docs').filter((name) => name.endsWith('.md') && name !== 'README.md')
}

export function blocksOf(page: string): Block[] {
  return blocksIn(readFileSync(page, 'utf8'))
}

function blocksIn(markdown: string): Block[] {
  return [...markdown.matchAll(BLOCK)].map(([, file, language = '', text = '']) => ({
    language,
    text,
    ...(file && { file })
  }))
}

/**
 * Returns a page's code blocks in a language, each with the output that the page shows below it.
 * The output is empty if the page shows none.
 */
export function examplesOf(page: string, language: string): Example[] {
  return examplesIn(readFileSync(page, 'utf8'), language)
}

/** Returns the heading and the examples of each section that has examples. */
export function sectionsOf(
  page: string,
  language: string
): { heading: string; examples: Example[] }[] {
  const sections = readFileSync(page, 'utf8').split(/^## /m).slice(1)
  return sections
    .map((section) => ({
      heading: section.split('\n', 1)[0] ?? '',
      examples: examplesIn(section, language)
    }))
    .filter(({ examples }) => examples.length > 0)
}

function examplesIn(markdown: string, language: string): Example[] {
  const blocks = blocksIn(markdown)
  return blocks.flatMap((input, index) => {
    if (input.language !== language) return []
    const next = blocks[index + 1]
    const hasOutput = next !== undefined && ['json', 'text'].includes(next.language) && !next.file
    return [{ input, output: hasOutput ? next.text : '' }]
  })
}

/** Saves each code block with a `file` name to that file in the folder. */
export function writeFilesOf(page: string, folder: string): void {
  for (const { file, text } of blocksOf(page)) {
    if (file) writeFileSync(join(folder, file), text)
  }
}

/**
 * Runs a page's shell command, and returns its output. Replaces port 4210 in the command with
 * `port`, and `port` in the output with 4210.
 */
export async function outputOf(command: string, folder: string, port: number): Promise<string> {
  const executable = `"${process.execPath}" "${commandIn(await buildPackage())}"`
  const script = command
    .replaceAll('4210', String(port))
    .replaceAll('npx notification-mock', executable)
  const { stdout } = await run('bash', ['-c', script], { cwd: folder })
  const lines = stdout.replaceAll('\r', '').trim()
  return lines === '' ? '' : `${lines}\n`.replaceAll(String(port), '4210')
}

/**
 * Runs a program that imports the package by its name, as a user's program does, and returns its
 * output.
 */
export async function outputOfProgram(source: string, name: string): Promise<string> {
  // Node.js resolves a package's own name only for files inside the package.
  const file = join(mkdtempSync(join(await buildPackage(), 'example-')), name)
  writeFileSync(file, source)
  const { stdout, stderr } = await run(process.execPath, [file], { timeout: 60_000 })
  return stdout + stderr
}

/** Replaces values that differ on every run, and breaks long JSON into lines. */
export function normalize(output: string): string {
  const stable = output
    .replace(/"duration":[\d.]+/g, '"duration":1.5')
    .replace(/"(arrived|expiresAt)":"[^"]*"/g, '"$1":"2026-02-18T10:00:00.000Z"')
    .replace(/"user-agent":"curl\/[^"]*"/g, '"user-agent":"curl"')
    .replace(/"(environmentId|organizationId)":"[0-9a-f]{24}"/g, '"$1":"66d5a0e97c9b1a0012ab0000"')
    .replace(/"apiKey":"[0-9a-f]{32}"/g, '"apiKey":"0123456789abcdef0123456789abcdef"')
  const lines = stable.split('\n').map((line) => {
    const isJson = /^\{.*\}$|^\[.*\]$/.test(line)
    return isJson ? formatJson(JSON.parse(line)) : line
  })
  return lines.join('\n')
}

/** The maximum length of a line of formatted JSON. */
const MAX_WIDTH = 96

/** Formats a value as JSON. An object or array that fits on one line stays on one line. */
function formatJson(value: unknown, indent = ''): string {
  const line = JSON.stringify(value, null, 1)?.replace(/\n\s*/g, ' ') ?? 'null'
  if (typeof value !== 'object' || value === null) return line
  if (line.length + indent.length <= MAX_WIDTH) return line
  const deeper = `${indent}  `
  const parts = Object.entries(value).map(([name, part]) => {
    const label = Array.isArray(value) ? '' : `${JSON.stringify(name)}: `
    return `${deeper}${label}${formatJson(part, deeper)}`
  })
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  return `${open}\n${parts.join(',\n')}\n${indent}${close}`
}

/**
 * Returns whether output matches the output on a page. In the page's output, `…` stands for any
 * text within a line, or for any number of lines if it is alone on its line.
 */
export function matchesShown(output: string, shown: string): boolean {
  const pattern = shown
    .split(/(^ *…\n|…)/m)
    .map((part) => {
      if (/^ *…\n$/.test(part)) return '(?:.*\\n)*?'
      return part === '…' ? '.*' : part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
    })
    .join('')
  return new RegExp(`^${pattern}$`).test(output)
}
