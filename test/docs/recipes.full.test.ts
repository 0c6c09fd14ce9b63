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
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { envWithoutRunner } from '../support/project.js'

/** Writes the files of docs/write-tests.md and runs its commands, where the packed package and the runners are installed. */
const root = join(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'notification-mock-recipes-'))
const text = readFileSync(join(root, 'docs/write-tests.md'), 'utf8')

/** A file that is named before its content, or a command before what it prints. */
const FILE = /`([\w.]+\.\w+)`[^`]*:\n\n```\w+\n(.*?)^```$/gms
const COMMAND = /^```sh\n(.*?)^```\n\n```text\n(.*?)^```$/gms
const RECIPES = text
  .split(/^## /m)
  .slice(1)
  .map((recipe) => ({
    title: recipe.split('\n', 1)[0] ?? '',
    files: [...recipe.matchAll(FILE)].map(([, name = '', source = '']) => ({ name, source })),
    commands: [...recipe.matchAll(COMMAND)].map(([, command = '', printed = '']) => ({
      command,
      printed
    }))
  }))

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync)

const PACKAGES = [
  'vitest',
  '@playwright/test',
  'vite',
  'jest@30',
  'start-server-and-test',
  '@types/node',
  'typescript'
]

beforeAll(() => {
  run('npm', ['pack', '--silent', '--pack-destination', folder], root)
  const [tarball = ''] = readdirSync(folder).filter((name) => name.endsWith('.tgz'))
  writeFileSync(join(folder, 'package.json'), '{ "private": true }')
  const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).devDependencies
  const packages = PACKAGES.map((name) => (own[name] ? `${name}@${own[name]}` : name))
  const flags = [
    '--no-audit',
    '--no-fund',
    '--ignore-scripts',
    '--loglevel=error',
    '--prefer-offline'
  ]
  run('npm', ['install', ...flags, `./${tarball}`, ...packages], folder)
  // On Node 20 it would have to be compiled once more.
  rmSync(join(folder, 'node_modules/better-sqlite3'), { recursive: true, force: true })
  symlinkSync(
    join(root, 'node_modules/better-sqlite3'),
    join(folder, 'node_modules/better-sqlite3')
  )
  for (const { files } of RECIPES) {
    for (const { name, source } of files) writeFileSync(join(folder, name), withOwnBrowser(source))
  }
}, 600_000)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

test.each(RECIPES.filter(({ commands }) => commands.length > 0))(
  'the recipe $title runs as it says',
  ({ commands }) => {
    for (const { command, printed } of commands) {
      const { status, output } = run('bash', ['-ec', command], folder)
      expect({ command, status, output }).toMatchObject({ status: 0 })
      for (const line of printed.trim().split('\n')) expect(output).toContain(line)
    }
  }
)

test.each(['node16', 'nodenext', 'bundler'])(
  'the recipes in TypeScript compile strictly under %s',
  (resolution) => {
    // Vitest and Vite are ECMAScript modules only, so a project in TypeScript is one too.
    const project = join(folder, resolution)
    mkdirSync(project)
    writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }')
    const typed = RECIPES.flatMap(({ files }) => files).filter(({ name }) => name.endsWith('.ts'))
    for (const { name, source } of typed) writeFileSync(join(project, name), source)
    const files = typed.map(({ name }) => name)
    expect(files).toContain('orders.test.ts')
    const module = resolution === 'bundler' ? 'esnext' : resolution
    const platform = { target: 'es2022', lib: ['es2022', 'dom', 'esnext.disposable'] }
    const compilerOptions = {
      module,
      moduleResolution: resolution,
      ...platform,
      strict: true,
      skipLibCheck: false,
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

test('the texts map the port of the image, and set variables that the server knows', () => {
  const image = readFileSync(join(root, 'Dockerfile'), 'utf8')
  const [, port] = /^EXPOSE (\d+)$/m.exec(image) ?? []
  expect(text).toContain(`ports: ['${port}:${port}']`)
  expect(text).toContain(`withExposedPorts(${port})`)
  const known =
    readFileSync(join(root, 'llms.txt'), 'utf8') +
    readFileSync(join(root, 'docs/commands.md'), 'utf8')
  expect(text.match(/NOTIFICATION_MOCK_\w+/g)?.filter((name) => !known.includes(name))).toEqual([])
})

/** A configuration of Playwright with this machine's browser, in place of the one that Playwright downloads. */
function withOwnBrowser(source: string): string {
  if (!source.includes("from '@playwright/test'") || !CHROMIUM) return source
  const use = `use: { launchOptions: { executablePath: ${JSON.stringify(CHROMIUM)} } },`
  return source.replace('defineConfig({', `defineConfig({\n  ${use}`)
}

function run(
  command: string,
  args: readonly string[],
  cwd: string
): { status: number | null; output: string } {
  const path = (process.env.PATH ?? '')
    .split(delimiter)
    .filter((entry) => !entry.includes('node_modules'))
  const env = { ...envWithoutRunner(), PATH: path.join(delimiter), CI: '1' }
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd,
    env,
    encoding: 'utf8',
    timeout: 300_000
  })
  return { status, output: stdout + stderr }
}
