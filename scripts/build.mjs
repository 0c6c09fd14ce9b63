#!/usr/bin/env node
/**
 * Builds dist/ from src/: the command, the library, and its types.
 *
 *     node scripts/build.mjs                   build
 *     node scripts/build.mjs --after-install   build if the source and the compiler exist
 *     node scripts/build.mjs --if-stale        build if dist/ is missing or older than the source
 *
 * `--after-install` fails if the source doesn't compile. If src/ or the devDependencies are
 * missing, as when the Docker image is built, `--after-install` prints a message and succeeds. On
 * Node 20, all three commands first install the database addon if it is missing.
 *
 * The npm script `dependencies` calls this script. The script `prepare` would work too, but
 * npm prints a warning about `prepare` when it installs a tarball.
 */
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { installAddonOnNode20, unsupportedNodeMessage } from './node-version.mjs'

const unsupported = unsupportedNodeMessage()
if (unsupported) fail(unsupported)

const { values: options } = parseArgs({
  options: { 'after-install': { type: 'boolean' }, 'if-stale': { type: 'boolean' } }
})
const root = join(import.meta.dirname, '..')
const dist = join(root, 'dist')
const command = join(dist, 'cli/index.js')
const inputs = ['src', 'seeds', 'migrations', 'package.json', 'tsconfig.json'].map((name) =>
  join(root, name)
)
const canBuild = isInstalled('esbuild') && isInstalled('dts-bundle-generator')

async function afterInstall() {
  if (!existsSync(inputs[0])) console.log('nothing built: src/ is missing')
  else if (!canBuild) console.log('nothing built: the devDependencies are not installed')
  else await build()
}

async function refresh() {
  const missing = !existsSync(command)
  if (!missing && (!existsSync(inputs[0]) || newest(inputs) <= statSync(command).mtimeMs)) return
  if (canBuild) return build()
  if (missing)
    fail(
      'dist/ is missing and the devDependencies are not installed: run `npm ci`, then `npm run ' +
        'build`'
    )
  console.warn(
    'dist/ is older than src/, and the devDependencies are not installed: starting the old build'
  )
}

async function build() {
  if (!canBuild) fail('the devDependencies are not installed: run `npm ci`')
  console.error('building dist/')
  rmSync(dist, { recursive: true, force: true })
  // Build the types first. If a type error stops the build, the command is still missing in dist/,
  // so `--if-stale` builds again.
  const { bundle, ENTRIES } = await import('./bundle.mjs')
  const { contract } = await import('./client-types.mjs')
  const types = { ...(await rollUpTypes(ENTRIES)), contract: (await contract(root)).types }
  mkdirSync(dist)
  for (const [name, text] of Object.entries(types)) {
    for (const extension of ['d.ts', 'd.cts'])
      writeFileSync(join(dist, `${name}.${extension}`), text)
  }
  await bundle(dist)
  await storeDefaultImage()
}

/**
 * Starts the server once, so that it stores the default seed as a database image in dist/. This
 * makes later starts faster.
 */
async function storeDefaultImage() {
  try {
    const { createMock } = await import(pathToFileURL(join(dist, 'index.js')))
    await (await createMock()).close()
  } catch (error) {
    console.warn(`dist/ has no database image of the default seed: ${error.message}`)
  }
}

/**
 * Returns the type declarations of each entry point as the text of one file. The declarations of a
 * fixture import types from its test runner. No other package's types are imported: types derived
 * from TypeBox schemas are written out, so that users don't need TypeBox.
 */
async function rollUpTypes(entries) {
  const { generateDtsBundle } = await import('dts-bundle-generator')
  const { clientTypes } = await import('./client-types.mjs')
  const folder = mkdtempSync(join(tmpdir(), 'notification-mock-types-'))
  try {
    for (const name of ['src', 'package.json', 'tsconfig.json']) {
      cpSync(join(root, name), join(folder, name), { recursive: true })
    }
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction')
    for (const file of CLIENT_TYPES)
      writeFileSync(join(folder, file), await clientTypes(root, join(root, file)))
    const configs = Object.values(entries).map(({ source, runner }) => ({
      filePath: join(folder, source),
      output: { exportReferencedTypes: false, noBanner: true },
      libraries: { importedLibraries: runner ? [runner] : [], allowedTypesLibraries: [] }
    }))
    const types = generateDtsBundle(configs, { preferredConfigPath: join(folder, 'tsconfig.json') })
    // This reference declares `Symbol.asyncDispose` for users whose `target` and @types/node lack
    // it.
    const withLibrary = types.map((text) => `/// <reference lib="esnext.disposable" />\n${text}`)
    return Object.fromEntries(Object.keys(entries).map((name, index) => [name, withLibrary[index]]))
  } catch (error) {
    throw new Error(`the build failed: ${error.message}`)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Source files whose exports `clientTypes` writes out as plain TypeScript. */
const CLIENT_TYPES = ['src/client/control-api.ts']

/**
 * Returns the time of the last change to any file or folder at or below the paths. A folder changes
 * when a file in it is added or removed.
 */
function newest(paths) {
  const times = paths.filter(existsSync).map((path) => {
    const stats = statSync(path)
    if (!stats.isDirectory()) return stats.mtimeMs
    return Math.max(stats.mtimeMs, newest(readdirSync(path).map((name) => join(path, name))))
  })
  return Math.max(0, ...times)
}

function isInstalled(name) {
  try {
    return Boolean(createRequire(join(root, 'package.json')).resolve(name))
  } catch {
    return false
  }
}

function fail(message) {
  console.error(message)
  process.exit(1)
}

try {
  installAddonOnNode20(root)
  if (options['after-install']) await afterInstall()
  else if (options['if-stale']) await refresh()
  else await build()
} catch (error) {
  fail(error.message)
}
