#!/usr/bin/env node
/**
 * Builds dist/ from src/: the command, the library, and its types.
 *
 *     node scripts/build.mjs                   build, whatever is there
 *     node scripts/build.mjs --after-install   build if there is something to build and to build with
 *     node scripts/build.mjs --if-stale        build only if dist/ is missing or older than the source
 *
 * Installing without devDependencies, or before the source is there (as an image build does), is not an error, so
 * --after-install then says so and succeeds. A compile error always fails: better at the install than at the first start.
 * On Node 20 all three install the database addon first if it is missing.
 * (The script `dependencies` of package.json runs it, not `prepare`: npm warns of that one where a tarball is installed.)
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
  if (!existsSync(inputs[0])) console.log('nothing built: there is no src/ yet')
  else if (!canBuild)
    console.log('nothing built: the compiler is a devDependency, and those are not installed')
  else await build()
}

async function refresh() {
  const missing = !existsSync(command)
  if (!missing && (!existsSync(inputs[0]) || newest(inputs) <= statSync(command).mtimeMs)) return
  if (canBuild) return build()
  if (missing)
    fail(
      'dist/ is missing and the compiler is not installed: run `npm ci` and then `npm run build`'
    )
  console.warn(
    'dist/ is older than src/, and the compiler is not installed: starting what was built before'
  )
}

async function build() {
  if (!canBuild) fail('the compiler is not installed: run `npm ci`')
  console.error('building dist/')
  rmSync(dist, { recursive: true, force: true })
  // First, since it fails on an error in any file: a half-built dist/ must not pass for a fresh one.
  const { bundle, ENTRIES } = await import('./bundle.mjs')
  const { contract } = await import('./client-types.mjs')
  const types = { ...(await rollUpTypes(ENTRIES)), contract: (await contract(root)).types }
  mkdirSync(dist)
  for (const [name, text] of Object.entries(types)) {
    for (const extension of ['d.ts', 'd.cts'])
      writeFileSync(join(dist, `${name}.${extension}`), text)
  }
  await bundle(dist)
  await keepImage()
}

/** Starts the server once: it keeps the default seed as a database image in dist/. Without one the first start does. */
async function keepImage() {
  try {
    const { createMock } = await import(pathToFileURL(join(dist, 'index.js')))
    await (await createMock()).close()
  } catch (error) {
    console.warn(`dist/ has no image of the default seed: ${error.message}`)
  }
}

/**
 * Returns the declarations of each entry as one file, which names no other package's types but those of the test runner
 * that a fixture extends. What is typed by a schema is printed from it: the types of TypeBox would be such types.
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
    // For `Symbol.asyncDispose`, which only the newest targets and the types of Node declare.
    const text = types.map((each) => `/// <reference lib="esnext.disposable" />\n${each}`)
    return Object.fromEntries(Object.keys(entries).map((name, index) => [name, text[index]]))
  } catch (error) {
    throw new Error(`the build failed: ${error.message}`)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The sources that give schemas' types and nothing else. */
const CLIENT_TYPES = ['src/client/control-api.ts']

/** Returns the time of the latest change. Folders count too: theirs is when a file was last added or removed. */
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

function fail(sentence) {
  console.error(sentence)
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
