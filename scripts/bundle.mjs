/** Makes what is run of dist/ from src/, for the build and for tests that start the command. */
import { chmodSync, cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { build } from 'esbuild'
import { contract } from './client-types.mjs'
import { buildInspector } from './inspector.mjs'

const root = join(import.meta.dirname, '..')

/**
 * What can be imported of the package, by the names in dist/: where it stands, the test runner that it extends, and whether
 * `require` can't load it, as it can't load the runner. (Its types are for CommonJS too: the runner compiles such tests.)
 */
export const ENTRIES = {
  index: { source: 'src/index.ts' },
  client: { source: 'src/client/index.ts' },
  vitest: { source: 'src/fixtures/vitest.ts', runner: 'vitest', importOnly: true },
  playwright: { source: 'src/fixtures/playwright.ts', runner: '@playwright/test' }
}

/** What the docs page loads. */
const SWAGGER_UI_FILES = [
  'swagger-ui.css',
  'index.css',
  'swagger-ui-bundle.js',
  'favicon-16x16.png',
  'favicon-32x32.png'
]

const RUNNERS = Object.values(ENTRIES).flatMap(({ runner = [] }) => runner)

/** What Fastify loads only for what we don't use: its own compilers of schemas (`http/validation.ts`), and `inject`. */
const NEVER_LOADED = [
  '@fastify/ajv-compiler',
  '@fastify/fast-json-stringify-compiler',
  'light-my-request'
]

/**
 * Loads Node's own modules as `require` does. An `import` reads all that such a module exports, of `node:http` a WebSocket
 * client too, which costs a start up to a twentieth.
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

/** Bundled CommonJS packages load Node's own modules by `require`. */
const REQUIRE = {
  js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);"
}

/** Loads another entry by the name of the package, so that there is one copy of it, whichever way it is loaded. */
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

/**
 * Writes the command and the library as ECMAScript modules that share their chunks, each entry as one CommonJS file
 * beside them, the page and the files of the docs page. All packages but the database addon and test runners are bundled.
 */
export async function bundle(dist) {
  const shared = {
    absWorkingDir: root,
    bundle: true,
    platform: 'node',
    target: 'node20.19',
    external: ['better-sqlite3', ...RUNNERS, ...NEVER_LOADED],
    plugins: [OTHER_ENTRIES, NODE_MODULES],
    // Names stay, for stack traces.
    minifyWhitespace: true,
    minifySyntax: true,
    // Node prints the whole line of an error that nobody catches.
    lineLimit: 160,
    sourcemap: true,
    sourcesContent: false,
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true
  }
  const { metafile } = await build({
    ...shared,
    entryPoints: { index: 'src/index.ts', 'cli/index': 'src/cli/index.ts' },
    outdir: dist,
    format: 'esm',
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    banner: REQUIRE
  })
  const { index: _, ...others } = ENTRIES
  const sources = (entries) =>
    Object.fromEntries(Object.entries(entries).map(([name, { source }]) => [name, source]))
  // Without the banner, and in no more bytes than needed: the client runs in a browser.
  const small = { ...shared, lineLimit: 0, splitting: true, chunkNames: 'chunks/[name]-[hash]' }
  for (const [name, { source }] of Object.entries(others)) {
    await build({ ...small, entryPoints: { [name]: source }, outdir: dist, format: 'esm' })
  }
  const required = Object.entries(ENTRIES).filter(([, { importOnly }]) => !importOnly)
  await build({
    ...shared,
    entryPoints: sources(Object.fromEntries(required)),
    outdir: dist,
    outExtension: { '.js': '.cjs' },
    format: 'cjs',
    define: { 'import.meta.filename': '__filename', 'import.meta.url': '__filename' },
    // Jest takes no `import()` without a flag.
    supported: { 'dynamic-import': false }
  })
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
  chmodSync(join(dist, 'cli/index.js'), 0o755)
  writeFileSync(join(dist, 'THIRD-PARTY-LICENSES.txt'), licenses(Object.keys(metafile.inputs)))
  const swaggerUi = dirname(
    createRequire(import.meta.url).resolve('@fastify/swagger-ui/package.json')
  )
  await buildInspector(join(dist, 'inspector'))
  for (const name of SWAGGER_UI_FILES)
    cpSync(join(swaggerUi, 'static', name), join(dist, 'swagger-ui', name))
}

/** Returns the licences of the bundled packages and of the pages, which ask to be passed on. */
function licenses(files) {
  const folders = new Set(
    files.flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? [])
  )
  return [...folders.add('node_modules/@fastify/swagger-ui').add('node_modules/preact')]
    .sort()
    .map(licenseOf)
    .join(`\n${'-'.repeat(80)}\n\n`)
}

function licenseOf(folder) {
  const { name, version, license } = JSON.parse(
    readFileSync(join(root, folder, 'package.json'), 'utf8')
  )
  const file = readdirSync(join(root, folder)).find((each) => /^licen[cs]e/i.test(each))
  const text = file ? readFileSync(join(root, folder, file), 'utf8') : `${license}\n`
  return `${name} ${version}\n\n${text}`
}
