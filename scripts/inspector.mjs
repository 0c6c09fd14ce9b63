#!/usr/bin/env node
/**
 * Builds src/inspector/: the inspector (one HTML file, one script, one style sheet), the template
 * of the report (one self-contained HTML file), and the style sheet of the pages at /docs.
 * `npm run build` uses this script. When you run it by hand, it builds into dist/inspector/.
 * `--watch` rebuilds the inspector on every change.
 *
 *     node scripts/inspector.mjs [--watch]
 */
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { build as bundle } from 'esbuild'
import { build } from 'vite'

const root = join(import.meta.dirname, '..')

/**
 * Makes the dynamic import in src/client/ static. For a dynamic import, Vite would add code that
 * loads style sheets, and the inspector doesn't need that code because it is built as one script.
 */
const STATIC_IMPORTS = {
  name: 'static-imports',
  enforce: 'pre',
  transform(code, id) {
    const [dynamicImport, path] = /await import\('(.+?)'\)/.exec(code) ?? []
    if (!id.includes('/src/client/') || dynamicImport === undefined) return null
    return {
      code: `import * as loaded from '${path}'\n${code.replaceAll(dynamicImport, 'loaded')}`,
      map: null
    }
  }
}

/** Builds everything in src/inspector/ into a folder. */
export async function buildInspector(folder, { watch = false } = {}) {
  await build({
    configFile: false,
    root: join(root, 'src/inspector'),
    logLevel: watch ? 'info' : 'warn',
    plugins: [STATIC_IMPORTS],
    // Without `development: false`, Vite would make a development build when Vitest runs this code,
    // because Vitest sets NODE_ENV to "test".
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact', development: false } },
    // Use relative URLs, so that the inspector also works behind a proxy that adds a path prefix.
    base: './',
    experimental: { renderBuiltUrl: (name) => `inspector/${name}` },
    build: {
      outDir: folder,
      emptyOutDir: true,
      target: 'es2023',
      modulePreload: false,
      assetsInlineLimit: 4096,
      watch: watch ? {} : null,
      rolldownOptions: {
        output: {
          codeSplitting: false,
          entryFileNames: 'inspector.js',
          assetFileNames: 'inspector[extname]'
        }
      }
    }
  })
  await buildReport(join(folder, 'report.html'))
  await bundle({
    entryPoints: [join(root, 'src/inspector/docs.css')],
    outfile: join(folder, 'docs.css'),
    bundle: true,
    minify: true,
    target: 'es2023'
  })
}

/**
 * Writes the template of the report, an HTML file without data. The template's
 * Content-Security-Policy allows only the script in the template.
 */
async function buildReport(file) {
  const { outputFiles } = await bundle({
    entryPoints: [join(root, 'src/inspector/report/main.tsx')],
    outdir: root,
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2023',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    loader: { '.svg': 'dataurl' },
    write: false
  })
  const outputWith = (extension) =>
    outputFiles.find(({ path }) => path.endsWith(extension))?.text.trim() ?? ''
  const script = outputWith('.js').replaceAll('</script', '<\\/script')
  const page = readFileSync(join(root, 'src/inspector/report/report.html'), 'utf8')
    .replace(
      '<meta charset="utf-8">',
      `$&\n<meta http-equiv="content-security-policy" content="${reportPolicy(script)}">`
    )
    .replace('<style></style>', () => `<style>${outputWith('.css')}</style>`)
    .replace('<script type="module"></script>', () => `<script type="module">${script}</script>`)
  writeFileSync(file, page)
}

function reportPolicy(script) {
  const hash = createHash('sha256').update(script).digest('base64')
  return [
    "default-src 'none'",
    `script-src 'sha256-${hash}'`,
    // Email previews are frames that inherit this policy, so inline styles must be allowed.
    "style-src 'unsafe-inline'",
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'"
  ].join('; ')
}

if (process.argv[1] === import.meta.filename) {
  const { values } = parseArgs({ options: { watch: { type: 'boolean' } } })
  await buildInspector(join(root, 'dist/inspector'), values)
}
