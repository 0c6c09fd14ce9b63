import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { assume } from '../../src/domain/assumptions.js'
import { openApiDocument } from '../../src/openapi/documents.js'
import type { ServerOptions } from '../../src/server.js'
import { useMock } from '../support/mock.js'

const SEED = {
  environments: [
    { name: 'Contract', apiKeys: ['contract-key'] },
    {
      name: 'Live but counting',
      profile: 'live',
      assumptions: { 'total-count': 'present' },
      apiKeys: ['counting-key']
    }
  ]
}

test("/openapi.json uses the assumptions of the key's environment, or the defaults", async () => {
  const mock = await useMock({ seed: SEED })
  const get = async (key: string | null) => (await mock.get('/openapi.json', { key })).json
  const servers = [{ url: mock.url, description: 'This server' }]
  const expected = async (...assumptions: Parameters<typeof assume>) => ({
    ...JSON.parse(JSON.stringify(await openApiDocument(assume(...assumptions)))),
    servers
  })
  expect(await get(null)).toEqual(await expected('document'))
  expect(await get('contract-key')).toEqual(await get(null))
  expect(await get('counting-key')).toEqual(await expected('live', { 'total-count': 'present' }))
  expect(await mock.get('/openapi.json', { key: 'unknown-key' })).toMatchObject({ status: 401 })
})

test.each(['/openapi.json', '/_mock/openapi.json'])(
  '%s lists the server URL that the client used',
  async (path) => {
    const mock = await useMock({ seed: SEED })
    const { port } = new URL(mock.url)
    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`]) {
      const { servers } = (await (await fetch(`http://${host}${path}`)).json()) as {
        servers: object[]
      }
      expect(servers).toEqual([{ url: `http://${host}`, description: 'This server' }])
    }
  }
)

test.each<{ flags: string; options: ServerOptions }>([
  { flags: '', options: {} },
  { flags: '--profile live', options: { profile: 'live' } },
  {
    flags: '--profile live --assume total-count=present --assume envelope=bare',
    options: { profile: 'live', assumptions: { 'total-count': 'present', envelope: 'bare' } }
  }
])('`openapi $flags` prints the document that the server serves', async ({ flags, options }) => {
  const mock = await useMock({ ...options, seed: { environments: [] } })
  const served = await fetch(`${mock.url}/openapi.json`)
  const command = [
    '--import',
    'tsx',
    'src/cli/index.ts',
    'openapi',
    ...flags.split(' ').filter(Boolean)
  ]
  const { stdout } = await promisify(execFile)(process.execPath, command, {
    cwd: join(import.meta.dirname, '../..'),
    maxBuffer: 1e8
  })
  const servers = [{ url: 'http://127.0.0.1:4210', description: 'The default address' }]
  expect(JSON.parse(stdout)).toEqual({ ...((await served.json()) as object), servers })
})
