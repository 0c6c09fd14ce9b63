import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
const rules: { forbidden: { name: string }[] } = createRequire(import.meta.url)(join(root, '.dependency-cruiser.cjs'))

/** A small house in which everything is in its place. */
const SOUND = {
  'src/index.ts': `export { messageRoutes } from './messages/routes.js'`,
  'src/cli/index.ts': `import '../index.js'`,
  'src/core/enums.ts': `export const CHANNELS = ['email'] as const`,
  'src/wire.ts': `import { Type } from '@sinclair/typebox'\nexport const words = Type.String`,
  'src/errors.ts': `export class DomainError extends Error {}`,
  'src/db/schema.ts': `import { CHANNELS } from '../vocabulary.js'\nimport { sqliteTable } from 'drizzle-orm/sqlite-core'\nexport const messages = sqliteTable(CHANNELS[0], {})`,
  'src/db/open.ts': `import Database from 'better-sqlite3'\nexport const open = () => new Database(':memory:')`,
  'src/http/auth.ts': `import type { FastifyRequest } from 'fastify'\nexport const auth = (request: FastifyRequest) => request.id`,
  'src/messages/schemas.ts': `import { stringEnum } from '../wire.js'\nexport const Id = stringEnum()`,
  'src/messages/routes.ts': `import { auth } from '../http/auth.js'\nimport { Id } from './schemas.js'\nimport { list } from './service.js'\nexport const messageRoutes = { auth, Id, list }`,
  'src/messages/service.ts': `import { DomainError } from '../errors.js'\nimport { find } from './repository.js'\nexport const list = { find, DomainError }`,
  'src/messages/repository.ts': `import { eq } from 'drizzle-orm'\nimport { open } from '../db/open.js'\nimport { messages } from '../db/schema.js'\nexport const find = { eq, open, messages }`
}

/** One file that breaks a rule by what it imports, and the import that the complaint must name. */
interface Fault {
  rule: string
  file: string
  imports: string
  named: RegExp
}

const FAULTS: Fault[] = [
  fault('http-without-database', 'src/http/a.ts', `import { eq } from 'drizzle-orm'`, /drizzle-orm/),
  fault('http-without-database', 'src/http/b.ts', `import { eq } from 'drizzle-orm/better-sqlite3'`, /drizzle-orm/),
  fault('http-without-database', 'src/http/c.ts', `import type Database from 'better-sqlite3'`, /better-sqlite3/),
  fault('http-without-database', 'src/http/d.ts', `import { open } from '../db/open.js'`, /src\/db\/open/),
  fault('database-without-http', 'src/db/a.ts', `import fastify from 'fastify'`, /fastify/),
  fault('database-without-http', 'src/db/b.ts', `import cors from '@fastify/cors'`, /@fastify\/cors/),
  fault('database-without-http', 'src/db/c.ts', `import { auth } from '../http/auth.js'`, /src\/http\/auth/),
  fault('database-is-the-ground', 'src/db/d.ts', `import { list } from '../messages/service.js'`, /messages\/service/),
  fault('rules-without-http', 'src/a/service.ts', `import type { FastifyRequest } from 'fastify'`, /fastify/),
  fault('rules-without-http', 'src/b/service.ts', `import { auth } from '../http/auth.js'`, /src\/http\/auth/),
  fault('rules-without-http', 'src/a/repository.ts', `import plugin from 'fastify-plugin'`, /fastify-plugin/),
  fault('routes-through-services', 'src/a/routes.ts', `import { find } from '../messages/repository.js'`, /repository/),
  fault('routes-through-services', 'src/b/routes.ts', `import { eq } from 'drizzle-orm'`, /drizzle-orm/),
  fault('queries-in-repositories', 'src/c/service.ts', `import { eq } from 'drizzle-orm'`, /drizzle-orm/),
  fault('repositories-below-services', 'src/b/repository.ts', `import '../messages/service.js'`, /messages\/service/),
  fault('schemas-are-only-shapes', 'src/a/schemas.ts', `import { DomainError } from '../errors.js'`, /src\/errors/),
  fault('schemas-are-only-shapes', 'src/b/schemas.ts', `import { hash } from 'node:crypto'`, /crypto/),
  fault('ground-floor', 'src/clock.ts', `import { open } from './db/open.js'`, /src\/db\/open/),
  fault('ground-floor', 'src/ids.ts', `import type { Id } from './messages/schemas.js'`, /messages\/schemas/),
  fault('source-stands-alone', 'src/d/service.ts', `import '../../test/support.js'`, /test\/support/),
  fault('no-dev-dependencies', 'src/e/service.ts', `import { test } from 'vitest'`, /vitest/),
  fault('resolvable', 'src/f/service.ts', `import { gone } from './gone.js'`, /gone/),
  fault('resolvable', 'src/g/service.ts', `import unlisted from 'mime'`, /mime/),
  fault('no-cycles', 'src/back.ts', `import type { x } from './there.js'`, /src\/there\.ts -> src\/back\.ts/),
  fault('no-orphans', 'src/dead.ts', '', /src\/dead/)
]

const trees: string[] = []
afterAll(() => {
  for (const tree of trees) rmSync(tree, { recursive: true, force: true })
})

test('the source keeps the rules of the house', () => {
  expect(check(root)).toEqual({ status: 0, output: expect.stringContaining('no violations') })
})

test('a sound house passes', () => {
  expect(check(givenTree(SOUND))).toEqual({ status: 0, output: expect.stringMatching(/^12 files.* no violations/) })
})

describe('in a house with every fault', () => {
  const broken = Object.fromEntries(FAULTS.map(({ file, imports }) => [file, `${imports}\nexport const x = 1`]))
  const needed = { 'test/support.ts': 'export const support = 1', 'src/there.ts': `import './back.js'` }
  const { status, output } = check(givenTree({ ...SOUND, ...needed, ...broken }))

  test('the check fails', () => {
    expect(status).toBe(1)
  })

  test.each(FAULTS)('$rule is broken by $file: $imports', ({ rule, file, named }) => {
    const complaints = output.split('\n').filter((line) => line.startsWith(`${rule}: ${file}`))
    expect(complaints.join('\n'), output).toMatch(named)
  })

  test('nothing is named that is not at fault', () => {
    const named = new Set([...output.matchAll(/^[a-z-]+: (\S+)/gm)].map(([, file]) => file))
    expect([...named].sort()).toEqual(FAULTS.map(({ file }) => file).sort())
  })
})

test('every rule has a fault above that breaks it', () => {
  expect([...new Set(FAULTS.map(({ rule }) => rule))].sort()).toEqual(rules.forbidden.map(({ name }) => name).sort())
})

test('a tree without a source file is refused, not passed as clean', () => {
  expect(check(givenTree({ 'src/readme.txt': '' }))).toEqual({
    status: 1,
    output: expect.stringContaining('nothing was checked')
  })
  expect(check(givenTree({}))).toEqual({ status: 1, output: expect.stringContaining('nothing was checked') })
})

test('a file that the cruise did not read is refused, not passed as clean', () => {
  const tree = givenTree({ ...SOUND, 'src/node_modules/x/index.ts': 'export const hidden = 1' })
  expect(check(tree)).toEqual({ status: 1, output: expect.stringContaining('did not see src/node_modules/x/index.ts') })
})

function fault(rule: string, file: string, imports: string, named: RegExp): Fault {
  return { rule, file, imports, named }
}

function check(folder: string) {
  const script = join(root, 'scripts/check-dependencies.mjs')
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, folder], { encoding: 'utf8' })
  return { status, output: stdout + stderr }
}

/** A project folder with these sources, our package.json and our node_modules; gone when the tests end. */
function givenTree(files: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), 'house-'))
  trees.push(folder)
  for (const name of ['package.json', 'tsconfig.json']) cpSync(join(root, name), join(folder, name))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  return folder
}
