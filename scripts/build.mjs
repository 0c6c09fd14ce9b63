#!/usr/bin/env node
/**
 * Builds dist/ from src/: one bundle, the command and the library that load it, and the types.
 *
 *     node scripts/build.mjs              build, whatever is there
 *     node scripts/build.mjs --prepare    after an install: build if there is something to build and to build with
 *     node scripts/build.mjs --if-stale   before a start: build only if dist/ is missing or older than the source
 *
 * Installing without devDependencies, or before the source is there (as an image build does), is not a mistake, so
 * --prepare then says so and succeeds. A compile error always fails: better at the install than at the first start.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startAndAsk } from './start-and-ask.mjs'

const { values: options } = parseArgs({ options: { prepare: { type: 'boolean' }, 'if-stale': { type: 'boolean' } } })
const root = join(import.meta.dirname, '..')
const dist = join(root, 'dist')
const command = join(dist, 'cli/index.cjs')
const inputs = ['src', 'seeds', 'migrations', 'package.json', 'tsconfig.json', 'tsconfig.build.json'].map((name) =>
  join(root, name)
)
const compiler = findCompiler()

async function prepare() {
  if (!existsSync(inputs[0])) console.log('nothing built: there is no src/ yet')
  else if (!compiler) console.log('nothing built: the compiler is a devDependency, and those are not installed')
  else await build()
}

async function refresh() {
  const missing = !existsSync(command)
  if (!missing && (!existsSync(inputs[0]) || newest(inputs) <= statSync(command).mtimeMs)) return
  if (compiler) return build()
  if (missing) fail('dist/ is missing and the compiler is not installed: run `npm ci` and then `npm run build`')
  console.warn('dist/ is older than src/, and the compiler is not installed: starting what was built before')
}

async function build() {
  if (!compiler) fail('the compiler is not installed: run `npm ci`')
  console.error('building dist/')
  rmSync(dist, { recursive: true, force: true })
  // The types that users of the library see. Nothing is written on an error, so that a half-built dist/ cannot pass for
  // a fresh one.
  mkdirSync(dist)
  run(compiler, '-p', join(root, 'tsconfig.build.json'), '--noEmitOnError')
  await bundle()
  chmodSync(command, 0o755)
  run('-e', TEMPLATE)
  await leaveCodeCache()
}

/**
 * One CommonJS file of our code and what it needs: of many files reading them would take most of a start, and of modules
 * Node 20 can't keep what V8 has compiled. Not in it are the database addon, and what few starts need.
 */
async function bundle() {
  const { build: esbuild } = await import('esbuild')
  const shared = {
    absWorkingDir: root,
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    format: 'cjs',
    define: { 'import.meta.url': 'importMetaUrl' },
    // An import() of what is in no bundle is a require, too: a script from the cache has no import().
    supported: { 'dynamic-import': false },
    logLevel: 'warning'
  }
  const { metafile } = await esbuild({
    ...shared,
    entryPoints: ['src/bundle.ts'],
    outfile: BUNDLE,
    banner: { js: `(function (exports, require, module, __filename, __dirname) {${IMPORT_META_URL}` },
    footer: { js: '})' },
    external: ['better-sqlite3', '@fastify/swagger', '@fastify/swagger-ui', 'pino-pretty'],
    legalComments: 'none',
    // Names stay, for stack traces.
    minifyWhitespace: true,
    metafile: true
  })
  writeFileSync(join(dist, 'THIRD-PARTY-LICENSES.txt'), licenses(Object.keys(metafile.inputs)))
  if (/[^\0-\x7f]/.test(readFileSync(join(root, BUNDLE), 'utf8'))) fail(`${BUNDLE} is not in ASCII, as it is read`)
  await esbuild({
    ...shared,
    entryPoints: ['src/cli/index.ts'],
    outfile: 'dist/cli/index.cjs',
    banner: { js: IMPORT_META_URL },
    plugins: [fromCache]
  })
  await esbuild({ ...shared, entryPoints: ['src/code-cache.ts'], outfile: 'dist/code-cache.cjs' })
  writeFileSync(join(dist, 'index.js'), LIBRARY)
}

const BUNDLE = 'dist/bundle.script.js'
const TEMPLATE = `
  const { requireCached } = require('./code-cache.cjs')
  requireCached(${JSON.stringify(join(root, BUNDLE))}).template().then(({ writeTemplate }) => writeTemplate())`
const IMPORT_META_URL = "const importMetaUrl = require('node:url').pathToFileURL(__filename).href"

/** The command loads the bundle through the code cache. */
const fromCache = {
  name: 'from-cache',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^\.\.\/bundle\.js$/ }, () => ({ path: 'bundle', namespace: 'from-cache' }))
    onLoad({ filter: /.*/, namespace: 'from-cache' }, () => ({
      contents: `
        import { basename, join } from 'node:path'
        import { requireCached } from './src/code-cache.ts'
        export const { program } = requireCached(join(__dirname, '..', ${JSON.stringify(basename(BUNDLE))}))`,
      resolveDir: root
    }))
  }
}

const LIBRARY = `import { basename, join } from 'node:path'
import cache from './code-cache.cjs'
const bundle = cache.requireCached(join(import.meta.dirname, ${JSON.stringify(basename(BUNDLE))}))
export const { createMock, SeedError, StartError } = await bundle.library()
`

/** What the licences of the bundled packages ask for: that they go with it. */
function licenses(files) {
  const folders = new Set(
    files.flatMap((file) => /^node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+/.exec(file) ?? [])
  )
  return [...folders]
    .sort()
    .map(licenseOf)
    .join(`\n${'-'.repeat(80)}\n\n`)
}

function licenseOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
  const file = readdirSync(join(root, folder)).find((each) => /^licen[cs]e/i.test(each))
  const text = file ? readFileSync(join(root, folder, file), 'utf8') : `${license}\n`
  return `${name} ${version}\n\n${text}`
}

/** A first start, so that all later ones, also a user's first, find compiled what they need. */
async function leaveCodeCache() {
  const isThere = () => readdirSync(dist).some((name) => name.endsWith('.cache'))
  const meanwhile = async () => {
    const patience = AbortSignal.timeout(10_000)
    while (!isThere() && !patience.aborted) await delay(50)
  }
  try {
    await startAndAsk({ command: process.execPath, args: [command, '--port', '0', '--json'], cwd: dist, meanwhile })
  } catch (error) {
    console.warn(`no code cache was left: ${error.message}`)
  }
}

function run(...args) {
  const { status } = spawnSync(process.execPath, args, { cwd: dist, stdio: 'inherit' })
  if (status !== 0) fail('the build failed')
}

/** Folders count too: theirs is the time at which a file was last added or removed. */
function newest(paths) {
  const times = paths.filter(existsSync).map((path) => {
    const stats = statSync(path)
    if (!stats.isDirectory()) return stats.mtimeMs
    return Math.max(stats.mtimeMs, newest(readdirSync(path).map((name) => join(path, name))))
  })
  return Math.max(0, ...times)
}

function findCompiler() {
  try {
    return createRequire(join(root, 'package.json')).resolve('typescript/bin/tsc')
  } catch {
    return undefined
  }
}

function fail(sentence) {
  console.error(sentence)
  process.exit(1)
}

if (options.prepare) await prepare()
else if (options['if-stale']) await refresh()
else await build()
