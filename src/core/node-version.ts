import { createRequire } from 'node:module'

/**
 * Returns why this Node can't run the server, with the remedy; undefined when it can.
 *
 * Call it before the database addon is imported: better-sqlite3 13 crashes without a message on a Node that lacks
 * Node-API 10.
 */
export function unsupportedNodeMessage(): string | undefined {
  const [major = 0, minor = 0, patch = 0] = process.versions.node.split('.').map(Number)
  const supported = major === 20 ? minor > 19 || (minor === 19 && patch >= 2) : major === 22 ? minor >= 14 : major > 22
  if (!supported) {
    return `notification-mock needs Node ^20.19.2 or >=22.14.0, and this is ${process.version}; install another Node`
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

/** Undefined when it is not installed: as an optional dependency it may be left out, or its installation may fail. */
function addonVersion(): string | undefined {
  try {
    return createRequire(import.meta.filename)('better-sqlite3/package.json').version
  } catch {
    return undefined
  }
}
