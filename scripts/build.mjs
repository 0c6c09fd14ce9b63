#!/usr/bin/env node
/**
 * Compiles src/ to dist/.
 *
 *     node scripts/build.mjs              build, whatever is there
 *     node scripts/build.mjs --prepare    after an install: build if there is something to build and to build with
 *     node scripts/build.mjs --if-stale   before a start: build only if dist/ is missing or older than the source
 *
 * Installing without devDependencies, or before the source is there (as an image build does), is not a mistake, so
 * --prepare then says so and succeeds. A compile error always fails: better at the install than at the first start.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const { values: options } = parseArgs({ options: { prepare: { type: 'boolean' }, 'if-stale': { type: 'boolean' } } })
const root = join(import.meta.dirname, '..')
const command = join(root, 'dist/cli/index.js')
const inputs = ['src', 'package.json', 'tsconfig.json', 'tsconfig.build.json'].map((name) => join(root, name))
const compiler = findCompiler()

if (options.prepare) prepare()
else if (options['if-stale']) refresh()
else build()

function prepare() {
  if (!existsSync(inputs[0])) console.log('nothing built: there is no src/ yet')
  else if (!compiler) console.log('nothing built: the compiler is a devDependency, and those are not installed')
  else build()
}

function refresh() {
  const missing = !existsSync(command)
  if (!missing && (!existsSync(inputs[0]) || newest(inputs) <= statSync(command).mtimeMs)) return
  if (compiler) return build()
  if (missing) fail('dist/ is missing and the compiler is not installed: run `npm ci` and then `npm run build`')
  console.warn('dist/ is older than src/, and the compiler is not installed: starting what was built before')
}

function build() {
  if (!compiler) fail('the compiler is not installed: run `npm ci`')
  console.error('building dist/')
  rmSync(join(root, 'dist'), { recursive: true, force: true })
  // Nothing is written on an error, so that a half-built dist/ cannot pass for a fresh one.
  const arguments_ = [compiler, '-p', join(root, 'tsconfig.build.json'), '--noEmitOnError']
  const { status } = spawnSync(process.execPath, arguments_, { stdio: 'inherit' })
  if (status !== 0) fail('the build failed')
  chmodSync(command, 0o755)
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
