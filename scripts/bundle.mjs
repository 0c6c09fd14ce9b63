/** Bundles src/ into dist/. Used by build.mjs, and by tests that start the command. */
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { contract } from './client-types.mjs'
import { buildInspector } from './inspector.mjs'

const root = join(import.meta.dirname, '..')

/**
 * The package's entry points, by their file names in dist/. `runner` is the test runner that a
 * fixture extends. `importOnly` means that the entry point has no CommonJS version, because its
 * runner has none. Even such an entry point has CommonJS types, for tests in a CommonJS package.
 */
export const ENTRIES = {
  index: { source: 'src/index.ts' },
  client: { source: 'src/client/index.ts' },
  vitest: { source: 'src/fixtures/vitest.ts', runner: 'vitest', importOnly: true },
  playwright: { source: 'src/fixtures/playwright.ts', runner: '@playwright/test' }
}

const RUNNERS = Object.values(ENTRIES).flatMap(({ runner = [] }) => runner)

/**
 * Packages that Fastify loads only for two features that we don't use: its own schema compilers,
 * and `inject`.
 */
const NEVER_LOADED = [
  '@fastify/ajv-compiler',
  '@fastify/fast-json-stringify-compiler',
  'light-my-request'
]

/**
 * Loads Node's built-in modules with `require`, because `import` reads every export of a module. In
 * `node:http`, reading every export loads a WebSocket client and makes startup up to 5 % slower.
 */
const NODE_MODULES = {
  name: 'node-modules',
  setup(build) {
    build.onResolve({ filter: /^node:/ }, ({ path, kind }) =>
      kind === 'import-statement' ? { path, namespace: 'node' } : { path, external: true }
    )
    build.onLoad({ filter: /^/, namespace: 'node' }, ({ path }) => ({
      contents: `module.exports = require('${path}')`
    }))
  }
}

/**
 * Replaces undici with an empty module. `@fastify/reply-from` loads undici even if an option says
 * to use `node:http`, and undici would add 700 KB to the bundle.
 */
const WITHOUT_UNDICI = {
  name: 'without-undici',
  setup(build) {
    build.onResolve({ filter: /^undici$/ }, ({ path }) => ({ path, namespace: 'empty' }))
    build.onLoad({ filter: /^/, namespace: 'empty' }, () => ({ contents: 'module.exports = {}' }))
  }
}

/**
 * Defines `require`, which bundled CommonJS packages call for Node's built-in modules. If a user's
 * bundler converts our ES modules to CommonJS, `import.meta.url` is undefined. This code then
 * throws an error that names the fix.
 */
const REQUIRE = {
  js:
    "import { createRequire as __createRequire } from 'node:module'; " +
    'if (!import.meta.url) throw Error("notification-mock can\'t find its files: ' +
    'mark it as external in the options of your bundler"); ' +
    'const require = __createRequire(import.meta.url);'
}

/**
 * Makes entry points import each other by package name, such as `notification-mock/client`, instead
 * of bundling each other. A program then loads every entry point only once.
 */
const OTHER_ENTRIES = {
  name: 'other-entries',
  setup(build) {
    const names = new Map(
      Object.entries(ENTRIES).map(([name, { source }]) => [
        join(root, source),
        name === 'index' ? 'notification-mock' : `notification-mock/${name}`
      ])
    )
    build.onResolve({ filter: /^[.].*[.]js$/ }, ({ path, resolveDir }) => {
      const name = names.get(join(resolveDir, path.replace(/js$/, 'ts')))
      return name && { path: name, external: true }
    })
  }
}

const LOCALES = join(root, 'src/seeds/generate/locales.ts')

/**
 * Imports Faker's locales from the file at `path` instead of bundling them. The locales take up
 * 850 KB, so the ES modules and the CommonJS files share one copy.
 */
const sharedLocales = (path) => ({
  name: 'shared-locales',
  setup(build) {
    build.onResolve({ filter: /[/]locales[.]js$/ }, ({ path: imported, resolveDir }) =>
      join(resolveDir, imported.replace(/js$/, 'ts')) === LOCALES
        ? { path, external: true }
        : undefined
    )
  }
})

/**
 * Options of all bundles. Every package is bundled except the database addon and the test runners.
 */
const SHARED = {
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  target: 'node20.19',
  external: ['better-sqlite3', ...RUNNERS, ...NEVER_LOADED],
  plugins: [OTHER_ENTRIES, NODE_MODULES, WITHOUT_UNDICI],
  // Don't minify identifiers, so that stack traces stay readable.
  minifyWhitespace: true,
  minifySyntax: true,
  // Limit the line length, because Node prints the whole source line of an uncaught error.
  lineLimit: 160,
  legalComments: 'none',
  logLevel: 'warning',
  metafile: true
}

/**
 * Writes the bundles to dist/. The command and the library become ES modules with shared chunks.
 * Each entry point also becomes one CommonJS file, unless it is `importOnly`. Also writes the files
 * of the inspector, the report and the docs page.
 */
export async function bundle(dist) {
  const modules = await bundleModules(dist)
  await bundleCommonJs(dist)
  const locales = await build({
    ...SHARED,
    entryPoints: [LOCALES],
    outfile: join(dist, 'chunks/locales.cjs'),
    format: 'cjs'
  })
  await writeContract(dist)
  chmodSync(join(dist, 'cli/index.js'), 0o755)
  const files = [modules, locales].flatMap(({ metafile }) => Object.keys(metafile.inputs))
  writeFileSync(join(dist, 'THIRD-PARTY-LICENSES.txt'), licenses(files))
  await buildInspector(join(dist, 'inspector'))
}

async function bundleModules(dist) {
  const result = await build({
    ...SHARED,
    entryPoints: { index: 'src/index.ts', 'cli/index': 'src/cli/index.ts' },
    outdir: dist,
    plugins: [...SHARED.plugins, sharedLocales('./locales.cjs')],
    format: 'esm',
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    banner: REQUIRE
  })
  // The other entry points don't need the `require` banner. Allow them longer lines, because
  // browsers download the client and each line break makes it larger.
  const small = { ...SHARED, lineLimit: 700, splitting: true, chunkNames: 'chunks/[name]-[hash]' }
  for (const [name, { source }] of Object.entries(ENTRIES)) {
    if (name === 'index') continue
    await build({ ...small, entryPoints: { [name]: source }, outdir: dist, format: 'esm' })
  }
  return result
}

async function bundleCommonJs(dist) {
  const entries = Object.entries(ENTRIES).filter(([, { importOnly }]) => !importOnly)
  await build({
    ...SHARED,
    entryPoints: Object.fromEntries(entries.map(([name, { source }]) => [name, source])),
    outdir: dist,
    outExtension: { '.js': '.cjs' },
    format: 'cjs',
    plugins: [...SHARED.plugins, sharedLocales('./chunks/locales.cjs')],
    define: { 'import.meta.filename': '__filename', 'import.meta.url': '__filename' },
    // Avoid `import()`, because Jest supports it only with a flag.
    supported: { 'dynamic-import': false }
  })
}

async function writeContract(dist) {
  const { schemas } = await contract(root)
  const values = Object.entries(schemas).map(([name, schema]) => [name, JSON.stringify(schema)])
  writeFileSync(
    join(dist, 'contract.js'),
    values.map(([name, json]) => `export const ${name} = ${json}\n`).join('')
  )
  writeFileSync(
    join(dist, 'contract.cjs'),
    values.map(([name, json]) => `exports.${name} = ${json}\n`).join('')
  )
}

/**
 * Returns the license texts of the bundled packages. The licenses require that every copy contains
 * these texts.
 */
function licenses(files) {
  const folders = new Set(
    files.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? [])
  )
  return [...folders.add('node_modules/preact')]
    .sort()
    .map(licenseOf)
    .join(`\n${'-'.repeat(80)}\n\n`)
}

function licenseOf(folder) {
  const { name, version, license } = JSON.parse(
    readFileSync(join(root, folder, 'package.json'), 'utf8')
  )
  const file = readdirSync(join(root, folder)).find((fileName) => /^licen[cs]e/i.test(fileName))
  const text = file ? readFileSync(join(root, folder, file), 'utf8') : `${license}\n`
  return `${name} ${version}\n\n${text}`
}
