#!/usr/bin/env node
/**
 * Runs every check of CI except the tests: `npm run check`.
 *
 *     node scripts/check.mjs                 runs all steps and lists their names at the end
 *     node scripts/check.mjs lint types      runs these steps, and the steps that they need
 *
 * If a step fails, only the steps that need it are skipped. Exits 1 if a step failed.
 */
import { spawnSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { styleText } from 'node:util'
import { startAndRequest } from './start-and-request.mjs'

/** Thrown when a step fails for a known reason, so that no stack trace is printed. */
class Failed extends Error {}

const root = join(import.meta.dirname, '..')
const scratch = mkdtempSync(join(tmpdir(), 'check-'))
const { version, bin, exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const hasColors = Boolean(process.stdout.isTTY) && !process.env.NO_COLOR
const environment = {
  ...process.env,
  // Prefer npm's cache, because it already contains this checkout's dependencies.
  npm_config_prefer_offline: 'true',
  PATH: [join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter),
  ...(hasColors ? {} : { NO_COLOR: '1', FORCE_COLOR: undefined })
}

/** The files that belong in the package: no images, source maps or pages for contributors. */
const PACKED = [
  /^(dist|migrations|seeds)\/.*(?<!\.map)$/,
  /^docs\/[\w-]+\.md$/,
  /^(package\.json|LICENSE|(README|CHANGELOG|SKILL)\.md|llms\.txt)$/
]

/** The largest allowed size of the unpacked package, in bytes. */
const MAX_PACKAGE_SIZE = 8_000_000

const STEPS = [
  {
    name: 'lint',
    title: 'Format and lint',
    run: () => tool('biome', ['ci', ...(hasColors ? [] : ['--colors=off'])])
  },
  {
    name: 'types',
    title: 'Type check, including the tests',
    run: () => tool('npm', ['run', '--silent', 'typecheck'])
  },
  { name: 'unused', title: 'Unused files, exports and dependencies', run: () => tool('knip') },
  {
    name: 'dependencies',
    title: 'Import rules, and sizes of files and functions',
    run: () => script('check-dependencies.mjs')
  },
  {
    name: 'migrations',
    title: 'Migrations match the schema',
    run: () => script('check-migrations.mjs')
  },
  {
    name: 'docs',
    title: 'The generated docs are up to date',
    run: () => tool('tsx', ['scripts/docs.ts', '--check'])
  },
  {
    name: 'seed-schema',
    title: 'The seed schema is up to date',
    run: () => tool('tsx', ['scripts/seed-schema.ts', '--check'])
  },
  {
    name: 'examples',
    title: 'The examples in the OpenAPI document are up to date',
    run: () => tool('tsx', ['scripts/examples.ts', '--check'])
  },
  {
    name: 'llms',
    title: 'llms.txt is up to date',
    run: () => tool('tsx', ['scripts/llms.ts', '--check'])
  },
  { name: 'container', title: 'Container files', run: () => script('lint-container.mjs') },
  // In CI, `npm ci` has already built dist/, so `--if-stale` leaves dist/ unchanged. Tests can
  // therefore use dist/ while this step runs.
  { name: 'build', title: 'Build', run: () => script('build.mjs', ['--if-stale']) },
  {
    name: 'start',
    title: 'The built server starts, responds and stops',
    needs: 'build',
    run: startBuilt
  },
  { name: 'pack', title: 'The package has the right files and size', needs: 'build', run: pack },
  {
    name: 'package',
    title: 'publint and attw accept the package',
    needs: 'pack',
    run: lintPackage
  },
  {
    name: 'install',
    title: 'The package installs and runs in an empty folder',
    needs: 'pack',
    run: installPackage
  }
]

try {
  process.exitCode = await main(process.argv.slice(2))
} finally {
  rmSync(scratch, { recursive: true, force: true })
}

async function main(names) {
  const unknown = names.filter((name) => !STEPS.some((step) => step.name === name))
  if (unknown.length > 0) {
    console.error(
      `unknown step: ${unknown.join(' ')}. Steps: ${STEPS.map(({ name }) => name).join(' ')}`
    )
    return 2
  }
  const results = []
  for (const step of names.length > 0 ? withNeeds(names) : STEPS)
    results.push(await runStep(step, results))
  printTable(results)
  return results.every(({ outcome }) => outcome === 'ok') ? 0 : 1
}

/** Returns the steps with these names and the steps that they need. */
function withNeeds(wanted) {
  const names = new Set(wanted)
  // Each step comes after the step that it needs, so iterating backward adds indirect needs too.
  for (const { name, needs } of STEPS.toReversed()) if (names.has(name) && needs) names.add(needs)
  return STEPS.filter(({ name }) => names.has(name))
}

async function runStep({ name, title, needs, run }, earlier) {
  console.log(`\n${styled('bold', `== ${title} (${name})`)}`)
  if (needs && earlier.find((result) => result.name === needs)?.outcome !== 'ok') {
    console.log(`skipped: ${needs} failed`)
    return { name, title, outcome: 'skipped', seconds: 0 }
  }
  const startedAt = performance.now()
  const failure = await Promise.resolve()
    .then(run)
    .then(
      () => undefined,
      (error) => error
    )
  const seconds = (performance.now() - startedAt) / 1000
  if (failure)
    console.log(styled('red', failure instanceof Failed ? failure.message : failure.stack))
  console.log(`${failure ? 'FAILED' : 'ok'} after ${seconds.toFixed(1)} s`)
  return { name, title, outcome: failure ? 'FAILED' : 'ok', seconds }
}

function printTable(results) {
  const width = Math.max(...results.map(({ name }) => name.length))
  console.log(`\n${styled('bold', '== Summary')}`)
  for (const { name, title, outcome, seconds } of results) {
    const duration = `${seconds.toFixed(1).padStart(6)} s`
    const line = `${outcome.padEnd(8)} ${duration}  ${name.padEnd(width)}  ${title}`
    console.log(outcome === 'ok' ? line : styled('red', line))
  }
}

async function startBuilt() {
  const args = [join(root, 'dist/cli/index.js'), '--port', '0', '--json']
  // Start in an empty folder, so that the server can't depend on files of this checkout.
  console.log(
    await asFailure(
      startAndRequest({
        command: process.execPath,
        args,
        cwd: emptyFolder('start'),
        env: environment
      })
    )
  )
}

/**
 * Packs the package as `npm publish` does, including its npm scripts. Checks the names and the
 * total size of the packed files.
 */
function pack() {
  const folder = emptyFolder('pack')
  tool('npm', ['pack', '--pack-destination', folder, '--loglevel', 'warn'])
  const files = tool('tar', ['-tzf', tarball()], { quiet: true }).split('\n').filter(Boolean)
  const names = files.map((file) => file.replace(/^package\//, ''))
  const missing = [
    'LICENSE',
    'README.md',
    'CHANGELOG.md',
    'llms.txt',
    ...filesIn(bin),
    ...filesIn(exports)
  ]
    .filter((name) => !names.includes(name))
    .concat(
      ['docs/', 'migrations/', 'seeds/', 'dist/inspector/'].filter(
        (start) => !names.some((name) => name.startsWith(start))
      )
    )
  const unexpected = names.filter((name) => !PACKED.some((pattern) => pattern.test(name)))
  if (missing.length > 0) throw new Failed(`missing from the package: ${missing.join(', ')}`)
  if (unexpected.length > 0) throw new Failed(`unexpected in the package: ${unexpected.join(', ')}`)
  const size = unpackedSize()
  if (size > MAX_PACKAGE_SIZE)
    throw new Failed(`the unpacked package has ${size} bytes, more than ${MAX_PACKAGE_SIZE}`)
  console.log(`${names.length} files, ${size} bytes unpacked`)
}

/** Returns the total size of the package's files, which npm calls the unpacked size. */
function unpackedSize() {
  const folder = emptyFolder('unpacked')
  tool('tar', ['-xzf', tarball(), '-C', folder])
  return readdirSync(folder, { recursive: true })
    .map((name) => statSync(join(folder, name)))
    .reduce((total, entry) => (entry.isFile() ? total + entry.size : total), 0)
}

/** Returns the paths in `bin` or `exports` of package.json. */
function filesIn(field) {
  return typeof field === 'string'
    ? [field.replace('./', '')]
    : Object.values(field).flatMap(filesIn)
}

function lintPackage() {
  tool('publint', ['run', tarball(), '--strict'])
  tool('attw', [
    tarball(),
    '--profile',
    'strict',
    '--no-emoji',
    ...(hasColors ? [] : ['--no-color'])
  ])
}

async function installPackage() {
  const cwd = emptyFolder('install')
  // Without a package.json, npm would use one from a parent folder.
  writeFileSync(join(cwd, 'package.json'), '{ "private": true }\n')
  tool('npm', ['install', '--no-audit', '--no-fund', '--loglevel', 'error', tarball()], { cwd })
  resolveWithNpm10()
  const printed = tool('npx', ['--no-install', 'notification-mock', '--version'], {
    cwd,
    quiet: true
  }).trim()
  if (printed !== version) throw new Failed(`--version printed ${printed} instead of ${version}`)
  // Don't start the server with npx, which swallows the signal that stops the server.
  const command = join(cwd, 'node_modules/notification-mock/dist/cli/index.js')
  const args = [command, '--port', '0', '--json']
  console.log(
    await asFailure(
      startAndRequest({ command: process.execPath, args, cwd, env: outsideEnvironment() })
    )
  )
}

/**
 * Checks that npm 10, which comes with Node 20, can resolve the package's dependencies. Unlike
 * later versions, npm 10 rejects some version ranges of optional peers. Checks this in an empty
 * project and in a project with the oldest Vitest that the package supports.
 */
function resolveWithNpm10() {
  const resolve = ['npm@10.8.2', 'install', '--package-lock-only', '--no-audit', '--no-fund']
  const others = [[], ['vitest@3.2.0']]
  for (const [index, packages] of others.entries()) {
    const cwd = emptyFolder(`install-npm-10-${index}`)
    writeFileSync(join(cwd, 'package.json'), '{ "private": true }\n')
    const args = ['exec', '--yes', '--', ...resolve, '--loglevel', 'error', tarball(), ...packages]
    tool('npm', args, { cwd })
  }
}

function tarball() {
  const folder = join(scratch, 'pack')
  const name = readdirSync(folder).find((file) => file.endsWith('.tgz'))
  if (!name) throw new Failed('npm pack wrote no tarball')
  return join(folder, name)
}

function script(name, args = []) {
  return tool(process.execPath, [join(root, 'scripts', name), ...args])
}

/**
 * Runs a command and prints its output. With `quiet`, returns its stdout instead of printing it.
 * Throws `Failed` if the command fails.
 */
function tool(command, args = [], { cwd = root, quiet = false } = {}) {
  const { status, signal, error, stdout } = spawnSync(command, args, {
    cwd,
    env: cwd === root ? environment : outsideEnvironment(),
    encoding: 'utf8',
    stdio: ['ignore', quiet ? 'pipe' : 'inherit', 'inherit'],
    // On Windows, npm and installed commands are scripts that only a shell can run.
    shell: process.platform === 'win32' && command !== process.execPath
  })
  if (error) throw new Failed(`${command} could not start: ${error.message}`)
  if (status !== 0 && quiet) console.log(stdout)
  if (status !== 0)
    throw new Failed(`${[command, ...args].join(' ')} exited with ${status ?? signal}`)
  return stdout ?? ''
}

/**
 * Returns the environment variables for commands outside this checkout. Removes what `npm run` has
 * added, because npm would otherwise use this checkout's settings and packages.
 */
function outsideEnvironment() {
  const entries = Object.entries(process.env).filter(
    ([name]) => !/^npm_(lifecycle|package|config_local_prefix)/.test(name)
  )
  const path = process.env.PATH.split(delimiter).filter((entry) => !entry.includes('node_modules'))
  return {
    ...Object.fromEntries(entries),
    PATH: path.join(delimiter),
    NO_COLOR: environment.NO_COLOR,
    npm_config_prefer_offline: 'true'
  }
}

function emptyFolder(name) {
  const folder = join(scratch, name)
  mkdirSync(folder)
  return folder
}

/** Replaces the error of a rejected promise with `Failed`, so that no stack trace is printed. */
function asFailure(promise) {
  return promise.catch((error) => {
    throw new Failed(error.message)
  })
}

function styled(style, text) {
  return hasColors ? styleText(style, text) : text
}
