#!/usr/bin/env node
/**
 * Installs and runs `npm test` on each Node that is supported, and tries those that are refused: `npm run test:nodes`.
 *
 *     node scripts/test-nodes.mjs             all, a quarter of an hour
 *     node scripts/test-nodes.mjs 22.14.0     only these
 *
 * The Nodes come as packages from npm, into a folder that is deleted at the end. Each gets a copy of what git knows of this
 * checkout, with changes that are not committed. Exits 1 if one failed; if all passed, writes the table of docs/contributing/platform-test-results.md.
 * For Linux and macOS.
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
const REFUSED = ['18', '21']
/** In milliseconds: no step takes longer, or it hangs. */
const TIMEOUT = 900_000

const root = join(import.meta.dirname, '..')
const scratch = mkdtempSync(join(tmpdir(), 'nodes-'))
const wanted = process.argv.slice(2)
const rows = []
try {
  for (const range of wanted.length > 0 ? wanted : [...SUPPORTED, ...REFUSED]) {
    const row = REFUSED.includes(range) ? refuse(range) : support(range)
    console.log(row.join('  '))
    rows.push(row)
  }
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
process.exitCode = rows.some((row) => row.includes('FAILED')) ? 1 : 0
if (wanted.length === 0 && process.exitCode === 0) writeTable()

function writeTable() {
  const page = join(root, 'docs/contributing/platform-test-results.md')
  const lines = [['Node', 'database addon', '`npm test`'], ['---', '---', '---'], ...rows].map(
    (row) => `| ${row.join(' | ')} |`
  )
  const marked = /(?<=<!-- nodes -->\n).*(?=<!-- \/nodes -->)/s
  writeFileSync(page, readFileSync(page, 'utf8').replace(marked, `\n${lines.join('\n')}\n\n`))
}

/** Returns the row of a Node that must install and pass. */
function support(range) {
  const { version, run } = givenNode(range)
  const installed = run('npm', ['ci'])
  // What stands in somebody's own .npmrc is not our warning.
  if (installed.status !== 0 || /warn (?!Unknown (user|env) config)/i.test(installed.output))
    return failed(version, installed)
  const addon = run('node', ['-p', "require('better-sqlite3/package.json').version"]).output.trim()
  const tested = run('npm', ['test'])
  if (tested.status !== 0) return failed(version, tested)
  return [
    version,
    `better-sqlite3 ${addon}`,
    /Tests .*?\d+ passed/.test(tested.output) ? 'passed' : 'FAILED'
  ]
}

/** Returns the row of a Node that must be refused in one sentence by the install, by `npm start` and by what is built. */
function refuse(range) {
  const { version, run } = givenNode(range)
  spawnSync(process.execPath, ['scripts/build.mjs', '--if-stale'], { cwd: root })
  const ours = join(root, 'dist')
  for (const [command, args] of [
    ['npm', ['ci']],
    ['npm', ['start']],
    ['node', [join(ours, 'cli/index.js')]],
    ['node', ['-e', `import('${ours}/index.js').then(({ createMock }) => createMock())`]],
    ['node', ['-e', `require('${ours}/index.cjs').createMock()`]]
  ]) {
    const refused = run(command, args)
    const reason = /EBADENGINE|notification-mock needs Node .* and this is v\d/.exec(refused.output)
    if (refused.status === 0 || !reason) return failed(version, refused)
  }
  return [version, '', 'rejected']
}

function failed(version, { output }) {
  console.error(output.slice(-4000))
  return [version, '', 'FAILED']
}

/** A copy of this checkout, and a Node to run commands in it with. */
function givenNode(range) {
  const system = { linux: 'linux', darwin: 'darwin' }[process.platform]
  const folder = join(scratch, range)
  const modules = join(folder, 'node')
  mkdirSync(modules, { recursive: true })
  writeFileSync(join(modules, 'package.json'), '{}')
  const name = `node-${system}-${process.arch}`
  const options = { cwd: modules, encoding: 'utf8', timeout: TIMEOUT }
  spawnSync('npm', ['install', '--no-audit', '--no-fund', `${name}@${range}`], options)
  const node = join(modules, 'node_modules', name)
  // Else the tests would run on the Node of this machine.
  if (!existsSync(join(node, 'bin/node')))
    throw new Error(`${name}@${range} could not be installed`)
  const checkout = join(folder, 'checkout')
  const { stdout } = spawnSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' })
  for (const file of stdout.split('\0').filter((each) => each && existsSync(join(root, each)))) {
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
    // Its own headers, for Node 20, where the addon may have to be compiled.
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
