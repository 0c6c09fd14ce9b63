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
import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { bundle } from './bundle.mjs'
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
  await bundle(dist)
  await leaveCodeCache()
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
