#!/usr/bin/env node
/**
 * Builds the page of src/inspector/: one HTML file, one script, one style sheet. The build of dist/ calls it; by hand it
 * builds into dist/inspector/, and with --watch again at each change.
 *
 *     node scripts/inspector.mjs [--watch]
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { build } from 'vite'

const root = join(import.meta.dirname, '..')

/** Writes the page into a folder. */
export async function buildInspector(folder, { watch = false } = {}) {
  await build({
    configFile: false,
    root: join(root, 'src/inspector'),
    logLevel: watch ? 'info' : 'warn',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
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
      rolldownOptions: { output: { entryFileNames: 'inspector.js', assetFileNames: 'inspector[extname]' } }
    }
  })
}

if (process.argv[1] === import.meta.filename) {
  const { values } = parseArgs({ options: { watch: { type: 'boolean' } } })
  await buildInspector(join(root, 'dist/inspector'), values)
}
