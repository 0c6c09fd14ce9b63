import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { createTempFolder } from './support/process.js'

const root = join(import.meta.dirname, '..')

/** A small project that keeps every rule. */
const SOUND: Record<string, string> = {
  'src/index.ts': `export * from './client/index.js'`,
  'src/client/index.ts': `import type { Id } from '../messages/schemas.js'\nexport const connect = (id: typeof Id) => id`,
  'src/core/enums.ts': `export const CHANNELS = ['email'] as const`,
  'src/http/errors.ts': `import type { FastifyRequest } from 'fastify'\nexport const answer = (request: FastifyRequest) => request.id`,
  'src/messages/schemas.ts': `import { CHANNELS } from '../core/enums.js'\nexport const Id = CHANNELS`,
  'src/messages/service.ts': `import { find } from './repository.js'\nexport const list = find`,
  'src/messages/repository.ts': `import { eq } from 'drizzle-orm'\nexport const find = eq`
}

const lines = (count: number) => "  'line'\n".repeat(count)

/** By the file that breaks it, which rule, and how. */
const VIOLATIONS: Record<string, [rule: string, source: string]> = {
  'src/core/a.ts': ['below-core', `import '../http/errors.js'`],
  'src/client/b.ts': ['client-stands-alone', `import 'node:path'`],
  'src/http/b.ts': ['http-without-database', `import 'drizzle-orm/better-sqlite3'`],
  'src/control/service.ts': ['services-without-http', `import '../http/errors.js'`],
  'src/control/routes.ts': ['routes-through-services', `import '../messages/repository.js'`],
  'src/control/schemas.ts': ['schemas-are-only-shapes', `import '../http/errors.js'`],
  'src/control/b.ts': ['resolvable', `import 'mime'`],
  'src/core/back.ts': ['no-cycles', `import './there.js'`],
  'src/core/dead.ts': ['no-orphans', ''],
  'src/helpers': ['misplaced', ''],
  'src/core/long.ts': ['too long', `import './enums.js'\n${lines(350)}`],
  'src/core/large.ts:2': ['too long', '']
}

test('the source keeps the rules', () => {
  expect(check(root)).toEqual({ status: 0, output: expect.stringContaining('no violations') })
})

test('a project that keeps the rules passes, and one without a source file is refused', () => {
  expect(check(createProject(SOUND))).toEqual({
    status: 0,
    output: expect.stringContaining('no violations')
  })
  expect(check(createProject({}))).toEqual({
    status: 1,
    output: expect.stringContaining('nothing was checked')
  })
})

test('each file that breaks a rule, has no layer or is too long is named, and no other', () => {
  const broken = Object.entries(VIOLATIONS).filter(([file]) => file.endsWith('.ts'))
  const files = {
    'src/helpers/a.ts': `import '../core/enums.js'`,
    'src/core/there.ts': `import './back.js'`,
    'src/core/large.ts': `import './enums.js'\nexport function large() {\n${lines(79)}}\n`,
    ...Object.fromEntries(
      broken.map(([file, [, source]]) => [file, `${source}\nexport const x = 1`])
    )
  }
  const { status, output } = check(createProject({ ...SOUND, ...files }))
  expect(status).toBe(1)
  const named = [...output.matchAll(/^([a-z][a-z -]+): (\S+)/gm)].map(
    ([, rule, file]) => `${rule} ${file}`
  )
  expect(new Set(named)).toEqual(
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

/** A project folder with these sources, our package.json and our node_modules. */
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
