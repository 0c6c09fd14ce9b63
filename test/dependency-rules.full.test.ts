import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { lazily } from '../src/core/lazily.js'

const root = join(import.meta.dirname, '..')
const rules: { forbidden: { name: string }[] } = createRequire(import.meta.url)(join(root, '.dependency-cruiser.cjs'))

/** A small project that keeps every rule. */
const SOUND: Record<string, string> = {
  'src/index.ts': `export * from './client/index.js'`,
  'src/cli/index.ts': `import '../index.js'`,
  'src/client/index.ts': `import type { Id } from '../messages/schemas.js'\nexport const connect = (id: typeof Id) => id`,
  'src/targets/target.ts': `import { Id } from '../messages/schemas.js'\nexport const target = Id`,
  'src/targets/conformance/run.ts': `import { target } from '../target.js'\nexport const run = target`,
  'src/targets/recording/record.ts': `import { list } from '../../messages/service.js'\nexport const record = list`,
  'src/core/enums.ts': `export const CHANNELS = ['email'] as const`,
  'src/db/open.ts': `import Database from 'better-sqlite3'\nexport const open = () => new Database(':memory:')`,
  'src/http/errors.ts': `import type { FastifyRequest } from 'fastify'\nexport const answer = (request: FastifyRequest) => request.id`,
  'src/messages/schemas.ts': `import { CHANNELS } from '../core/enums.js'\nexport const Id = CHANNELS`,
  'src/messages/service.ts': `import { find } from './repository.js'\nexport const list = find`,
  'src/messages/repository.ts': `import { eq } from 'drizzle-orm'\nexport { open } from '../db/open.js'\nexport const find = eq`,
  'src/control/state/routes.ts': `export { answer } from '../../http/errors.js'\nexport { list } from '../../messages/service.js'`
}

/** Each a rule, a file that breaks it, and by which import. Of the rules that the list of layers makes, the first and the last. */
const VIOLATIONS: [rule: string, file: string, imports: string][] = [
  ['below-index', 'src/index.ts', `import './cli/index.js'`],
  ['below-core', 'src/core/a.ts', `import '../db/open.js'`],
  ['control-is-served-only', 'src/cli/a.ts', `import '../control/state/routes.js'`],
  ['client-stands-alone', 'src/client/b.ts', `import '../core/enums.js'`],
  ['client-stands-alone', 'src/client/c.ts', `import 'node:path'`],
  ['inspector-by-the-client', 'src/inspector/b.ts', `import '../core/enums.js'`],
  ['targets-are-asked-by-http', 'src/targets/a.ts', `import '../messages/service.js'`],
  ['conformance-asks-by-http', 'src/targets/conformance/b.ts', `import '../../messages/service.js'`],
  ['recording-without-judging', 'src/targets/recording/b.ts', `import '../conformance/run.js'`],
  ['http-without-database', 'src/http/b.ts', `import 'drizzle-orm/better-sqlite3'`],
  ['http-without-database', 'src/http/d.ts', `import type Database from 'better-sqlite3'`],
  ['database-without-http', 'src/db/c.ts', `import '@fastify/cors'`],
  ['services-without-http', 'src/control/b/service.ts', `import type { FastifyRequest } from 'fastify'`],
  ['services-without-http', 'src/control/b/repository.ts', `import '../../http/errors.js'`],
  ['routes-through-services', 'src/control/b/routes.ts', `import '../../messages/repository.js'`],
  ['routes-through-services', 'src/control/b/plugin.ts', `import 'drizzle-orm'`],
  ['queries-in-repositories', 'src/control/d/service.ts', `import 'drizzle-orm'`],
  ['repositories-below-services', 'src/control/c/repository.ts', `import '../../messages/service.js'`],
  ['schemas-are-only-shapes', 'src/control/b/schemas.ts', `import '../../http/errors.js'`],
  ['source-stands-alone', 'src/control/e/service.ts', `import '../../../test/support.js'`],
  ['resolvable', 'src/control/f/service.ts', `import './gone.js'`],
  ['resolvable', 'src/control/g/service.ts', `import 'mime'`],
  ['no-cycles', 'src/core/back.ts', `import type { x } from './there.js'`],
  ['no-orphans', 'src/core/dead.ts', '']
]

test('the source keeps the rules', () => {
  expect(check(root)).toEqual({ status: 0, output: expect.stringContaining('no violations') })
})

test('a project that keeps the rules passes, and one without a source file is refused', () => {
  expect(check(givenProject(SOUND))).toEqual({ status: 0, output: expect.stringContaining('no violations') })
  expect(check(givenProject({}))).toEqual({ status: 1, output: expect.stringContaining('nothing was checked') })
})

describe('in a project that breaks every rule', () => {
  const broken = VIOLATIONS.map(([, file, imports]) => [file, `${imports}\n${SOUND[file] ?? 'export const x = 1'}`])
  const needed = { 'test/support.ts': 'export const support = 1', 'src/core/there.ts': `import './back.js'` }
  const output = lazily(() => check(givenProject({ ...SOUND, ...needed, ...Object.fromEntries(broken) })).output)

  test.each(VIOLATIONS)('%s is broken by %s: %s', (rule, file) => {
    expect(output()).toContain(`${rule}: ${file}`)
  })

  test('no file is named that breaks none', () => {
    const named = [...output().matchAll(/^(?!no-cycles)[a-z-]+: (\S+)/gm)].map(([, file]) => file)
    const files = VIOLATIONS.map(([, file]) => file).filter((file) => !file.endsWith('back.ts'))
    expect([...new Set(named)].sort()).toEqual(files.sort())
  })
})

test('every rule has a violation above that breaks it, but for those of the layers between', () => {
  const own = rules.forbidden.map(({ name }) => name).filter((name) => !name.startsWith('below-'))
  expect(VIOLATIONS.map(([rule]) => rule)).toEqual(expect.arrayContaining(own))
})

test('what has no layer, a file over 350 lines and a function over 80 are named; schemas and lists of methods are not', () => {
  const lines = (count: number) => "  'line'\n".repeat(count)
  const methods = `    a() {\n${lines(60)}    },\n    b: () => {\n${lines(60)}    }`
  const { output } = check(
    givenProject({
      ...SOUND,
      'src/helpers/a.ts': `import '../core/enums.js'`,
      'src/core/enums.ts': `export const CHANNELS = ['email']\n${lines(350)}`,
      'src/messages/schemas.ts': `${SOUND['src/messages/schemas.ts']}\n${lines(350)}`,
      'src/core/errors.ts': `import './enums.js'\nexport function long() {\n${lines(79)}}\n`,
      'src/core/state.ts': `import './enums.js'\nexport const state = () => {\n  let count = 0\n  return {\n${methods}\n  }\n}\n`
    })
  )
  expect(output.match(/^(too long|misplaced): .*$/gm)).toEqual([
    'misplaced: src/helpers is in no layer: give it one in LAYERS (.dependency-cruiser.cjs)',
    'too long: src/core/enums.ts has 351 lines, at most 350 are allowed',
    'too long: src/core/errors.ts:2 long has 81 lines, at most 80 are allowed'
  ])
})

function check(folder: string) {
  const script = join(root, 'scripts/check-dependencies.mjs')
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, folder], { encoding: 'utf8' })
  return { status, output: stdout + stderr }
}

/** A project folder with these sources, our package.json and our node_modules; gone when the test ends. */
function givenProject(files: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), 'dependency-rules-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const name of ['package.json', 'tsconfig.json']) cpSync(join(root, name), join(folder, name))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  return folder
}
