import { execFileSync, spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const script = join(import.meta.dirname, '../../scripts/engine.sh')
const folder = join(tmpdir(), 'notification-mock-engine')

const start = spawnSync(script, ['check', folder], { encoding: 'utf8' })
const unavailable = start.status === 0 ? undefined : start.stdout.trim()

const IMAGE = 'notification-mock-test'
const PORT = '4321'
const ADDRESS = `http://127.0.0.1:${PORT}`
const KEY = 'ApiKey development-key'
const COMPOSE = ['compose', '--project-name', IMAGE]
const VARIABLES = {
  PORT,
  NOTIFICATION_MOCK_ADMIN_TOKEN: 'engine-token',
  NOTIFICATION_MOCK_SEED: '/seeds/default.yaml'
}

describe.skipIf(unavailable)(
  `with a Docker engine${unavailable ? ` (skipped: ${unavailable})` : ''}`,
  () => {
    beforeAll(() => {
      engine('start', [], 360_000)
      docker(...COMPOSE, 'down', '--volumes')
      docker('build', '--tag', IMAGE, '.')
      // docker-compose.yml uses this tag.
      docker('tag', IMAGE, 'notification-mock:local')
    }, 600_000)

    afterAll(() => {
      docker(...COMPOSE, 'down', '--volumes')
      engine('stop')
    })

    test('the image has one dependency: the database addon, with one binary and no sources', () => {
      const files = docker(
        'run',
        '--rm',
        '--entrypoint',
        'find',
        IMAGE,
        'node_modules',
        '-type',
        'f'
      ).split('\n')
      const others = files.filter(
        (file) => !/^node_modules\/better-sqlite3\/(lib\/[\w/-]+\.js|package\.json)$/.test(file)
      )
      expect(others.sort()).toEqual([
        'node_modules/better-sqlite3/LICENSE',
        expect.stringMatching(/^node_modules\/better-sqlite3\/prebuilds\/linux-\w+\.node$/)
      ])
      const kilobytes = Number(
        docker('run', '--rm', '--entrypoint', 'du', IMAGE, '-sk', '/app').split('\t')[0]
      )
      expect(kilobytes).toBeLessThan(17_000)
    })

    test('the image runs with another port, another user or a read-only file system', async () => {
      const readOnly = ['--read-only', '--tmpfs', '/data']
      const variants: [flags: string[], args?: string[]][] = [
        [['--env', 'NOTIFICATION_MOCK_PORT=5000']],
        [
          ['--init', '--env', 'PORT=5000'],
          ['serve', '--no-seed']
        ],
        [['--user', '1234:1234']],
        [readOnly],
        [[...readOnly, '--user', '1234:1234']]
      ]
      const ids = variants.map(([flags, args = []]) =>
        docker('run', '--detach', ...flags, IMAGE, ...args)
      )
      const states = await Promise.all(ids.map((id) => health(id)))
      const logs = ids.map((id) => docker('logs', id))
      docker('rm', '--force', ...ids)
      expect({ states, logs }).toEqual({
        states: ids.map(() => 'healthy'),
        logs: expect.anything()
      })
    })

    test("under compose, the image serves the user's seed at the printed local URL", async () => {
      docker(...COMPOSE, 'up', '--no-build', '--wait', '--wait-timeout', '60')
      expect(docker(...COMPOSE, 'logs', '--no-log-prefix')).toContain(`is ready at ${ADDRESS}`)
      expect(docker('port', container())).toBe(`${PORT}/tcp -> 127.0.0.1:${PORT}`)
      expect(inspect('.Config.Env')).toContain('NOTIFICATION_MOCK_SEED=/seeds/default.yaml')
      // Managing environments requires the admin token.
      const body = '{"from":"Development"}'
      for (const [headers, status] of [
        [{}, 403],
        [{ authorization: 'Bearer engine-token' }, 201]
      ] as const)
        expect(send('/_mock/environments', { method: 'POST', body, headers })).toMatchObject({
          status
        })
    })

    test('the container stops quickly with code 0, and keeps its data even if killed', () => {
      const setPrimary = (id: string) =>
        send(`/v1/integrations/${id}/set-primary`, {
          method: 'POST',
          headers: { authorization: KEY }
        })
      expect(setPrimary('mailgun-eu')).toMatchObject({ status: 200 })
      const startedAt = performance.now()
      docker('stop', container())
      expect(performance.now() - startedAt).toBeLessThan(5000)
      expect(inspect('.State.ExitCode')).toBe('0')
      for (const [id, end] of [
        ['mailgun-eu', 'kill'],
        ['sendgrid-main', 'stop']
      ] as const) {
        docker(...COMPOSE, 'up', '--no-build', '--wait', '--wait-timeout', '60')
        expect(primary()).toBe(id)
        expect(setPrimary('sendgrid-main')).toMatchObject({ status: 200 })
        docker(end, container())
      }
    })
  }
)

function engine(action: string, args: readonly string[] = [], timeout = 300_000): string {
  const env = { ...process.env, ...VARIABLES }
  return execFileSync(script, [action, folder, ...args], {
    encoding: 'utf8',
    env,
    timeout,
    stdio: 'pipe'
  }).trim()
}

const docker = (...args: string[]) => engine('run', ['docker', ...args])
const container = () => docker(...COMPOSE, 'ps', '--all', '--quiet')
const inspect = (field: string) => docker('inspect', '--format', `{{${field}}}`, container())

/** Waits up to half a minute for the first result of the health check, and returns the result. */
async function health(id: string, tries = 60): Promise<string> {
  const state = docker('inspect', '--format', '{{.State.Health.Status}}', id)
  if (state !== 'starting' || tries === 0) return state
  await sleep(500)
  return health(id, tries - 1)
}

/** Sends a request from the machine that runs the Docker engine, where the port is published. */
function send(
  path: string,
  request: RequestInit
): { status: number; body: { [name: string]: unknown } } {
  const client = `fetch(${JSON.stringify(ADDRESS + path)}, ${JSON.stringify(request)})
    .then(async (response) => {
      const { status } = response
      console.log(JSON.stringify({ status, body: await response.json() }))
    })`
  return JSON.parse(engine('net', [process.execPath, '-e', client]))
}

/** Returns the identifier of the primary email integration. */
function primary(): unknown {
  const { body } = send('/_mock/state', { headers: { authorization: KEY } })
  const [{ integrations }] = body.environments as [{ integrations: { [name: string]: unknown }[] }]
  return integrations.find(({ channel, primary }) => channel === 'email' && primary)?.identifier
}
