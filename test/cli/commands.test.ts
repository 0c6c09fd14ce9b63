import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command, Option } from 'commander'
import { describe, expect, test } from 'vitest'
import { commandLine } from '../../src/cli/program.js'
import { useMock } from '../support/mock.js'
import { createTempFolder } from '../support/process.js'
import { runHere } from './here.js'

const { version } = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')
)

/** Some flags of `serve`, with the default and the variable that the help shows for each flag. */
const FLAGS = [
  ['--host', 'default: 127.0.0.1', 'NOTIFICATION_MOCK_HOST'],
  ['--port', 'default: 4210', 'NOTIFICATION_MOCK_PORT, else PORT'],
  ['--data', 'default: in memory', 'NOTIFICATION_MOCK_DATA'],
  ['--no-cors', '', 'NOTIFICATION_MOCK_NO_CORS=1'],
  ['--log-level', 'default: info', 'NOTIFICATION_MOCK_LOG_LEVEL']
] as const

async function help(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runHere(args)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return stdout
}

describe('help', () => {
  test.each([[['-h']], [['help', 'serve']]])(
    '%s lists flags with their defaults and environment variables',
    async (args) => {
      const text = (await help(...args)).replaceAll(/\s+/g, ' ')
      for (const [flag, standard, variable] of FLAGS) {
        const [, described = ''] = text.split(` ${flag} `)
        const [facts = ''] = /\([^()]*env: [^)]*\)/.exec(described) ?? []
        expect(facts, flag).toContain(standard)
        expect(facts, flag).toContain(`env: ${variable}`)
      }
    }
  )

  test('lists commands and exit codes, even if an environment variable is invalid', async () => {
    // A server wouldn't start with this invalid port, but the help must still be printed.
    const { stdout: text } = await runHere(['--help'], { NOTIFICATION_MOCK_PORT: 'x' })
    const commands = [...text.matchAll(/^ {2}([a-z]+) .*$/gm)].map(([, command]) => command)
    const expected = [
      'serve',
      'start',
      'status',
      'stop',
      'exec',
      'wait',
      'coverage',
      'conformance',
      'seed'
    ]
    expect(commands).toEqual(
      expect.arrayContaining([...expected, 'healthcheck', 'openapi', 'help'])
    )
    expect(text).toContain('Exit codes: 0 success, 1 failure, 2 usage error.')
  })
})

/**
 * Variables whose flags or descriptions differ between commands. The difference is intended: each
 * variable still has one meaning, such as the server's port or an environment's key.
 */
const SAME_MEANING = [
  'ADMIN_TOKEN',
  'ALLOW_CHANGES',
  'API_KEY',
  'HOST',
  'JSON',
  'OUT',
  'PORT',
  'TARGET'
].map((name) => `NOTIFICATION_MOCK_${name}`)

/** Returns the options of a command and its subcommands that an environment variable can set. */
function optionsWithVariable(command: Command): Option[] {
  const options = command.options.filter(({ envVar }) => envVar !== undefined)
  return [...options, ...command.commands.flatMap(optionsWithVariable)]
}

test('an environment variable has the same meaning in every command', async () => {
  const descriptions = new Map<string, Set<string>>()
  for (const { envVar = '', flags, description } of optionsWithVariable(await commandLine())) {
    const known = descriptions.get(envVar) ?? new Set()
    descriptions.set(envVar, known.add(`${flags} ${description}`))
  }
  const differing = [...descriptions].filter(([, { size }]) => size > 1).map(([name]) => name)
  expect(differing.sort()).toEqual(SAME_MEANING)
})

test('--version prints the version', async () => {
  expect(await runHere(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
})

describe('seed check', () => {
  /** Writes the seed files and returns their paths. */
  function createSeeds(...texts: string[]): string[] {
    const folder = createTempFolder()
    return texts.map((text, index) => {
      const file = join(folder, `${index}.yaml`)
      writeFileSync(file, text)
      return file
    })
  }

  test('warns that requests get a 401 if the seed has no environments', async () => {
    const [file = ''] = createSeeds('environments: []')
    const warning =
      'no environments, so every request gets a 401 until you create one with ' +
      'POST /_mock/environments'
    expect(await runHere(['seed', 'check', file])).toMatchObject({
      code: 0,
      stdout: `${warning}\n${file}: no issues\n`
    })
  })

  test('prints a hint if a key contains an environment variable, and exits with 0', async () => {
    const [file = ''] = createSeeds('environments: [{ name: A, apiKeys: ["${KEY_OF_A}"] }]')
    const { code, stdout } = await runHere(['seed', 'check', file])
    const hint = `hint: ${file}:1:37 environments[0].apiKeys[0]: contains \${KEY_OF_A}, but `
    expect([code, stdout]).toEqual([0, expect.stringContaining(hint)])
  })

  const INVALID = 'environments:\n  - nam: Shop\n  - { name: A, profile: x }\n'

  test('prints one line for each issue of each seed, and exits with 1', async () => {
    const [first = '', other = ''] = createSeeds(INVALID, 'a: []\n')
    const { code, stdout, stderr } = await runHere(['seed', 'check', first, other])
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr.split('\n')).toEqual([
      `${first}:2:5 environments[0]: must have name`,
      `${first}:2:5 environments[0].nam: is not a known field; did you mean name?`,
      `${first}:3:25 environments[1].profile: must be one of document, live`,
      `${other}:1:1: must have environments`,
      expect.stringContaining(`${other}:1:1 a: is not a known field`),
      ''
    ])
  })

  test('--json prints the issues as JSON, and exits with 1', async () => {
    const [file = ''] = createSeeds(INVALID)
    const { code, stdout } = await runHere(['seed', 'check', file, '--json'])
    const location = { location: `${file}:2:5`, file, line: 2, column: 5 }
    const issues = [{ ...location, path: 'environments[0]', message: 'must have name' }, {}, {}]
    expect([code, JSON.parse(stdout)]).toMatchObject([1, { ok: false, issues }])
  })
})

test('seed list prints the name and the description of each built-in seed', async () => {
  const { stdout } = await runHere(['seed', 'list', '--json'])
  const { seeds }: { seeds: { name: string; description: string }[] } = JSON.parse(stdout)
  expect(seeds.map(({ name }) => `${name}.yaml`).sort()).toEqual(
    readdirSync(join(import.meta.dirname, '../../seeds')).filter((name) => name.endsWith('.yaml'))
  )
  for (const { description } of seeds) expect(description).toMatch(/^[A-Z].{30,90}$/)
  expect((await runHere(['seed', 'list'])).stdout).toMatch(
    /^default +Notifications of a small web shop, and a second shop/
  )
})

describe('openapi', () => {
  test('prints the OpenAPI document for a profile and assumptions', async () => {
    const document = await runHere(['openapi'])
    const live = await runHere(['openapi', '--profile', 'live'])
    const assumed = await runHere(['openapi', '--assume', 'vendor-names=vendor'])
    expect(document).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(document.stdout)).toMatchObject({ openapi: '3.1.0', info: { version } })
    expect([document, live, assumed].map(({ stdout }) => stdout.includes('novu-cloud'))).toEqual([
      false,
      true,
      true
    ])
  })

  test('--control prints the OpenAPI document of the control routes', async () => {
    const { stdout } = await runHere(['openapi', '--control'], {
      NOTIFICATION_MOCK_PROFILE: 'live'
    })
    expect(JSON.parse(stdout).paths).toHaveProperty(['/_mock/environments'])
  })
})

test('healthcheck reads the address from environment variables, flags or a URL', async () => {
  const { url } = await useMock()
  const { port } = new URL(url)
  const healthy = { code: 0, stdout: 'healthy\n', stderr: '' }
  const env = { NOTIFICATION_MOCK_HOST: '0.0.0.0', NOTIFICATION_MOCK_PORT: port }
  expect(await runHere(['healthcheck'], env)).toEqual(healthy)
  expect(await runHere(['healthcheck', '--port', port])).toEqual(healthy)
  expect(await runHere(['healthcheck', url])).toEqual(healthy)
})

test('the error about an unwritable temporary folder suggests a fix', async () => {
  const file = join(createTempFolder(), 'file')
  writeFileSync(file, '')
  const { code, stderr } = await runHere(['stop'], { TMPDIR: file })
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(
      /^error: can't write to .*; set TMPDIR to a folder you can write to\n$/
    )
  })
})
