import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
const rules: { forbidden: { name: string }[] } = createRequire(import.meta.url)(join(root, '.dependency-cruiser.cjs'))

/** A small project that keeps every rule. */
const SOUND = {
  'src/index.ts': `export { startServer } from './server.js'\nexport { connect } from './client/index.js'`,
  'src/client/index.ts': `import type { Id } from '../messages/schemas.js'\nexport const connect = (id: typeof Id) => id`,
  'src/targets/target.ts': `import { Id } from '../messages/schemas.js'\nexport const target = Id`,
  'src/targets/conformance/run.ts': `import { target } from '../target.js'\nexport const run = target`,
  'src/fixtures/vitest.ts': `import { connect } from '../index.js'\nexport const mock = connect`,
  'src/inspector/page.ts': `import { connect } from '../client/index.js'\nexport const page = connect`,
  'src/server.ts': `export { image as startServer } from './image.js'\nexport { buildApp } from './app.js'`,
  'src/report.ts': `import { text } from './core/typebox.js'\nexport const report = text`,
  'src/image.ts': `import { config } from './config.js'\nexport const image = config`,
  'src/support.ts': `import { document } from './openapi/document.js'\nexport const support = document`,
  'src/config.ts': `import { CHANNELS } from './core/enums.js'\nexport const config = CHANNELS`,
  'src/app.ts': `import { support as document } from './support.js'\nimport { messageRoutes } from './messages/routes.js'\nexport const buildApp = { document, messageRoutes }`,
  'src/cli/index.ts': `import '../index.js'`,
  'src/core/enums.ts': `export const CHANNELS = ['email'] as const`,
  'src/core/errors.ts': `export class DomainError extends Error {}`,
  'src/core/typebox.ts': `import { Type } from '@sinclair/typebox'\nexport const text = Type.String`,
  'src/db/schema.ts': `import { CHANNELS } from '../core/enums.js'\nimport { sqliteTable } from 'drizzle-orm/sqlite-core'\nexport const messages = sqliteTable(CHANNELS[0], {})`,
  'src/db/open.ts': `import Database from 'better-sqlite3'\nexport const open = () => new Database(':memory:')`,
  'src/http/errors.ts': `import type { FastifyRequest } from 'fastify'\nexport const answer = (request: FastifyRequest) => request.id`,
  'src/environments/service.ts': `import { DomainError } from '../core/errors.js'\nexport const environments = { DomainError }`,
  'src/idempotency/service.ts': `import { environments } from '../environments/service.js'\nexport const keys = { environments }`,
  'src/messages/schemas.ts': `import { text } from '../core/typebox.js'\nexport const Id = text()`,
  'src/messages/routes.ts': `import { answer } from '../http/errors.js'\nimport { Id } from './schemas.js'\nimport { list } from './service.js'\nexport const messageRoutes = { answer, Id, list }`,
  'src/messages/service.ts': `import { keys } from '../idempotency/service.js'\nimport { find } from './repository.js'\nexport const list = { find, keys }`,
  'src/messages/repository.ts': `import { eq } from 'drizzle-orm'\nimport { open } from '../db/open.js'\nimport { messages } from '../db/schema.js'\nexport const find = { eq, open, messages }`,
  'src/integrations/service.ts': `import { environments } from '../environments/service.js'\nexport const setPrimary = { environments }`,
  'src/workflow-steps/service.ts': `import { environments } from '../environments/service.js'\nexport const step = { environments }`,
  'src/seeds/service.ts': `import { list } from '../messages/service.js'\nexport const seed = { list }`,
  'src/targets/recording/record.ts': `import { seed } from '../../seeds/service.js'\nexport const record = { seed }`,
  'src/control/state/routes.ts': `import { seed } from '../../seeds/service.js'\nexport const stateRoutes = { seed }`,
  'src/openapi/document.ts': `import { stateRoutes } from '../control/state/routes.js'\nexport const document = { stateRoutes }`
}

/** Each a rule, a file that breaks it, and by which import: the complaint names what that leads to. */
const VIOLATIONS: [rule: string, file: string, imports: string][] = [
  ['below-index', 'src/index.ts', `import '../src/cli/index.js'`],
  ['below-fixtures', 'src/fixtures/a.ts', `import '../cli/index.js'`],
  ['below-cli', 'src/cli/b.ts', `import '../fixtures/vitest.js'`],
  ['below-report', 'src/report.ts', `import './index.js'`],
  ['below-client', 'src/client/a.ts', `import type { startServer } from '../server.js'`],
  ['client-stands-alone', 'src/client/b.ts', `import { text } from '../core/typebox.js'`],
  ['client-stands-alone', 'src/client/c.ts', `import { join } from 'node:path'`],
  ['below-inspector', 'src/inspector/a.ts', `import '../cli/index.js'`],
  ['inspector-by-the-client', 'src/inspector/b.ts', `import '../core/typebox.js'`],
  ['below-targets', 'src/targets/conformance/a.ts', `import '../../server.js'`],
  ['targets-are-asked-by-http', 'src/targets/a.ts', `import '../messages/service.js'`],
  ['targets-are-asked-by-http', 'src/targets/b.ts', `import './recording/record.js'`],
  ['conformance-asks-by-http', 'src/targets/conformance/b.ts', `import '../../messages/service.js'`],
  ['conformance-asks-by-http', 'src/targets/conformance/c.ts', `import '../recording/record.js'`],
  ['recording-without-judging', 'src/targets/recording/b.ts', `import '../conformance/run.js'`],
  ['below-server', 'src/server.ts', `import './index.js'`],
  ['below-image', 'src/image.ts', `import './server.js'`],
  ['below-support', 'src/support.ts', `import './app.js'`],
  ['below-config', 'src/config.ts', `import './server.js'`],
  ['below-app', 'src/app.ts', `import type { image } from './image.js'`],
  ['below-openapi', 'src/openapi/a.ts', `import '../app.js'`],
  ['below-control', 'src/control/a/a.ts', `import '../../openapi/document.js'`],
  ['below-targets', 'src/targets/recording/a.ts', `import '../../app.js'`],
  ['below-seeds', 'src/seeds/generate/a.ts', `import '../../openapi/document.js'`],
  ['below-integrations', 'src/integrations/a.ts', `import '../messages/service.js'`],
  ['below-messages', 'src/messages/a.ts', `import '../seeds/service.js'`],
  ['below-workflow-steps', 'src/workflow-steps/a.ts', `import '../messages/routes.js'`],
  ['below-idempotency', 'src/idempotency/a.ts', `import '../messages/service.js'`],
  ['below-environments', 'src/environments/a.ts', `import '../idempotency/service.js'`],
  ['below-http', 'src/http/a.ts', `import type { Id } from '../messages/schemas.js'`],
  ['below-db', 'src/db/a.ts', `import { answer } from '../http/errors.js'`],
  ['below-core', 'src/core/a.ts', `import { open } from '../db/open.js'`],
  ['control-is-served-only', 'src/cli/a.ts', `import '../control/state/routes.js'`],
  ['http-without-database', 'src/http/b.ts', `import { eq } from 'drizzle-orm'`],
  ['http-without-database', 'src/http/c.ts', `import { eq } from 'drizzle-orm/better-sqlite3'`],
  ['http-without-database', 'src/http/d.ts', `import type Database from 'better-sqlite3'`],
  ['http-without-database', 'src/http/e.ts', `import { open } from '../db/open.js'`],
  ['database-without-http', 'src/db/b.ts', `import fastify from 'fastify'`],
  ['database-without-http', 'src/db/c.ts', `import cors from '@fastify/cors'`],
  ['services-without-http', 'src/control/b/service.ts', `import type { FastifyRequest } from 'fastify'`],
  ['services-without-http', 'src/control/c/service.ts', `import '../../http/errors.js'`],
  ['services-without-http', 'src/control/b/repository.ts', `import plugin from 'fastify-plugin'`],
  ['routes-through-services', 'src/control/b/routes.ts', `import '../../messages/repository.js'`],
  ['routes-through-services', 'src/control/b/plugin.ts', `import { eq } from 'drizzle-orm'`],
  ['queries-in-repositories', 'src/control/d/service.ts', `import { eq } from 'drizzle-orm'`],
  ['repositories-below-services', 'src/control/c/repository.ts', `import '../../messages/service.js'`],
  ['schemas-are-only-shapes', 'src/control/b/schemas.ts', `import '../../http/errors.js'`],
  ['schemas-are-only-shapes', 'src/control/c/schemas.ts', `import { hash } from 'node:crypto'`],
  ['source-stands-alone', 'src/control/e/service.ts', `import '../../../test/support.js'`],
  ['resolvable', 'src/control/f/service.ts', `import { gone } from './gone.js'`],
  ['resolvable', 'src/control/g/service.ts', `import unlisted from 'mime'`],
  ['no-cycles', 'src/core/back.ts', `import type { x } from './there.js'`],
  ['no-orphans', 'src/core/dead.ts', '']
]

/** What is imported, as the complaint names it. */
const namedBy = (imports: string) => /([\w-]+)(?:\.js)?'$/.exec(imports)?.[1] ?? ''

const projects: string[] = []
afterAll(() => {
  for (const project of projects) rmSync(project, { recursive: true, force: true })
})

test('the source keeps the rules', () => {
  expect(check(root)).toEqual({ status: 0, output: expect.stringContaining('no violations') })
})

test('a project that keeps the rules passes', () => {
  const { status, output } = check(givenProject(SOUND))
  expect(status).toBe(0)
  expect(output).toMatch(new RegExp(`^${Object.keys(SOUND).length} files.* no violations`))
})

describe('in a project that breaks every rule', () => {
  const sound: Record<string, string> = SOUND
  const broken = VIOLATIONS.map(([, file, imports]) => [file, `${imports}\n${sound[file] ?? 'export const x = 1'}`])
  const needed = { 'test/support.ts': 'export const support = 1', 'src/core/there.ts': `import './back.js'` }
  const { status, output } = check(givenProject({ ...SOUND, ...needed, ...Object.fromEntries(broken) }))

  test('the check fails', () => {
    expect(status).toBe(1)
  })

  test.each(VIOLATIONS)('%s is broken by %s: %s', (rule, file, imports) => {
    const complaints = output.split('\n').filter((line) => line.startsWith(`${rule}: ${file}`))
    expect(complaints.join('\n'), output).toContain(namedBy(imports))
    expect(complaints).not.toEqual([])
  })

  test('no file is named that breaks none', () => {
    const named = new Set([...output.matchAll(/^(?!no-cycles)[a-z-]+: (\S+)/gm)].map(([, file]) => file))
    expect([...named].sort()).toEqual(
      VIOLATIONS.map(([, file]) => file)
        .filter((file) => !file.endsWith('back.ts'))
        .sort()
    )
  })
})

test('every rule has a violation above that breaks it', () => {
  expect([...new Set(VIOLATIONS.map(([rule]) => rule))].sort()).toEqual(rules.forbidden.map(({ name }) => name).sort())
})

test('a folder or file at the top of src without a layer is named', () => {
  const { status, output } = check(
    givenProject({
      ...SOUND,
      'src/helpers/a.ts': `import '../core/enums.js'`,
      'src/extra.ts': `import './core/enums.js'`
    })
  )
  expect(status).toBe(1)
  expect(output.match(/^misplaced: .*$/gm)?.sort()).toEqual([
    'misplaced: src/extra.ts is in no layer: give it one in LAYERS (.dependency-cruiser.cjs)',
    'misplaced: src/helpers is in no layer: give it one in LAYERS (.dependency-cruiser.cjs)'
  ])
})

test('a file over 350 lines and a function over 80 are named; schemas and lists of short methods are not', () => {
  const lines = (count: number) => "  'line'\n".repeat(count)
  const methods = `    a() {\n${lines(60)}    },\n    b: () => {\n${lines(60)}    }`
  const project = givenProject({
    ...SOUND,
    'src/core/enums.ts': `export const CHANNELS = ['email']\n${lines(350)}`,
    'src/messages/schemas.ts': `import '../core/typebox.js'\nexport const Id = 1\n${lines(350)}`,
    'src/core/errors.ts': `export class DomainError extends Error {}\nexport function long() {\n${lines(79)}}\n`,
    'src/core/typebox.ts': `export const text = () => {\n  let count = 0\n  return {\n${methods}\n  }\n}\n`,
    'src/core/state.ts': `import './enums.js'\nexport const late = () => {\n${lines(11)}  let count = 0\n  return {\n${methods}\n  }\n}\n`
  })
  expect(
    check(project)
      .output.match(/^too long: .*$/gm)
      ?.sort()
  ).toEqual([
    'too long: src/core/enums.ts has 351 lines, at most 350 are allowed',
    'too long: src/core/errors.ts:2 long has 81 lines, at most 80 are allowed',
    'too long: src/core/state.ts:2 late has 140 lines, at most 80 are allowed'
  ])
})

test('a project without a source file is refused, not passed as clean', () => {
  expect(check(givenProject({ 'src/readme.txt': '' }))).toEqual({
    status: 1,
    output: expect.stringContaining('nothing was checked')
  })
  expect(check(givenProject({}))).toEqual({ status: 1, output: expect.stringContaining('nothing was checked') })
})

function check(folder: string) {
  const script = join(root, 'scripts/check-dependencies.mjs')
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, folder], { encoding: 'utf8' })
  return { status, output: stdout + stderr }
}

/** A project folder with these sources, our package.json and our node_modules; gone when the tests end. */
function givenProject(files: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), 'dependency-rules-'))
  projects.push(folder)
  for (const name of ['package.json', 'tsconfig.json']) cpSync(join(root, name), join(folder, name))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  return folder
}
