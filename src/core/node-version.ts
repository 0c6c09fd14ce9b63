import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { ENGINES } from './package.js'

/**
 * Returns why this Node can't run the server, with the remedy; undefined when it can.
 *
 * Call it before the database addon is imported: better-sqlite3 13 crashes without a message on a Node that lacks
 * Node-API 10, and 12 may abort on later ones. No remedy changes what package.json asks for, as another Node may share it.
 */
export function unsupportedNodeMessage(): string | undefined {
  const { node } = ENGINES
  if (!node.split(' || ').some(isMetBy(process.versions.node))) {
    const wanted = node.replace('||', 'or')
    return `notification-mock needs Node ${wanted}, and this is ${process.version}; install another Node`
  }
  const addon = installedAddon()
  if (Number(process.versions.napi) < 10) {
    if (addon && majorOf(addon) < 13) return undefined
    const found = addon ? `${addon.version} is installed, which needs Node >=22.14.0` : 'it is not installed'
    return `on Node ${process.version} the database addon has to be better-sqlite3 12, and ${found}; with npm, run: npm install --no-save better-sqlite3@12`
  }
  if (!addon) {
    return 'the database addon better-sqlite3 is not installed; with npm, run: npm install --include=optional --ignore-scripts'
  }
  if (majorOf(addon) < 13 && addon.isCompiled && isMetBy(process.versions.node)(ABORTING)) {
    return `the database addon better-sqlite3 ${addon.version} was compiled, and aborts on Node ${process.version}; with npm, run: npm update better-sqlite3`
  }
  return undefined
}

/**
 * With the headers of these Nodes better-sqlite3 12 compiles to something that aborts the process: nodejs/node#65446. What
 * Node 22.23 and 26.10 make of it has run.
 */
const ABORTING = '^24.19.0'

/** Whether a version meets a range of package.json: one with `>=`, or one with `^`, for which the major version is the same. */
function isMetBy(version: string): (range: string) => boolean {
  const own = version.split('.').map(Number)
  return (range) => {
    const least = range.replace(/^\D+/, '').split('.').map(Number)
    const difference = own.map((part, index) => part - (least[index] ?? 0)).find((each) => each !== 0) ?? 0
    return difference >= 0 && (range.startsWith('>=') || own[0] === least[0])
  }
}

interface Addon {
  version: string
  /** Whether it was compiled here, not downloaded as a binary. */
  isCompiled: boolean
}

/** Undefined when it is not installed: as an optional dependency it may be left out, or its installation may fail. */
function installedAddon(): Addon | undefined {
  try {
    const load = createRequire(import.meta.filename)
    const file = 'better-sqlite3/package.json'
    // node-gyp leaves its configuration behind.
    const isCompiled = existsSync(join(load.resolve(file), '../build/config.gypi'))
    return { version: load(file).version, isCompiled }
  } catch {
    return undefined
  }
}

function majorOf({ version }: Addon): number {
  return Number.parseInt(version, 10)
}
