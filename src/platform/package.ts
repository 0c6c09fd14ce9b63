import { createRequire } from 'node:module'
import { dirname } from 'node:path'

// Node 18 isn't supported and has no `import.meta.filename`. With this fallback, it can still run
// `unsupportedNodeMessage`, which reports the problem.
const thisFile = import.meta.filename ?? import.meta.url
const requireHere = createRequire(thisFile)

/** Whether this code is the built JavaScript, not the TypeScript source. */
export const isBuilt = !thisFile.endsWith('.ts')

/** What to do if a bundler has put this code into a file outside the package. */
export const MARK_EXTERNAL =
  'mark notification-mock and better-sqlite3 as external in the options of your bundler'

export const packageFile: { version: string; engines: { node: string } } = readPackageFile()

export const VERSION = packageFile.version

/** Returns whether a bundler has put this code into a file outside the package. */
export const isInBundle = (): boolean => !thisFile.startsWith(packageRoot())

function readPackageFile() {
  try {
    return requireHere('notification-mock/package.json')
  } catch (error) {
    throw new Error(`notification-mock can't find its files: ${MARK_EXTERNAL}`, { cause: error })
  }
}

/** Returns the package's root folder, which contains `migrations` and `seeds`. */
export function packageRoot(): string {
  return dirname(requireHere.resolve('notification-mock/package.json'))
}

/**
 * Returns undefined if this version of Node can run the server. Otherwise returns why it can't, and
 * how to fix that.
 *
 * Call this function before you import the database addon, because better-sqlite3 13 crashes
 * without a message if Node lacks Node-API 10. The suggested fixes don't change package.json,
 * because several versions of Node may share one checkout.
 */
export function unsupportedNodeMessage(): string | undefined {
  const { node } = packageFile.engines
  if (!node.split(' || ').some(satisfiesRange)) {
    const ranges = node.replace('||', 'or')
    return (
      `notification-mock needs Node ${ranges}, but this is ${process.version}; ` +
      'install a supported version'
    )
  }
  const addonVersion = readAddonVersion()
  return Number(process.versions.napi) < 10
    ? oldNodeAddonMessage(addonVersion)
    : newNodeAddonMessage(addonVersion)
}

/**
 * Checks the addon on a Node version without Node-API 10. Such a version needs better-sqlite3 12.
 * Returns the problem and its fix, or undefined if the addon is suitable.
 */
function oldNodeAddonMessage(addonVersion: string | undefined): string | undefined {
  if (addonVersion && Number.parseInt(addonVersion, 10) < 13) return undefined
  const installed = addonVersion
    ? `${addonVersion} is installed, which needs Node >=22.14.0`
    : 'it is not installed'
  return (
    `on Node ${process.version} the database addon must be better-sqlite3 12, and ${installed}; ` +
    'with npm, run: npm install --no-save better-sqlite3@12'
  )
}

function newNodeAddonMessage(addonVersion: string | undefined): string | undefined {
  if (addonVersion) return undefined
  return (
    'the database addon better-sqlite3 is not installed; ' +
    'with npm, run: npm install --include=optional --ignore-scripts'
  )
}

/**
 * Returns the version of the database addon, or undefined if it isn't installed. The addon is an
 * optional dependency, so npm continues if it can't install the addon.
 */
function readAddonVersion(): string | undefined {
  try {
    return requireHere('better-sqlite3/package.json').version
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') return undefined
    throw error
  }
}

/** Returns whether this Node satisfies a range such as `>=22.14.0` or `^20.19.0`. */
function satisfiesRange(range: string): boolean {
  const current = process.versions.node.split('.').map(Number)
  const minimum = range.replace(/^\D+/, '').split('.').map(Number)
  const differences = current.map((part, index) => part - (minimum[index] ?? 0))
  const firstDifference = differences.find((difference) => difference !== 0) ?? 0
  if (firstDifference < 0) return false
  return range.startsWith('>=') || current[0] === minimum[0]
}
