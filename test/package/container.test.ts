import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
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
  expect(lint(root)).toEqual({ status: 0, output: expect.stringContaining('no problems') })
})

test.each([
  ['an unknown instruction', 'Dockerfile', 'ENTRYPOINT', 'ENTRYPOINTS'],
  ['an unknown flag', 'Dockerfile', '--start-period', '--started-period'],
  ['single quotes, which make it no list', 'Dockerfile', 'CMD ["serve"]', `CMD ['serve']`],
  ['broken YAML', 'docker-compose.yml', 'volumes:\n  data:\n', 'volumes:\n  data: [\n'],
  ['an unknown key', 'docker-compose.yml', 'cap_drop', 'cap_dropped'],
  ['a port open to the network', 'docker-compose.yml', '127.0.0.1:', ''],
  ['a key given twice', 'docker-compose.yml', 'volumes:\n  data:', 'volumes:\n  data:\nvolumes:\n  data:']
])('the linters find %s', (_, file, sound, faulty) => {
  const files: Record<string, string> = { Dockerfile: dockerfile, 'docker-compose.yml': composeFile }
  expect(files[file]).toContain(sound)
  const folder = givenFolder({ ...files, [file]: files[file]?.replace(sound, faulty) ?? '' })

  expect(lint(folder)).toEqual({ status: 1, output: expect.stringContaining(`${file}:`) })
})

test('the linters do not pass what is not there', () => {
  const { status, output } = lint(givenFolder({}))
  expect(status).toBe(1)
  expect(output).toContain('Dockerfile: missing')
  expect(output).toContain('docker-compose.yml: missing')
})

test('both stages are the same Debian and the same Node, for the database addon', () => {
  const bases = stages.map((stage) => /^FROM (\S+)/.exec(stage)?.[1]?.replace(/-slim$/, ''))
  expect(bases).toHaveLength(2)
  expect(new Set(bases).size).toBe(1)
})

test('the server is the first process of the image, not a child of npm or of a shell, and not root', () => {
  expect(listAfter('ENTRYPOINT')).toEqual(['node', 'dist/cli/index.js'])
  expect(listAfter('CMD')).toEqual(['serve'])
  expect(lineAfter('USER')).toBe('node')
})

test('the image is healthy when our own command says so, needing no curl', () => {
  const [, command] = (lineAfter('HEALTHCHECK') ?? '').split(' CMD ')
  expect(JSON.parse(command ?? '')).toEqual(HEALTHCHECK)
  expect(service.healthcheck.test).toEqual(['CMD', ...HEALTHCHECK])
})

test('the image keeps its data in /data, which the user of the image owns', () => {
  expect(lineAfter('ENV')).toContain('NOTIFICATION_MOCK_DATA=/data/')
  expect(image).toContain('chown node:node /data')
  expect(service.volumes).toEqual(['data:/data', `\${SEEDS:-./seeds}:/seeds:ro`])
})

test('the image is built from the lock, and holds no package but the database addon', () => {
  expect(dockerfile).toMatch(/^RUN .*npm ci\b/m)
  const packages = image.matchAll(/^COPY .* \.\/node_modules\/?([^/\s]*)/gm)
  expect([...packages].map(([, name]) => name)).toEqual(['better-sqlite3'])
})

test('compose publishes the port that the server listens on and prints, to this machine only', () => {
  const port = `\${PORT:-${lineAfter('EXPOSE')}}`
  expect(service.ports).toEqual([`127.0.0.1:${port}:${port}`])
  expect(service.environment.NOTIFICATION_MOCK_PORT).toBe(port)
})

test('compose passes on the variables of the server, such as the admin token, in the form that podman-compose reads too', () => {
  const { NOTIFICATION_MOCK_PORT, ...passedOn } = service.environment
  expect(passedOn).toEqual({
    NOTIFICATION_MOCK_SEED: null,
    NOTIFICATION_MOCK_ADMIN_TOKEN: null,
    NOTIFICATION_MOCK_PROFILE: null,
    NOTIFICATION_MOCK_LOG_LEVEL: null
  })
})

test('older engines take the files: no flag or key of later ones', () => {
  expect(dockerfile).not.toMatch(/--start-interval|--mount|<</)
  expect(composeFile).not.toMatch(/start_interval|^(version|name):/m)
})

test('compose gives the container no more rights than it needs', () => {
  expect(service).toMatchObject({
    init: true,
    read_only: true,
    tmpfs: ['/tmp'],
    cap_drop: ['ALL'],
    security_opt: ['no-new-privileges:true']
  })
})

function lineAfter(instruction: string) {
  return new RegExp(`^${instruction} (.*)$`, 'm').exec(image)?.[1]
}

/** The words of an instruction in exec form; a shell form does not parse. */
function listAfter(instruction: string): unknown {
  return JSON.parse(lineAfter(instruction) ?? '')
}

function lint(folder: string) {
  const script = join(root, 'scripts/lint-container.mjs')
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, folder], { encoding: 'utf8' })
  return { status, output: stdout + stderr }
}

function givenFolder(files: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), 'container-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}
