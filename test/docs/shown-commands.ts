import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { commandIn, givenPackage } from '../support/process.js'

/** A fenced block of a page. */
export interface Block {
  language: string
  text: string
}

export function blocksOf(page: string): Block[] {
  return [...readFileSync(page, 'utf8').matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = '', text = '']) => ({
    language,
    text
  }))
}

/** Returns what a command of a page prints, in which the server listens on this port in place of 4210. */
export async function runShown(text: string, folder: string, port: number): Promise<string> {
  const command = text
    .replaceAll('4210', String(port))
    .replaceAll('npx notification-mock', `"${process.execPath}" "${commandIn(await givenPackage())}"`)
  const { stdout } = await promisify(execFile)('bash', ['-c', command], { cwd: folder })
  return `${stdout.replaceAll('\r', '').trim()}\n`.replaceAll(String(port), '4210')
}

/** Writes what was printed into a page, after each block that prints. `npm ci && npm test` prints nothing that is shown. */
export function updateShown(page: string, outputs: readonly Block[]): void {
  let next = 0
  let before = ''
  const text = readFileSync(page, 'utf8').replace(/^```(\w+)\n(.*?)^```$/gms, (whole, language, content) => {
    const runnable = /^(js|sh)$/.test(before) && (language === 'json' || language === 'text')
    before = content.startsWith('npm ci && npm test') ? '' : language
    return runnable ? `\`\`\`${language}\n${outputs[next++]?.text}\`\`\`` : whole
  })
  writeFileSync(page, text)
}
