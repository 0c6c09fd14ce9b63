import { createRequire } from 'node:module'
import { ENGINES } from './package.js'

/**
 * Returns why this Node can't run the server, with the remedy; undefined when it can.
 *
 * Call it before the database addon is imported: better-sqlite3 13 crashes without a message on a Node that lacks
 * Node-API 10.
 */
export function unsupportedNodeMessage(): string | undefined {
  const { node } = ENGINES
  if (!node.split(' || ').some(isMetBy(process.versions.node))) {
    const wanted = node.replace('||', 'or')
    return `notification-mock needs Node ${wanted}, and this is ${process.version}; install another Node`
  }
  const addon = addonVersion()
  if (Number(process.versions.napi) < 10) {
    if (addon !== undefined && Number.parseInt(addon, 10) < 13) return undefined
    const found = addon === undefined ? 'it is not installed' : `${addon} is installed, which needs Node >=22.14.0`
    return `on Node ${process.version} the database addon has to be better-sqlite3 12, and ${found}; run: npm install better-sqlite3@12`
  }
  if (addon !== undefined) return undefined
  return 'the database addon better-sqlite3 is not installed; run: npm install --ignore-scripts better-sqlite3@13'
}

/** Whether a version meets a range of package.json: one with `>=`, or one with `^`, for which the major version is the same. */
function isMetBy(version: string): (range: string) => boolean {
  const own = version.split('.').map(Number)
  return (range) => {
    const least = range.replace(/^\D+/, '').split('.').map(Number)
    const difference = own.map((part, index) => part - (least[index] ?? 0)).find((each) => each !== 0) ?? 0
    return difference >= 0 && (range.startsWith('>=') || own[0] === least[0])
  }
}

/** Undefined when it is not installed: as an optional dependency it may be left out, or its installation may fail. */
function addonVersion(): string | undefined {
  try {
    return createRequire(import.meta.filename)('better-sqlite3/package.json').version
  } catch {
    return undefined
  }
}
