import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync
} from 'node:fs'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'

const FILES = ['package.json', 'package-lock.json', '.npmrc']
const CACHE = join(import.meta.dirname, '../node_modules/.cache')

/**
 * Installs the packages that the lock file in the folder `locked` lists. Returns the folder that
 * contains their `node_modules`. This folder is inside the project, so that the installed packages
 * can also import the project's packages. Later calls return the same folder, until a file in
 * `locked` changes or `npm ci` in the project deletes the folder.
 */
export async function installLockedPackages(locked: string): Promise<string> {
  const cache = join(CACHE, basename(locked))
  const hash = createHash('sha256')
  for (const name of FILES) hash.update(readFileSync(join(locked, name)))
  const folder = join(cache, hash.digest('hex').slice(0, 16))
  if (existsSync(folder)) return folder
  mkdirSync(cache, { recursive: true })
  const unfinished = mkdtempSync(join(cache, 'unfinished-'))
  try {
    for (const name of FILES) copyFileSync(join(locked, name), join(unfinished, name))
    await npmCi(unfinished)
    renameSync(unfinished, folder)
  } catch (error) {
    // Renaming fails if another process has installed the packages in the meantime.
    if (!existsSync(folder)) throw error
  } finally {
    rmSync(unfinished, { recursive: true, force: true })
  }
  return folder
}

async function npmCi(cwd: string): Promise<void> {
  const args = [
    'ci',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--prefer-offline',
    '--loglevel',
    'error'
  ]
  // Leave out the variables that describe our own package, because npm would apply them to the
  // package that it installs here.
  const entries = Object.entries(process.env).filter(
    ([name]) => !/^(npm_(lifecycle|package|command|node|config_local_prefix)|NODE_ENV$)/.test(name)
  )
  await promisify(execFile)('npm', args, { cwd, env: Object.fromEntries(entries) })
}
