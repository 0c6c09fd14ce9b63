/**
 * Checks the Node version, and installs the database addon for Node 20. Uses no packages, because
 * it runs before they are installed.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'

/** Returns an error message if `engines` in package.json excludes this Node version. */
export function unsupportedNodeMessage() {
  // Don't use `import.meta.dirname` here: Node 18 lacks it, and this function must work on Node 18
  // to return the message.
  const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  const current = process.versions.node.split('.').map(Number)
  const supported = engines.node.split(' || ').some((range) => {
    const least = range.replace(/^\D+/, '').split('.').map(Number)
    const difference =
      current.map((part, index) => part - least[index]).find((delta) => delta !== 0) ?? 0
    return difference >= 0 && (range.startsWith('>=') || current[0] === least[0])
  })
  if (supported) return undefined
  const required = engines.node.replace('||', 'or')
  return `notification-mock needs Node ${required}, but this is ${process.version}`
}

const ADDON = 'better-sqlite3@12.11.1'

/**
 * On Node 20, installs the database addon if it is missing. Throws an `Error` if that fails.
 *
 * The lock file has better-sqlite3 13. That version includes its binaries but needs Node-API 10, so
 * npm skips it on Node 20. Version 12 runs on Node 20: npm downloads its binary, or compiles it in
 * about a minute. Version 12 is installed in node_modules/.node-20 and linked from node_modules, so
 * that `npm install` doesn't delete it.
 */
export function installAddonOnNode20(root) {
  const modules = join(root, 'node_modules')
  const link = join(modules, 'better-sqlite3')
  if (Number(process.versions.napi) >= 10 || existsSync(link)) return
  const folder = '.node-20'
  const installed = join(folder, 'node_modules/better-sqlite3')
  if (!existsSync(join(modules, installed, 'build/Release/better_sqlite3.node'))) {
    console.error(
      `installing ${ADDON} for Node 20, which takes about a minute if it must be compiled`
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
      // On Windows, npm is a script that only a shell can run.
      shell: process.platform === 'win32'
    })
    if (status !== 0) throw new Error(`${ADDON} could not be installed: npm exited with ${status}`)
  }
  // If .node-20 was deleted, the link still exists but points to nothing.
  rmSync(link, { force: true })
  symlinkSync(installed, link, 'junction')
}
