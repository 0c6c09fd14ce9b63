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

test('both build stages have the same base image, and npm installs from the lock file', () => {
  const bases = stages.map((stage) => /^FROM (\S+)/.exec(stage)?.[1]?.replace(/-slim$/, ''))
  expect([bases.length, new Set(bases).size]).toEqual([2, 1])
  expect(dockerfile).toMatch(/^RUN .*npm ci\b/m)
})

test('the database addon is the only package in the image', () => {
  const packages = image.matchAll(/^COPY .* \.\/node_modules\/?([^/\s]*)/gm)
  expect([...packages].map(([, name]) => name)).toEqual(['better-sqlite3'])
})

test('the image starts the server directly, without npm or a shell, and not as root', () => {
  expect(listAfter('ENTRYPOINT')).toEqual(['node', 'dist/cli/index.js'])
  expect(listAfter('CMD')).toEqual(['serve'])
  expect(lineAfter('USER')).toBe('node')
})

test('the image checks its health with the command `healthcheck`', () => {
  const [, command] = (lineAfter('HEALTHCHECK') ?? '').split(' CMD ')
  expect(JSON.parse(command ?? '')).toEqual(HEALTHCHECK)
  expect(service.healthcheck.test).toEqual(['CMD', ...HEALTHCHECK])
})

test('the image keeps its data in /data', () => {
  expect(lineAfter('ENV')).toContain('NOTIFICATION_MOCK_DATA=/data/')
  // The server must be able to write to /data, although it doesn't run as root.
  expect(image).toContain('chown node:node /data')
  expect(service.volumes).toEqual(['data:/data', `\${SEEDS:-./seeds}:/seeds:ro`])
})

test("compose publishes the port only on loopback, and passes on the host's variables", () => {
  const port = `\${PORT:-${lineAfter('EXPOSE')}}`
  expect(service.ports).toEqual([`127.0.0.1:${port}:${port}`])
  const names = ['SEED', 'ADMIN_TOKEN', 'PROFILE', 'LOG_LEVEL'].map(
    (name) => `NOTIFICATION_MOCK_${name}`
  )
  // compose and podman-compose pass on the host's value of a variable that is null here.
  const passedOn = Object.fromEntries(names.map((name) => [name, null]))
  expect(service.environment).toEqual({ NOTIFICATION_MOCK_PORT: port, ...passedOn })
})

test('compose names the image and sets no restart policy', () => {
  expect(service.image).toBe('notification-mock:local')
  expect(service).not.toHaveProperty('restart')
})

test('compose drops the rights that the container does not need', () => {
  expect(service).toMatchObject({
    init: true,
    read_only: true,
    tmpfs: ['/tmp'],
    cap_drop: ['ALL'],
    security_opt: ['no-new-privileges:true']
  })
})

test('the container files use no syntax that older engines reject', () => {
  expect(dockerfile).not.toMatch(/--start-interval|--mount|<</)
  expect(composeFile).not.toMatch(/start_interval|^(version|name):/m)
})

function lineAfter(instruction: string) {
  return new RegExp(`^${instruction} (.*)$`, 'm').exec(image)?.[1]
}

/** Parses the JSON array of an instruction in exec form. Throws if it's in shell form. */
function listAfter(instruction: string): unknown {
  return JSON.parse(lineAfter(instruction) ?? '')
}
