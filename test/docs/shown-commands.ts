import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { buildPackage, commandIn } from '../support/process.js'

/** A fenced block of a page. */
export interface Block {
  language: string
  text: string
}

export function blocksOf(page: string): Block[] {
  return [...readFileSync(page, 'utf8').matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(
    ([, language = '', text = '']) => ({
      language,
      text
    })
  )
}

/** Returns what a command of a page prints, in which the server listens on this port in place of 4210. */
export async function runShown(text: string, folder: string, port: number): Promise<string> {
  const command = text
    .replaceAll('4210', String(port))
    .replaceAll(
      'npx notification-mock',
      `"${process.execPath}" "${commandIn(await buildPackage())}"`
    )
  const { stdout } = await promisify(execFile)('bash', ['-c', command], { cwd: folder })
  return `${stdout.replaceAll('\r', '').trim()}\n`.replaceAll(String(port), '4210')
}
