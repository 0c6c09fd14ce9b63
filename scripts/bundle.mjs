/**
 * Makes what is run of dist/ from src/: the bundle, the command and the library that load it, and the template of the
 * database. For the build, and for tests that start the command.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')

/**
 * One CommonJS file of our code and what it needs: of many files reading them would take most of a start, and of modules
 * Node 20 can't keep what V8 has compiled. Not in it are the database addon, and what few starts need.
 */
export async function bundle(dist) {
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
    outfile: join(dist, BUNDLE),
    banner: { js: `(function (exports, require, module, __filename, __dirname) {${IMPORT_META_URL}` },
    footer: { js: '})' },
    external: ['better-sqlite3', '@fastify/swagger', '@fastify/swagger-ui', 'pino-pretty'],
    legalComments: 'none',
    // Names stay, for stack traces.
    minifyWhitespace: true,
    metafile: true
  })
  writeFileSync(join(dist, 'THIRD-PARTY-LICENSES.txt'), licenses(Object.keys(metafile.inputs)))
  if (/[^\0-\x7f]/.test(readFileSync(join(dist, BUNDLE), 'utf8')))
    throw new Error(`${BUNDLE} is not in ASCII, as it is read`)
  await esbuild({
    ...shared,
    entryPoints: ['src/cli/index.ts'],
    outfile: join(dist, 'cli/index.cjs'),
    banner: { js: IMPORT_META_URL },
    plugins: [fromCache]
  })
  await esbuild({ ...shared, entryPoints: ['src/code-cache.ts'], outfile: join(dist, 'code-cache.cjs') })
  writeFileSync(join(dist, 'index.js'), LIBRARY)
  chmodSync(join(dist, 'cli/index.cjs'), 0o755)
  run(dist, 'validators', `writeValidators('${SOURCES}')`)
  const sources = join(dist, SOURCES)
  const entryPoints = readdirSync(sources).map((name) => join(sources, name))
  const options = { outExtension: { '.js': '.cjs' }, minifyWhitespace: true, legalComments: 'none' }
  await esbuild({ ...shared, entryPoints, outdir: join(dist, 'validators'), ...options })
  rmSync(sources, { recursive: true })
  run(dist, 'template', 'writeTemplate()')
}

/** Calls a function of a part of the bundle, in a process of its own. */
function run(dist, part, call) {
  const script = `${loadBundle('process.cwd()')}.${part}().then((loaded) => loaded.${call})`
  execFileSync(process.execPath, ['-e', script], { cwd: dist, stdio: ['ignore', 'ignore', 'inherit'] })
}

function loadBundle(folder) {
  return `require('./code-cache.cjs').requireCached(require('node:path').join(${folder}, '${BUNDLE}'))`
}

const BUNDLE = 'bundle.script.js'
const SOURCES = 'validators-source'
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
        export const { program } = requireCached(join(__dirname, '..', ${JSON.stringify(BUNDLE)}))`,
      resolveDir: root
    }))
  }
}

const LIBRARY = `import { basename, join } from 'node:path'
import cache from './code-cache.cjs'
const bundle = cache.requireCached(join(import.meta.dirname, ${JSON.stringify(BUNDLE)}))
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
