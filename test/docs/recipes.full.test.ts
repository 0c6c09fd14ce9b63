import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readReport } from '../../src/cli/report-file.js'
import { collectHints } from '../../src/cli/summary.js'
import { failingHints } from '../../src/client/hints.js'
import { envWithoutRunner } from '../support/project.js'
import { blocksOf, INSTALLED_PAGES, sectionsOf } from './examples.js'

const root = join(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'notification-mock-recipes-'))
/** The report of a recipe that starts its own server. */
const REPORT = join(folder, 'report.html')
const PATHS = INSTALLED_PAGES.map((name) => `docs/${name}`)
const FILES = PATHS.flatMap(blocksOf).flatMap(({ file, text }) => (file ? [{ file, text }] : []))
const SECTIONS = PATHS.flatMap((page) =>
  sectionsOf(page, 'sh').map(({ heading, examples }) => ({ page, heading, examples }))
)

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync)

const PACKAGES = [
  'vitest',
  '@playwright/test',
  'vite',
  'jest@30',
  'mocha@11',
  '@cucumber/cucumber@12',
  'bun@1',
  'msw@2',
  'nock@14',
  'start-server-and-test',
  '@types/node',
  'typescript'
]

beforeAll(() => {
  run('npm', ['pack', '--silent', '--pack-destination', folder], root)
  const [tarball = ''] = readdirSync(folder).filter((name) => name.endsWith('.tgz'))
  writeFileSync(join(folder, 'package.json'), '{ "private": true }')
  const versions = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).devDependencies
  const packages = PACKAGES.map((name) => (versions[name] ? `${name}@${versions[name]}` : name))
  const flags = [
    '--no-audit',
    '--no-fund',
    '--ignore-scripts',
    '--loglevel=error',
    '--prefer-offline'
  ]
  run('npm', ['install', ...flags, `./${tarball}`, ...packages], folder)
  // Use this repository's database addon. On Node 20, the addon that npm installs would have to be
  // compiled first.
  rmSync(join(folder, 'node_modules/better-sqlite3'), { recursive: true, force: true })
  symlinkSync(
    join(root, 'node_modules/better-sqlite3'),
    join(folder, 'node_modules/better-sqlite3')
  )
  linkBun()
  for (const { file, text } of FILES) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), withReport(withOwnBrowser(text)))
  }
}, 600_000)

/** Does the work of Bun's install script: links `bun` to the binary for this platform. */
function linkBun(): void {
  const [platform = ''] = readdirSync(join(folder, 'node_modules/@oven'))
  const command = join(folder, 'node_modules/.bin/bun')
  rmSync(command)
  symlinkSync(join(folder, 'node_modules/@oven', platform, 'bin/bun'), command)
}

afterAll(() => rmSync(folder, { recursive: true, force: true }))

test.each(SECTIONS)(
  '$page, $heading: the commands print the output on the page, and pass with --strict',
  ({ examples }) => {
    for (const { input, output: shown } of examples) {
      const command = input.text
      const exec = [join(folder, 'node_modules/.bin/notification-mock'), 'exec', '--']
      rmSync(REPORT, { force: true })
      const { status, output } = run(process.execPath, [...exec, 'bash', '-ec', command], folder)
      expect({ command, status, output }).toMatchObject({ status: 0 })
      for (const line of shown.trim().split('\n')) expect(output).toContain(line)
      const hints = existsSync(REPORT) ? collectHints(readReport(REPORT)) : []
      expect(failingHints(hints)).toEqual([])
    }
  }
)

test.each(['node16', 'nodenext', 'bundler'])(
  'the recipes in TypeScript compile in strict mode with %s',
  (resolution) => {
    // Vitest and Vite exist only as ECMAScript modules, so a TypeScript project that uses them must
    // consist of ECMAScript modules too.
    const project = join(folder, resolution)
    mkdirSync(project)
    writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }')
    const typed = FILES.filter(({ file }) => file.endsWith('.ts'))
    for (const { file, text } of typed) writeFileSync(join(project, file), text)
    const files = typed.map(({ file }) => file)
    expect(files).toContain('orders.test.ts')
    const module = resolution === 'bundler' ? 'esnext' : resolution
    const platform = { target: 'es2022', lib: ['es2022', 'dom', 'esnext.disposable'] }
    const compilerOptions = {
      module,
      moduleResolution: resolution,
      ...platform,
      strict: true,
      // Checking the types of Vitest and Playwright takes most of the time, so do it only once.
      skipLibCheck: resolution !== 'nodenext',
      noEmit: true
    }
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
    const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc')
    expect(run(process.execPath, [compiler, '-p', project], folder)).toEqual({
      status: 0,
      output: ''
    })
  }
)

test('the pages use the port that the Dockerfile exposes', () => {
  const image = readFileSync(join(root, 'Dockerfile'), 'utf8')
  const [, port] = /^EXPOSE (\d+)$/m.exec(image) ?? []
  const text = readPages()
  expect(text).toContain(`ports: ['${port}:${port}']`)
  expect(text).toContain(`withExposedPorts(${port})`)
})

test('the pages name only environment variables that llms.txt or commands.md describes', () => {
  const commands = ['llms.txt', 'docs/commands.md'].map((page) => readFileSync(page, 'utf8')).join()
  const names = readPages().match(/NOTIFICATION_MOCK_\w+/g) ?? []
  expect(names.filter((name) => !commands.includes(name))).toEqual([])
})

function readPages(): string {
  return [...PATHS, 'docs/run-in-docker.md'].map((page) => readFileSync(page, 'utf8')).join('\n')
}

/**
 * Makes a Playwright configuration use this machine's Chromium, if there is one, instead of a
 * downloaded browser. Returns any other source unchanged.
 */
function withOwnBrowser(source: string): string {
  if (!source.includes("from '@playwright/test'") || !CHROMIUM) return source
  const use = `use: { launchOptions: { executablePath: ${JSON.stringify(CHROMIUM)} } },`
  return source.replace('defineConfig({', `defineConfig({\n  ${use}`)
}

/**
 * Returns the recipe's source, changed so that it writes a report before it closes its own server.
 * `exec --strict` doesn't see the requests to that server, so the test checks the report instead.
 */
function withReport(source: string): string {
  const report = `mock.report(${JSON.stringify(REPORT)})`
  return source.replace('=> mock.close()', `=> ${report}.then(() => mock.close())`)
}

function run(
  command: string,
  args: readonly string[],
  cwd: string
): { status: number | null; output: string } {
  const path = (process.env.PATH ?? '')
    .split(delimiter)
    .filter((entry) => !entry.includes('node_modules'))
  // Set `--strict` for the test's own `exec` command and for the `exec` commands on the page.
  const strict = { NOTIFICATION_MOCK_STRICT: '1' }
  const env = { ...envWithoutRunner(), ...strict, PATH: path.join(delimiter), CI: '1' }
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd,
    env,
    encoding: 'utf8',
    timeout: 300_000
  })
  return { status, output: stdout + stderr }
}
