import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const FILES = ['package.json', 'package-lock.json', '.npmrc']
const CACHE = join(import.meta.dirname, '../../node_modules/.cache/judges')

/**
 * Returns the folder in which the packages of this folder's lock are installed. They are installed by the first call for a
 * lock, in about half a minute, and stay for later runs, until the next `npm ci` of the project.
 */
export async function givenJudges(): Promise<string> {
  const hash = createHash('sha256')
  for (const name of FILES) hash.update(readFileSync(join(import.meta.dirname, name)))
  const folder = join(CACHE, hash.digest('hex').slice(0, 16))
  if (existsSync(folder)) return folder
  mkdirSync(CACHE, { recursive: true })
  const unfinished = mkdtempSync(join(CACHE, 'unfinished-'))
  try {
    for (const name of FILES) copyFileSync(join(import.meta.dirname, name), join(unfinished, name))
    await npmCi(unfinished)
    renameSync(unfinished, folder)
  } catch (error) {
    // Another run may have been faster.
    if (!existsSync(folder)) throw error
  } finally {
    rmSync(unfinished, { recursive: true, force: true })
  }
  return folder
}

async function npmCi(cwd: string): Promise<void> {
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel', 'error']
  // What an npm that runs the tests says of itself and of our package would mislead this one.
  const entries = Object.entries(process.env).filter(
    ([name]) => !/^(npm_(lifecycle|package|command|node|config_local_prefix)|NODE_ENV$)/.test(name)
  )
  await promisify(execFile)('npm', args, { cwd, env: Object.fromEntries(entries) })
}
