import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'

const root = join(import.meta.dirname, '../..')
const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8')
const composeFile = readFileSync(join(root, 'docker-compose.yml'), 'utf8')

const stages = dockerfile
  .replaceAll(/^\s*#.*\n/gm, '')
  .replaceAll(/\\\n\s*/g, ' ')
  .split(/^(?=FROM )/m)
  .filter((text) => text.trim())
const image = stages.at(-1) ?? ''
const { services } = parse(composeFile)
const service = services['notification-mock']

const HEALTHCHECK = ['node', 'dist/cli/index.js', 'healthcheck']

test('the linters find no problem in the container files', () => {
  const { stdout } = spawnSync(process.execPath, [join(root, 'scripts/lint-container.mjs'), root], {
    encoding: 'utf8'
  })
  expect(stdout).toContain('no problems')
})

test('the image is built from the lock, on one Debian and Node, and holds no package but the database addon', () => {
  const bases = stages.map((stage) => /^FROM (\S+)/.exec(stage)?.[1]?.replace(/-slim$/, ''))
  expect([bases.length, new Set(bases).size]).toEqual([2, 1])
  expect(dockerfile).toMatch(/^RUN .*npm ci\b/m)
  const packages = image.matchAll(/^COPY .* \.\/node_modules\/?([^/\s]*)/gm)
  expect([...packages].map(([, name]) => name)).toEqual(['better-sqlite3'])
})

test('the server is the first process of the image, not a child of npm or of a shell, and not root', () => {
  expect(listAfter('ENTRYPOINT')).toEqual(['node', 'dist/cli/index.js'])
  expect(listAfter('CMD')).toEqual(['serve'])
  expect(lineAfter('USER')).toBe('node')
})

test('the image is healthy when our own command says so, needing no curl, and keeps its data in /data', () => {
  const [, command] = (lineAfter('HEALTHCHECK') ?? '').split(' CMD ')
  expect(JSON.parse(command ?? '')).toEqual(HEALTHCHECK)
  expect(service.healthcheck.test).toEqual(['CMD', ...HEALTHCHECK])
  expect(lineAfter('ENV')).toContain('NOTIFICATION_MOCK_DATA=/data/')
  // The user of the image owns it.
  expect(image).toContain('chown node:node /data')
  expect(service.volumes).toEqual(['data:/data', `\${SEEDS:-./seeds}:/seeds:ro`])
})

test('compose publishes the port that the server listens on, to this machine only, and passes on the variables', () => {
  const port = `\${PORT:-${lineAfter('EXPOSE')}}`
  expect(service.ports).toEqual([`127.0.0.1:${port}:${port}`])
  const names = ['SEED', 'ADMIN_TOKEN', 'PROFILE', 'LOG_LEVEL'].map(
    (name) => `NOTIFICATION_MOCK_${name}`
  )
  // In the form that podman-compose reads too.
  const passedOn = Object.fromEntries(names.map((name) => [name, null]))
  expect(service.environment).toEqual({ NOTIFICATION_MOCK_PORT: port, ...passedOn })
})

test('compose gives the container no more rights than it needs, and older engines take the files', () => {
  expect(service).toMatchObject({
    ...{ init: true, read_only: true, tmpfs: ['/tmp'] },
    ...{ cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] }
  })
  expect(dockerfile).not.toMatch(/--start-interval|--mount|<</)
  expect(composeFile).not.toMatch(/start_interval|^(version|name):/m)
})

function lineAfter(instruction: string) {
  return new RegExp(`^${instruction} (.*)$`, 'm').exec(image)?.[1]
}

/** The words of an instruction in exec form; a shell form does not parse. */
function listAfter(instruction: string): unknown {
  return JSON.parse(lineAfter(instruction) ?? '')
}
