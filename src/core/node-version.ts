import { createRequire } from 'node:module'

/**
 * Returns why this Node can't run the server, with the remedy; undefined when it can.
 *
 * Call it before the database addon is imported: better-sqlite3 13 crashes without a message on a Node that lacks
 * Node-API 10.
 */
export function unsupportedNodeMessage(): string | undefined {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const supported = major === 20 ? minor >= 19 : major === 22 ? minor >= 14 : major > 22
  if (!supported) {
    return `notification-mock needs Node ^20.19.0 or >=22.14.0, and this is ${process.version}; install another Node`
  }
  const addon: string = createRequire(import.meta.filename)('better-sqlite3/package.json').version
  if (Number.parseInt(addon, 10) >= 13 && Number(process.versions.napi) < 10) {
    return `better-sqlite3 ${addon} can't run on Node ${process.version}; run npm install again with this Node, or use Node >=22.14.0`
  }
  return undefined
}
