import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { configOf } from '../../src/config.js'
import { optionsOf, runHere } from './here.js'

/** The variables that Kubernetes sets for a service named `notification-mock`. */
const KUBERNETES = {
  NOTIFICATION_MOCK_PORT: 'tcp://10.0.0.1:4210',
  NOTIFICATION_MOCK_SERVICE_HOST: '10.0.0.1'
}

describe('option values', () => {
  const VARIABLES = {
    NOTIFICATION_MOCK_SEED: 'shop.yaml,other.json',
    NOTIFICATION_MOCK_PROFILE: 'live',
    NOTIFICATION_MOCK_JSON: '1'
  }

  test('flags override environment variables, and --seed can be repeated', async () => {
    const flags = ['--profile', 'document', '--seed', 'other.json', '--seed', 'shop.yaml']
    expect(await optionsOf(flags, VARIABLES)).toMatchObject({
      profile: 'document',
      seeds: ['other.json', 'shop.yaml']
    })
  })

  test.each([
    [
      '--no-seed overrides NOTIFICATION_MOCK_SEED',
      ['--no-seed'],
      { NOTIFICATION_MOCK_SEED: 'a.yaml' },
      { seeds: [] }
    ],
    [
      '--seed overrides NOTIFICATION_MOCK_NO_SEED',
      ['--seed', 'a'],
      { NOTIFICATION_MOCK_NO_SEED: '1' },
      { seeds: ['a'] }
    ],
    [
      'if both --no-seed and --seed are given, the last one wins',
      ['--no-seed', '--seed', 'a'],
      {},
      { seeds: ['a'] }
    ],
    ['the value 0 turns a switch off', [], { NOTIFICATION_MOCK_NO_CORS: '0' }, { cors: true }],
    [
      'the value No turns a switch off',
      [],
      { NOTIFICATION_MOCK_NO_SEED: 'No' },
      { seeds: ['default'] }
    ],
    [
      'an empty variable is ignored',
      [],
      { NOTIFICATION_MOCK_PROFILE: '' },
      { profile: 'document' }
    ],
    [
      'the variables that Kubernetes sets for a service are ignored',
      [],
      KUBERNETES,
      { port: 4210 }
    ],
    ['PORT is used when no other port is given', [], { PORT: '1' }, { port: 1 }],
    [
      'NOTIFICATION_MOCK_PORT overrides PORT',
      [],
      { PORT: '1', NOTIFICATION_MOCK_PORT: '2' },
      { port: 2 }
    ],
    [
      'a flag overrides PORT',
      ['--port', '3'],
      { PORT: '1', NOTIFICATION_MOCK_PORT: '2' },
      { port: 3 }
    ],
    [
      '--latency accepts a delay and a spread',
      ['--latency', '200,50'],
      {},
      { latency: { delay: 200, spread: 50 } }
    ],
    ['--stubs selects a built-in set', ['--stubs', 'novu-client'], {}, { stubs: 'novu-client' }]
  ])('%s', async (_, args, env, expected) => {
    expect(await optionsOf(args, env as unknown as Record<string, string>)).toMatchObject(expected)
  })
})

describe('an error is reported in one line, with a fix and without a stack trace', () => {
  const folder = mkdtempSync(join(tmpdir(), 'notification-mock-'))
  writeFileSync(join(folder, 'wrong.yaml'), 'environments: \n')
  afterAll(() => rmSync(folder, { recursive: true }))

  test.each<[string, string[], string]>([
    ['an unknown flag', ['--prot', '1'], `unknown option '--prot'; did you mean --port?`],
    ['a port that is not a number', ['--port', '4e3'], 'It must be an integer from 0 to 65535.'],
    ['an unknown profile', ['--profile', 'lvie'], 'Allowed choices are document, live.'],
    [
      'an unknown assumption',
      ['--assume', 'envelop=data'],
      'no assumption envelop; did you mean envelope?'
    ],
    ['an unknown command', ['srve'], `unknown command 'srve'; did you mean serve?`],
    ['an extra argument', ['serve', 'shop.yaml'], `too many arguments for 'serve'`],
    [
      'an unknown subcommand',
      ['seed', 'chekc', 'x'],
      `unknown command 'chekc'; did you mean check?`
    ],
    ['no seed to watch', ['--watch', '--no-seed'], '--watch and --no-seed contradict each other'],
    [
      'an unknown latency',
      ['--latency', 'slow'],
      'one of none, office, mobile, bad, not slow; write milliseconds as'
    ],
    [
      'an invalid environment variable',
      ['NOTIFICATION_MOCK_PORT=x'],
      `'x' from env 'NOTIFICATION_MOCK_PORT' is invalid. It`
    ]
  ])('%s is a usage error (exit code 2)', (_, args, message) => expectError(args, 2, message))

  const wrong = join(folder, 'wrong.yaml')
  test.each<[string, string[], string]>([
    ['a missing seed', ['--seed', 'gone.yaml'], `gone.yaml: can't be read: there is no such file`],
    ['an unknown seed name', ['--seed', 'defualt'], 'did you mean default?'],
    [
      'an issue in a seed',
      ['--seed', wrong],
      'wrong.yaml:1:15 environments: must be a list, not null'
    ],
    [
      'a --host that is the address of another machine',
      ['--no-seed', '--host', '192.0.2.1'],
      'choose another with --host'
    ],
    ['a data file that is not a database', ['--no-seed', '--data', wrong], 'it is not a database'],
    ['no running server', ['healthcheck', '--port', '9'], 'http://127.0.0.1:9/health: no response']
  ])('%s is a failure (exit code 1)', (_, args, message) => expectError(args, 1, message))

  async function expectError(args: string[], code: number, message: string) {
    const [name = '', value] = args[0]?.split('=') ?? []
    const ended = await (value ? runHere([], { [name]: value }) : runHere(args))
    expect(ended).toEqual({ code, stdout: '', stderr: expect.stringMatching(/^[^\n]+\n$/) })
    expect(ended.stderr).toContain(message)
    expect(ended.stderr).not.toMatch(/\n {4}at |Error:/)
  }
})

test('--host accepts IPv6 addresses in brackets, and [::1] counts as this machine', async () => {
  const { host, adminToken } = await optionsOf(['--host', '[::1]'])
  expect({ host, adminToken }).toEqual({ host: '::1', adminToken: undefined })
  expect(configOf({ host: '[::1]' }).host).toBe('::1')
})

test('--watch rejects standard input', async () => {
  expect(await runHere(['serve', '--seed', '-', '--watch'])).toMatchObject({
    code: 1,
    stderr: "error: standard input can't be watched; save the seed as a file\n"
  })
})
