/** What depends on the Node that runs the scripts: whether it can, and which database addon it takes. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

/** Returns that this Node is none of those that package.json names, with the remedy; undefined when it is one. */
export function unsupportedNodeMessage() {
  // Not import.meta.dirname, which Node 18 has not.
  const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  const own = process.versions.node.split('.').map(Number)
  const supported = engines.node.split(' || ').some((range) => {
    const least = range.replace(/^\D+/, '').split('.').map(Number)
    const difference = own.map((part, index) => part - least[index]).find((each) => each !== 0) ?? 0
    return difference >= 0 && (range.startsWith('>=') || own[0] === least[0])
  })
  if (supported) return undefined
  const wanted = engines.node.replace('||', 'or')
  return `notification-mock needs Node ${wanted}, and this is ${process.version}; install another Node`
}

const ADDON = 'better-sqlite3@12.11.1'

/**
 * Installs the database addon if it is missing and this is Node 20. Throws an `Error` when that fails.
 *
 * The lock has better-sqlite3 13, which brings its binaries along but needs Node-API 10, so npm leaves it out on Node 20.
 * Version 12 runs there; its binary is downloaded or, where there is none, compiled in about a minute. It is kept in a folder
 * that npm does not look into, with a link to it beside the other packages, so that `npm install` does not delete it.
 */
export function installAddonOnNode20(root) {
  const modules = join(root, 'node_modules')
  const link = join(modules, 'better-sqlite3')
  if (Number(process.versions.napi) >= 10 || existsSync(link)) return
  const folder = '.node-20'
  const installed = join(folder, 'node_modules/better-sqlite3')
  if (!existsSync(join(modules, installed, 'build/Release/better_sqlite3.node'))) {
    console.error(
      `installing ${ADDON} for Node 20; where it has to be compiled, that takes about a minute`
    )
    mkdirSync(join(modules, folder), { recursive: true })
    const options = [
      '--no-save',
      '--no-package-lock',
      '--no-audit',
      '--no-fund',
      '--loglevel',
      'error'
    ]
    const { status } = spawnSync('npm', ['install', '--prefix', '.', ...options, ADDON], {
      cwd: join(modules, folder),
      stdio: ['ignore', 'ignore', 'inherit'],
      // On Windows npm is a script, which only a shell runs.
      shell: process.platform === 'win32'
    })
    if (status !== 0) throw new Error(`${ADDON} could not be installed: npm left with ${status}`)
  }
  // One that leads nowhere, as `npm install` leaves it when .node-20 was deleted.
  rmSync(link, { force: true })
  symlinkSync(installed, link, 'junction')
}
