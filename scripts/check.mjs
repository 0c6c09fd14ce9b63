#!/usr/bin/env node
/**
 * Everything that CI checks beside the tests, in one go: `npm run check`.
 *
 *     node scripts/check.mjs                 all
 *     node scripts/check.mjs lint types      only these (the names stand in the table at the end)
 *
 * A failure does not stop the rest, so one run tells all; only what needs a failed step is left out. Exits 1 if anything failed.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { styleText } from 'node:util'
import { startAndAsk } from './start-and-ask.mjs'

/** A step that did not pass, in words that need no stack. */
class Failed extends Error {}

const root = join(import.meta.dirname, '..')
const scratch = mkdtempSync(join(tmpdir(), 'check-'))
const { version, bin, exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const colourful = Boolean(process.stdout.isTTY) && !process.env.NO_COLOR
const environment = {
  ...process.env,
  // What has been installed here just now need not be asked for once more.
  npm_config_prefer_offline: 'true',
  PATH: [join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter),
  ...(colourful ? {} : { NO_COLOR: '1', FORCE_COLOR: undefined })
}

/** What may be in the package. */
const PACKED =
  /^(dist|docs|migrations|seeds)\/|^(package\.json|LICENSE|(README|CHANGELOG|CONTRIBUTING|SKILL)\.md|llms\.txt)$/

const STEPS = [
  {
    name: 'lint',
    title: 'Format and lint',
    run: () => tool('biome', ['ci', ...(colourful ? [] : ['--colors=off'])])
  },
  {
    name: 'types',
    title: 'Types, tests included',
    run: () => tool('npm', ['run', '--silent', 'typecheck'])
  },
  { name: 'unused', title: 'Unused files, exports and dependencies', run: () => tool('knip') },
  {
    name: 'dependencies',
    title: 'Direction of imports',
    run: () => script('check-dependencies.mjs')
  },
  {
    name: 'migrations',
    title: 'Migrations fit the schema',
    run: () => script('check-migrations.mjs')
  },
  {
    name: 'docs',
    title: 'Generated docs are fresh',
    run: () => tool('tsx', ['scripts/docs.ts', '--check'])
  },
  {
    name: 'seed-schema',
    title: 'The seed schema is fresh',
    run: () => tool('tsx', ['scripts/seed-schema.ts', '--check'])
  },
  {
    name: 'examples',
    title: 'The examples of the documents are fresh',
    run: () => tool('tsx', ['scripts/examples.ts', '--check'])
  },
  {
    name: 'llms',
    title: 'llms.txt is fresh',
    run: () => tool('tsx', ['scripts/llms.ts', '--check'])
  },
  { name: 'container', title: 'Container files', run: () => script('lint-container.mjs') },
  { name: 'build', title: 'Build', run: () => script('build.mjs') },
  {
    name: 'start',
    title: 'The built server starts, answers and stops',
    needs: 'build',
    run: startBuilt
  },
  { name: 'pack', title: 'The package holds what it should', needs: 'build', run: pack },
  { name: 'package', title: 'The package as others see it', needs: 'pack', run: lintPackage },
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

async function main(wanted) {
  const unknown = wanted.filter((name) => !STEPS.some((step) => step.name === name))
  if (unknown.length > 0) {
    console.error(
      `unknown: ${unknown.join(' ')}; there are ${STEPS.map(({ name }) => name).join(' ')}`
    )
    return 2
  }
  const results = []
  for (const step of wanted.length > 0 ? withNeeds(wanted) : STEPS)
    results.push(await runStep(step, results))
  printTable(results)
  return results.every(({ outcome }) => outcome === 'ok') ? 0 : 1
}

function withNeeds(wanted) {
  const names = new Set(wanted)
  // Backwards, since what a step needs stands before it.
  for (const { name, needs } of STEPS.toReversed()) if (names.has(name) && needs) names.add(needs)
  return STEPS.filter(({ name }) => names.has(name))
}

async function runStep({ name, title, needs, run }, earlier) {
  console.log(`\n${styled('bold', `== ${title} (${name})`)}`)
  if (needs && earlier.find((result) => result.name === needs)?.outcome !== 'ok') {
    console.log(`left out: ${needs} failed`)
    return { name, title, outcome: 'left out', seconds: 0 }
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
    const line = `${outcome.padEnd(8)} ${seconds.toFixed(1).padStart(6)} s  ${name.padEnd(width)}  ${title}`
    console.log(outcome === 'ok' ? line : styled('red', line))
  }
}

async function startBuilt() {
  const args = [join(root, 'dist/cli/index.js'), '--port', '0', '--json']
  // In an empty folder, so that nothing is found by luck of the current one.
  console.log(
    await asFailure(
      startAndAsk({ command: process.execPath, args, cwd: emptyFolder('start'), env: environment })
    )
  )
}

/** Packs as publishing does, with the scripts of the package, since these decide what is in dist/. */
function pack() {
  const folder = emptyFolder('pack')
  tool('npm', ['pack', '--pack-destination', folder, '--loglevel', 'warn'])
  const files = tool('tar', ['-tzf', tarball()], { quiet: true }).split('\n').filter(Boolean)
  const names = files.map((file) => file.replace(/^package\//, ''))
  const lacking = [
    'LICENSE',
    'README.md',
    'CHANGELOG.md',
    'llms.txt',
    ...filesIn(bin),
    ...filesIn(exports)
  ]
    .filter((name) => !names.includes(name))
    .concat(
      ['docs/', 'migrations/', 'seeds/', 'dist/swagger-ui/', 'dist/inspector/'].filter(
        (start) => !names.some((name) => name.startsWith(start))
      )
    )
  const strange = names.filter((name) => !PACKED.test(name))
  if (lacking.length > 0) throw new Failed(`not in the package: ${lacking.join(', ')}`)
  if (strange.length > 0)
    throw new Failed(`in the package, but should not be: ${strange.join(', ')}`)
  console.log(`${names.length} files`)
}

/** Returns the files that a field of package.json names. */
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
    'node16',
    '--no-emoji',
    ...(colourful ? [] : ['--no-color'])
  ])
}

async function installPackage() {
  const cwd = emptyFolder('install')
  // Without a package.json here npm would look for one further up.
  writeFileSync(join(cwd, 'package.json'), '{ "private": true }\n')
  tool('npm', ['install', '--no-audit', '--no-fund', '--loglevel', 'error', tarball()], { cwd })
  // Node 20 brings npm 10, which fails at some ranges of optional peers that later ones take.
  const other = emptyFolder('install-npm-10')
  writeFileSync(join(other, 'package.json'), '{ "private": true }\n')
  const npm10 = [
    'exec',
    '--yes',
    '--',
    'npm@10.8.2',
    'install',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund'
  ]
  tool('npm', [...npm10, '--loglevel', 'error', tarball()], { cwd: other })
  const printed = tool('npx', ['--no-install', 'notification-mock', '--version'], {
    cwd,
    quiet: true
  }).trim()
  if (printed !== version) throw new Failed(`--version printed ${printed} instead of ${version}`)
  // Not by npx, which would keep the signal that stops the server.
  const command = join(cwd, 'node_modules/notification-mock/dist/cli/index.js')
  const args = [command, '--port', '0', '--json']
  console.log(
    await asFailure(startAndAsk({ command: process.execPath, args, cwd, env: outside() }))
  )
}

function tarball() {
  const folder = join(scratch, 'pack')
  const name = readdirSync(folder).find((file) => file.endsWith('.tgz'))
  if (!name) throw new Failed('npm pack made no package')
  return join(folder, name)
}

function script(name, args = []) {
  return tool(process.execPath, [join(root, 'scripts', name), ...args])
}

/** Runs a command to its end and returns what it printed if it was to be quiet; throws if it failed. */
function tool(command, args = [], { cwd = root, quiet = false } = {}) {
  const { status, signal, error, stdout } = spawnSync(command, args, {
    cwd,
    env: cwd === root ? environment : outside(),
    encoding: 'utf8',
    stdio: ['ignore', quiet ? 'pipe' : 'inherit', 'inherit'],
    // On Windows npm and what it installs are scripts, which only a shell runs.
    shell: process.platform === 'win32' && command !== process.execPath
  })
  if (error) throw new Failed(`${command} could not be run: ${error.message}`)
  if (status !== 0 && quiet) console.log(stdout)
  if (status !== 0)
    throw new Failed(`${[command, ...args].join(' ')} left with ${status ?? signal}`)
  return stdout ?? ''
}

/** Our environment without what `npm run` adds to it about this package, which would mislead an npm in another folder. */
function outside() {
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

function asFailure(promise) {
  return promise.catch((error) => {
    throw new Failed(error.message)
  })
}

function styled(style, text) {
  return colourful ? styleText(style, text) : text
}
