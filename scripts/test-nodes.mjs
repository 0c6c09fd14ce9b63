#!/usr/bin/env node
/**
 * Runs `npm ci && npm test` and the tests of the built command on every supported Node version, and
 * checks that unsupported versions are rejected with a clear message. Run it with
 * `npm run test:nodes` on Linux or macOS.
 *
 *     node scripts/test-nodes.mjs             all versions, about 15 minutes
 *     node scripts/test-nodes.mjs 22.14.0     only the named versions
 *
 * Installs Node from npm packages into a temporary folder. Each version gets a copy of the files
 * that git tracks, including uncommitted changes. Exits 1 if a version fails. Without arguments,
 * also writes the table in docs/contributing/platform-test-results.md if all versions pass.
 */
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

const SUPPORTED = ['20.19.2', '20', '22.14.0', '22', '24', '26']
const UNSUPPORTED = ['18', '21']
/**
 * The long tests of how the built command starts and exits, which depends on the Node version more
 * than any other behavior.
 */
const PROCESS_TESTS = ['test/cli/serve.full.test.ts', 'test/cli/exec.full.test.ts']
/** The time limit of each command, in milliseconds. */
const TIMEOUT = 900_000

const root = join(import.meta.dirname, '..')
const scratch = mkdtempSync(join(tmpdir(), 'nodes-'))
const ranges = process.argv.slice(2)
const rows = []
try {
  for (const range of ranges.length > 0 ? ranges : [...SUPPORTED, ...UNSUPPORTED]) {
    const row = UNSUPPORTED.includes(range) ? checkRejected(range) : checkSupported(range)
    console.log(row.join('  '))
    rows.push(row)
  }
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
process.exitCode = rows.some((row) => row.includes('FAILED')) ? 1 : 0
if (ranges.length === 0 && process.exitCode === 0) writeTable()

function writeTable() {
  const page = join(root, 'docs/contributing/platform-test-results.md')
  const lines = [['Node', 'database addon', '`npm test`'], ['---', '---', '---'], ...rows].map(
    (row) => `| ${row.join(' | ')} |`
  )
  const marked = /(?<=<!-- nodes -->\n).*(?=<!-- \/nodes -->)/s
  writeFileSync(page, readFileSync(page, 'utf8').replace(marked, `\n${lines.join('\n')}\n\n`))
}

/** Installs and tests a supported version, and returns its table row. */
function checkSupported(range) {
  const { version, run } = setUpNode(range)
  const installed = run('npm', ['ci'])
  // Ignore warnings about the user's own .npmrc.
  if (installed.status !== 0 || /warn (?!Unknown (user|env) config)/i.test(installed.output))
    return failed(version, installed)
  const addon = run('node', ['-p', "require('better-sqlite3/package.json').version"]).output.trim()
  const tested = run('npm', ['test'])
  if (tested.status !== 0) return failed(version, tested)
  const processes = run('npx', ['vitest', 'run', '--project', 'full', ...PROCESS_TESTS])
  if (processes.status !== 0) return failed(version, processes)
  return [
    version,
    `better-sqlite3 ${addon}`,
    /Tests .*?\d+ passed/.test(tested.output) ? 'passed' : 'FAILED'
  ]
}

/**
 * Checks that `npm ci`, `npm start` and the built package reject an unsupported Node version with a
 * clear message. Returns the version's table row.
 */
function checkRejected(range) {
  const { version, run } = setUpNode(range)
  spawnSync(process.execPath, ['scripts/build.mjs', '--if-stale'], { cwd: root })
  const dist = join(root, 'dist')
  for (const [command, args] of [
    ['npm', ['ci']],
    ['npm', ['start']],
    ['node', [join(dist, 'cli/index.js')]],
    ['node', ['-e', `import('${dist}/index.js').then(({ createMock }) => createMock())`]],
    ['node', ['-e', `require('${dist}/index.cjs').createMock()`]]
  ]) {
    const result = run(command, args)
    const reason = /EBADENGINE|notification-mock needs Node .* but this is v\d/.exec(result.output)
    if (result.status === 0 || !reason) return failed(version, result)
  }
  return [version, '', 'rejected']
}

function failed(version, { output }) {
  console.error(output.slice(-4000))
  return [version, '', 'FAILED']
}

/**
 * Copies this checkout and installs a Node version. Returns the exact version, and a function that
 * runs commands in the copy with that version.
 */
function setUpNode(range) {
  const system = { linux: 'linux', darwin: 'darwin' }[process.platform]
  const folder = join(scratch, range)
  const modules = join(folder, 'node')
  mkdirSync(modules, { recursive: true })
  writeFileSync(join(modules, 'package.json'), '{}')
  const name = `node-${system}-${process.arch}`
  const options = { cwd: modules, encoding: 'utf8', timeout: TIMEOUT }
  spawnSync('npm', ['install', '--no-audit', '--no-fund', `${name}@${range}`], options)
  const node = join(modules, 'node_modules', name)
  // Check that the installation worked. Otherwise the tests would run on this machine's Node.
  if (!existsSync(join(node, 'bin/node')))
    throw new Error(`${name}@${range} could not be installed`)
  const checkout = join(folder, 'checkout')
  const { stdout } = spawnSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' })
  for (const file of stdout.split('\0').filter((name) => name && existsSync(join(root, name)))) {
    cpSync(join(root, file), join(checkout, file))
  }
  const inherited = Object.entries(process.env).filter(
    ([key]) => !/^npm_(lifecycle|package|config_local)/.test(key)
  )
  const path = process.env.PATH.split(delimiter).filter((entry) => !entry.includes('node_modules'))
  const env = {
    ...Object.fromEntries(inherited),
    PATH: [join(node, 'bin'), ...path].join(delimiter),
    NO_COLOR: '1',
    // On some versions, such as Node 20, npm must compile the SQLite addon. The compiler finds the
    // headers of this Node version in this folder.
    npm_package_config_node_gyp_nodedir: node
  }
  const run = (command, args) => {
    const { status, stdout, stderr } = spawnSync(command, args, {
      cwd: checkout,
      env,
      encoding: 'utf8',
      timeout: TIMEOUT
    })
    return { status, output: stdout + stderr }
  }
  return { version: run('node', ['--version']).output.trim(), run }
}
