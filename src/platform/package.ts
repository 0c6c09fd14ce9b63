import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { attempt } from '../domain/errors.js'

// Node 18, which is told that it is too old, has no filename.
const load = createRequire(import.meta.filename ?? import.meta.url)

export const packageFile: { version: string; engines: { node: string } } = load(
  'notification-mock/package.json'
)

export const VERSION = packageFile.version

/** Returns the folder of this package, which holds migrations and seeds, wherever it is installed. */
export const packageRoot = (): string => dirname(load.resolve('notification-mock/package.json'))

/** Returns why this Node can't run the server, with the remedy; undefined when it can. */
// Call it before the database addon is imported: better-sqlite3 13 crashes without a message on a Node that lacks Node-API
// 10. No remedy changes what package.json asks for, as another Node may share it.
export function unsupportedNodeMessage(): string | undefined {
  const { node } = packageFile.engines
  if (!node.split(' || ').some(isMet)) {
    const wanted = node.replace('||', 'or')
    return `notification-mock needs Node ${wanted}, and this is ${process.version}; install another Node`
  }
  // It is optional, and its installation may fail.
  const addon = attempt<string>(
    () => createRequire(import.meta.filename)('better-sqlite3/package.json').version
  )
  if (Number(process.versions.napi) < 10) {
    if (addon && Number.parseInt(addon, 10) < 13) return undefined
    const found = addon
      ? `${addon} is installed, which needs Node >=22.14.0`
      : 'it is not installed'
    return `on Node ${process.version} the database addon has to be better-sqlite3 12, and ${found}; with npm, run: npm install --no-save better-sqlite3@12`
  }
  const missing = 'the database addon better-sqlite3 is not installed'
  return addon
    ? undefined
    : `${missing}; with npm, run: npm install --include=optional --ignore-scripts`
}

/** Whether this Node meets a range of package.json: one with `>=`, or one with `^`, for which the major version is the same. */
function isMet(range: string): boolean {
  const own = process.versions.node.split('.').map(Number)
  const least = range.replace(/^\D+/, '').split('.').map(Number)
  const difference =
    own.map((part, index) => part - (least[index] ?? 0)).find((each) => each !== 0) ?? 0
  return difference >= 0 && (range.startsWith('>=') || own[0] === least[0])
}
