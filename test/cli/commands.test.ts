import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { givenFolder, runCommand, startCommand } from '../support/process.js'

const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'))

/** What help says of each flag of serve. */
const FLAGS = [
  ['--host', 'default: 127.0.0.1', 'NOTIFICATION_MOCK_HOST'],
  ['--port', 'default: 4210', 'NOTIFICATION_MOCK_PORT, else PORT'],
  ['--seed', 'default: default', 'NOTIFICATION_MOCK_SEED'],
  ['--no-seed', '', 'NOTIFICATION_MOCK_NO_SEED=1'],
  ['--data', 'default: in memory', 'NOTIFICATION_MOCK_DATA'],
  ['--profile', 'default: document', 'NOTIFICATION_MOCK_PROFILE'],
  ['--assume', 'default: none', 'NOTIFICATION_MOCK_ASSUME'],
  ['--no-cors', '', 'NOTIFICATION_MOCK_NO_CORS=1'],
  ['--log-level', 'default: info', 'NOTIFICATION_MOCK_LOG_LEVEL'],
  ['--json', '', 'NOTIFICATION_MOCK_JSON=1']
] as const

async function help(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCommand(args, {
    // They keep a server from starting, but nobody from reading what they should be.
    env: { NOTIFICATION_MOCK_JSON: 'maybe', NOTIFICATION_MOCK_SEDE: '1' }
  })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return stdout
}

describe('help', () => {
  test.each([[['--help']], [['-h']], [['serve', '--help']], [['help', 'serve']]])(
    '%s lists every flag with its default and its variable',
    async (args) => {
      const text = (await help(...args)).replaceAll(/\s+/g, ' ')
      for (const [flag, standard, variable] of FLAGS) {
        const [, described = ''] = text.split(` ${flag} `)
        const [facts = ''] = /\([^()]*env: [^)]*\)/.exec(described) ?? []
        expect(facts, flag).toContain(standard)
        expect(facts, flag).toContain(`env: ${variable}`)
      }
      const flags = [...text.matchAll(/ (--[a-z-]+)(?= [<a-z])(?= .*?env:)/g)].map(([, flag]) => flag)
      for (const [flag] of FLAGS) expect(flags).toContain(flag)
    }
  )

  test('lists the commands, the exit codes, and examples', async () => {
    const text = await help()
    const groups = [...text.matchAll(/^(\S.*:)\n((?: {2}.*\n)+)/gm)].map(([, heading, lines = '']) => [
      heading,
      [...lines.matchAll(/^ {2}([a-z]+)/gm)].map(([, command]) => command)
    ])
    expect(groups).toEqual(
      expect.arrayContaining([
        ['Serve:', ['serve', 'start', 'status', 'stop']],
        ['Test against it:', ['exec', 'wait', 'coverage', 'conformance']],
        ['Make data:', ['seed']],
        ['Ask about it:', ['openapi', 'healthcheck', 'help']]
      ])
    )
    expect(text).toContain('Exit codes: 0 done, 1 it could not be done, 2 the command line is wrong.')
    expect(await help('help')).toBe(text)

    async function help(...args: string[]): Promise<string> {
      return (await runCommand(args.length > 0 ? args : ['--help'])).stdout
    }
  })

  test('its examples work as they are written', async () => {
    const text = await help('--help')
    const examples = [...text.matchAll(/^ {2}\$ (.*?) {2,}/gm)].map(([, example = '']) => example)
    expect(examples.length).toBeGreaterThanOrEqual(5)
    const cwd = givenFolder()
    writeFileSync(join(cwd, 'shop.yaml'), 'environments: [{ name: Shop }]')
    for (const example of examples) {
      const words = example.split(' ')
      const [variable, value] = words[0]?.includes('=') ? (words.shift() ?? '').split('=') : []
      expect(words.shift()).toBe('notification-mock')
      const env = variable && value ? { [variable]: value } : {}
      if (['seed', 'exec'].includes(words[0] ?? '')) {
        expect(await runCommand(words, { cwd, env })).toMatchObject({ code: 0 })
      } else {
        // Whatever port it names may be taken here.
        const { child, ended } = await startCommand([...words, '--port', '0'], { cwd, env })
        child.kill()
        expect(await ended).toMatchObject({ code: 0 })
      }
    }
  })

  test('of a command lists its own flags', async () => {
    expect(await help('healthcheck', '--help')).toContain('NOTIFICATION_MOCK_PORT, else PORT')
    expect(await help('openapi', '--help')).toContain('NOTIFICATION_MOCK_PROFILE')
    expect(await help('coverage', '--help')).toMatch(/only as a flag\s+\(default: the whole server\)/)
    expect(await help('seed', 'check', '--help')).toContain('NOTIFICATION_MOCK_JSON=1')
  })

  test('is printed for `seed` without a command, with exit code 2', async () => {
    const { code, stdout, stderr } = await runCommand(['seed'])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain('check [options] <file...>')
  })
})

test.each(['--version', '-V'])('%s prints the version', async (flag) => {
  expect(await runCommand([flag])).toEqual({ code: 0, signal: null, stdout: `${version}\n`, stderr: '' })
})

describe('seed check', () => {
  function givenSeeds(seeds: Record<string, string>): { cwd: string } {
    const cwd = givenFolder()
    for (const [name, text] of Object.entries(seeds)) writeFileSync(join(cwd, name), text)
    return { cwd }
  }

  const VALID = `environments:
  - name: Shop
    subscribers: [{ subscriberId: ada }, { subscriberId: bob }]
    workflows: [{ identifier: shipped, steps: [{ type: email }] }]
`

  test('counts the records of a valid seed, and exits with 0', async () => {
    expect(await runCommand(['seed', 'check', 'shop.yaml'], givenSeeds({ 'shop.yaml': VALID }))).toEqual({
      code: 0,
      signal: null,
      stdout: 'Shop: 0 integrations, 2 subscribers, 1 workflow, 1 step, 0 messages\nshop.yaml: no issues\n',
      stderr: ''
    })
  })

  test('finds no issue in the seed that comes with the package', async () => {
    expect(await runCommand(['seed', 'check', 'default'])).toMatchObject({ code: 0, stderr: '' })
  })

  test('takes a name as that of a seed of the package, also beside a folder of that name', async () => {
    const { cwd } = givenSeeds({})
    mkdirSync(join(cwd, 'failures'))
    expect(await runCommand(['seed', 'check', 'failures'], { cwd })).toMatchObject({ code: 0, stderr: '' })
  })

  test('prints every issue in its own line on stderr, and exits with 1', async () => {
    const { code, stdout, stderr } = await runCommand(
      ['seed', 'check', 'shop.yaml'],
      givenSeeds({ 'shop.yaml': 'environments:\n  - nam: Shop\n  - { name: A, profile: x }\n' })
    )
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr.split('\n')).toEqual([
      'shop.yaml:2:5 environments[0]: must have name',
      'shop.yaml:2:5 environments[0].nam: is not a field here; did you mean name?',
      'shop.yaml:3:25 environments[1].profile: must be one of document, live',
      ''
    ])
  })

  test('checks several together, as serve loads them', async () => {
    const messages = 'environments: [{ name: Shop, messages: [{ channel: email, subscriberId: ada }] }]'
    const seeds = givenSeeds({ 'shop.yaml': VALID, 'messages.yaml': messages })
    expect(await runCommand(['seed', 'check', 'messages.yaml'], seeds)).toMatchObject({ code: 1 })
    expect(await runCommand(['seed', 'check', 'messages.yaml', 'shop.yaml'], seeds)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Shop: 0 integrations, 2 subscribers, 1 workflow, 1 step, 1 message\n')
    })
  })

  test('--json prints the outcome as JSON', async () => {
    const seeds = givenSeeds({ 'shop.yaml': VALID, 'wrong.yaml': 'environments: 7' })
    const valid = await runCommand(['seed', 'check', 'shop.yaml', '--json'], seeds)
    expect({ ...valid, stdout: JSON.parse(valid.stdout) }).toMatchObject({
      code: 0,
      stdout: { ok: true, issues: [], more: 0 }
    })
    const wrong = await runCommand(['seed', 'check', 'wrong.yaml', '--json'], seeds)
    expect({ ...wrong, stdout: JSON.parse(wrong.stdout) }).toMatchObject({
      code: 1,
      stdout: {
        ok: false,
        issues: [
          {
            location: 'wrong.yaml:1:15',
            file: 'wrong.yaml',
            line: 1,
            column: 15,
            path: 'environments',
            message: 'must be a list, not 7'
          }
        ]
      }
    })
  })
})

describe('seed list', () => {
  test('lists the seeds that come with the package, each of which is one', async () => {
    const { stdout } = await runCommand(['seed', 'list', '--json'])
    const { seeds }: { seeds: { name: string; description: string }[] } = JSON.parse(stdout)
    expect(seeds.map(({ name }) => `${name}.yaml`).sort()).toEqual(
      readdirSync(join(import.meta.dirname, '../../seeds')).filter((name) => name.endsWith('.yaml'))
    )
    for (const { description } of seeds) expect(description).toMatch(/^(What|for|to) .{30,250}$/)
    const text = await runCommand(['seed', 'list'])
    expect(text.stdout.split('\n')[0]).toMatch(/^default +What notification-mock holds unless/)
    expect(text.stdout.split('\n')).toHaveLength(seeds.length + 1)
  })
})

describe('openapi', () => {
  test('--control with an assumption or a profile is a usage error, as it would say nothing of them', async () => {
    const env = { NOTIFICATION_MOCK_PROFILE: 'live' }
    const [profile, assume, variable] = await Promise.all([
      runCommand(['openapi', '--control', '--profile', 'live']),
      runCommand(['openapi', '--control', '--assume', 'envelope=data']),
      runCommand(['openapi', '--control'], { env })
    ])
    expect([profile.code, assume.code, variable.code]).toEqual([2, 2, 0])
    expect(profile.stderr).toContain('--control and --profile contradict each other')
    expect(assume.stderr).toContain('--control and --assume contradict each other')
  })

  test('with --control it prints that of the control routes', async () => {
    const { code, stdout } = await runCommand(['openapi', '--control'])
    expect(code).toBe(0)
    expect(JSON.parse(stdout).paths).toHaveProperty(['/_mock/environments'])
  })

  test('prints the document as JSON, and nothing else', async () => {
    const { code, stdout, stderr } = await runCommand(['openapi'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(JSON.parse(stdout)).toMatchObject({ openapi: '3.1.0', info: { version } })
  })

  test('prints the document of the given profile and assumptions', async () => {
    const [document, live] = await Promise.all([runCommand(['openapi']), runCommand(['openapi', '--profile', 'live'])])
    expect(live.stdout).toContain('novu-cloud')
    expect(document.stdout).not.toContain('novu-cloud')
    const { stdout } = await runCommand(['openapi', '--assume', 'vendor-names=vendor'])
    expect(stdout).toContain('novu-cloud')
  })
})

describe('healthcheck', () => {
  test('exits with 0 when the server is healthy, wherever the same variables make it listen', async () => {
    const { url } = await startCommand(['--no-seed', '--host', '0.0.0.0'])
    const { port } = new URL(url)
    const env = { NOTIFICATION_MOCK_HOST: '0.0.0.0', NOTIFICATION_MOCK_PORT: port }
    expect(await runCommand(['healthcheck'], { env })).toEqual({
      code: 0,
      signal: null,
      stdout: 'healthy\n',
      stderr: ''
    })
    expect(await runCommand(['healthcheck', '--port', port])).toMatchObject({ code: 0 })
  })

  test('exits with 1 and the reason when it is not', async () => {
    const server = createServer((_, response) => response.writeHead(503).end('{"status":"starting"}'))
    onTestFinished(() => void server.close())
    await new Promise<void>((settle) => server.listen(0, '127.0.0.1', settle))
    const { port } = server.address() as { port: number }
    expect(await runCommand(['healthcheck', '--port', `${port}`])).toEqual({
      code: 1,
      signal: null,
      stdout: '',
      stderr: `error: http://127.0.0.1:${port}/health: answers 503: {"status":"starting"}\n`
    })
  })

  test('gives up on a server that does not answer', async () => {
    const server = createServer(() => {})
    onTestFinished(() => server.closeAllConnections())
    await new Promise<void>((settle) => server.listen(0, '127.0.0.1', settle))
    onTestFinished(() => void server.close())
    const { port } = server.address() as { port: number }
    const { code, stderr } = await runCommand(['healthcheck', '--port', `${port}`])
    expect(code).toBe(1)
    expect(stderr).toMatch(/: no answer: /)
  })
})
