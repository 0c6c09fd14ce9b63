import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { createTempFolder } from './support/process.js'

const root = join(import.meta.dirname, '..')

/** A small project that follows every rule. */
const SOUND: Record<string, string> = {
  'src/index.ts': `export * from './client/index.js'`,
  'src/client/index.ts':
    `import type { Id } from '../messages/schemas.js'\n` +
    'export const connect = (id: typeof Id) => id',
  'src/domain/enums.ts': `export const CHANNELS = ['email'] as const`,
  'src/http/errors.ts':
    `import type { FastifyRequest } from 'fastify'\n` +
    'export const idOf = (request: FastifyRequest) => request.id',
  'src/messages/schemas.ts': `import { CHANNELS } from '../domain/enums.js'\nexport const Id = CHANNELS`,
  'src/messages/service.ts': `import { find } from './repository.js'\nexport const list = find`,
  'src/messages/repository.ts': `import { eq } from 'drizzle-orm'\nexport const find = eq`
}

const lines = (count: number) => "  'line'\n".repeat(count)

/**
 * The expected violations. Each key is the reported path, with a line number if a function is too
 * long. The sources are used only for keys that end with `.ts`: the test writes the other files.
 */
const VIOLATIONS: Record<string, [rule: string, source: string]> = {
  'src/domain/a.ts': ['below-domain', `import '../http/errors.js'`],
  'src/client/b.ts': ['client-stands-alone', `import 'node:path'`],
  'src/http/b.ts': ['http-without-database', `import 'drizzle-orm/better-sqlite3'`],
  'src/control/service.ts': ['services-without-http', `import '../http/errors.js'`],
  'src/control/routes.ts': ['routes-through-services', `import '../messages/repository.js'`],
  'src/control/schemas.ts': ['schemas-are-only-shapes', `import '../http/errors.js'`],
  'src/control/b.ts': ['resolvable', `import 'mime'`],
  'src/domain/back.ts': ['no-cycles', `import './there.js'`],
  'src/domain/dead.ts': ['no-orphans', ''],
  'src/helpers': ['misplaced', ''],
  'src/domain/long.ts': ['too long', `import './enums.js'\n${lines(400)}`],
  'src/domain/large.ts:2': ['too long', ''],
  'test/large.test.ts:1': ['too long', '']
}

test('our source code follows the rules', () => {
  expect(check(root)).toEqual({ status: 0, output: expect.stringContaining('no violations') })
})

test('accepts a project that follows the rules, and rejects a project without files', () => {
  expect(check(createProject(SOUND))).toEqual({
    status: 0,
    output: expect.stringContaining('no violations')
  })
  expect(check(createProject({}))).toEqual({
    status: 1,
    output: expect.stringContaining('nothing was checked')
  })
})

test('reports every violation, and nothing else', () => {
  const broken = Object.entries(VIOLATIONS).filter(([file]) => file.endsWith('.ts'))
  const files = {
    'src/helpers/a.ts': `import '../domain/enums.js'`,
    'src/domain/there.ts': `import './back.js'`,
    'src/domain/large.ts': `import './enums.js'\nexport function large() {\n${lines(79)}}\n`,
    'test/large.test.ts': `function large() {\n${lines(39)}}\n`,
    'test/small.test.ts': `function small() {\n${lines(30)}}\n`,
    ...Object.fromEntries(
      broken.map(([file, [, source]]) => [file, `${source}\nexport const x = 1`])
    )
  }
  const { status, output } = check(createProject({ ...SOUND, ...files }))
  expect(status).toBe(1)
  const reported = [...output.matchAll(/^([a-z][a-z -]+): (\S+)/gm)].map(
    ([, rule, file]) => `${rule} ${file}`
  )
  expect(new Set(reported)).toEqual(
    new Set(Object.entries(VIOLATIONS).map(([file, [rule]]) => `${rule} ${file}`))
  )
})

function check(folder: string) {
  const script = join(root, 'scripts/check-dependencies.mjs')
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, folder], {
    encoding: 'utf8'
  })
  return { status, output: stdout + stderr }
}

/** Creates a project folder with these files, our package.json and our node_modules. */
function createProject(files: Record<string, string>): string {
  const folder = createTempFolder()
  for (const name of ['package.json', 'tsconfig.json']) cpSync(join(root, name), join(folder, name))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  return folder
}
