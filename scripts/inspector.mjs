#!/usr/bin/env node
/**
 * Builds the page of src/inspector/: one HTML file, one script, one style sheet; and the report of a run, which is one file.
 * The build of dist/ calls it; by hand it builds into dist/inspector/, and with --watch the page again at each change.
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

/** Writes the page into a folder, and beside it the file that reports are made of. */
export async function buildInspector(folder, { watch = false } = {}) {
  await build({
    configFile: false,
    root: join(root, 'src/inspector'),
    logLevel: watch ? 'info' : 'warn',
    // Else NODE_ENV decides, as under tests.
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact', development: false } },
    // The page stands at the root of the server, or wherever a proxy puts that, and its files in a folder beside it.
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
}

/** Writes the file that a report is made of: without data, and with its script and style in it, which alone may run. */
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
  const textOf = (extension) =>
    outputFiles.find(({ path }) => path.endsWith(extension))?.text.trim() ?? ''
  const script = textOf('.js').replaceAll('</script', '<\\/script')
  const hash = createHash('sha256').update(script).digest('base64')
  // A frame inherits the policy: without inline styles an email would look like none of its kind.
  const looks = "style-src 'unsafe-inline'; img-src data:"
  const policy = `default-src 'none'; script-src 'sha256-${hash}'; ${looks}; base-uri 'none'; form-action 'none'`
  const filled = readFileSync(join(root, 'src/inspector/report/report.html'), 'utf8')
    .replace(
      '<meta charset="utf-8">',
      `$&\n<meta http-equiv="content-security-policy" content="${policy}">`
    )
    .replace('<style></style>', () => `<style>${textOf('.css')}</style>`)
    .replace('<script type="module"></script>', () => `<script type="module">${script}</script>`)
  writeFileSync(file, filled)
}

if (process.argv[1] === import.meta.filename) {
  const { values } = parseArgs({ options: { watch: { type: 'boolean' } } })
  await buildInspector(join(root, 'dist/inspector'), values)
}
