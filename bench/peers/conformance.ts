/**
 * Judges other stand-in servers that serve our OpenAPI document, by the conformance suite, and prints a table for
 * docs/conformance.md. By hand: `npx tsx bench/peers/conformance.ts <folder in which they were installed>`.
 */
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { assume } from '../../src/core/assumptions.js'
import { openApiDocument } from '../../src/openapi/documents.js'
import { startServer } from '../../src/server.js'
import { type ConformanceReport, runConformance } from '../../src/targets/conformance/run.js'
import { start } from '../processes.js'

const API_KEY = 'development-key'
const NAMED = {
  workflows: ['order-shipped', 'sign-in-code'],
  steps: ['email-step', 'sms-step'],
  integrations: ['66f1c2a47c9b1a0012ad0001', '66f1c2a47c9b1a0012ad0002']
}

const folder = resolve(process.argv[2] ?? import.meta.dirname)
const bin = (name: string) => join(folder, 'node_modules/.bin', name)
const rows = ['| target | passed | failed | skipped |', '|---|---|---|---|']

const ours = await startServer({ port: 0, logLevel: 'silent' })
const document = join(folder, 'openapi.json')
const database = join(folder, 'database.json')
writeFileSync(document, JSON.stringify(await openApiDocument(assume('document'))))
const headers = { authorization: `ApiKey ${API_KEY}` }
const listed = (await (await fetch(`${ours.url}/v1/messages?limit=1000`, { headers })).json()) as { data: object[] }
writeFileSync(database, JSON.stringify({ messages: listed.data.map((each, index) => ({ id: `${index}`, ...each })) }))
addRow('notification-mock', await judge(ours.url))
await ours.app.close()

const path = '/v1/messages'
const mockoon = (port: number) => ['start', '--data', document, '--port', String(port), '--hostname', '127.0.0.1']
const peers = [
  {
    name: 'Prism, static answers',
    args: (port: number) => [bin('prism'), 'mock', document, '--port', String(port)],
    path,
    headers
  },
  {
    name: 'Prism, dynamic answers',
    args: (port: number) => [bin('prism'), 'mock', '--dynamic', document, '--port', String(port)],
    path,
    headers
  },
  {
    name: 'Mockoon, from the document',
    args: (port: number) => [bin('mockoon-cli'), ...mockoon(port), '--disable-log-to-file', '--disable-admin-api'],
    path
  },
  {
    name: 'json-server, with the same messages',
    args: (port: number) => [bin('json-server'), '--host', '127.0.0.1', '--port', String(port), database],
    path: '/messages'
  }
]
for (const peer of peers) {
  const server = await start({ ...peer, patience: 60_000 })
  try {
    addRow(peer.name, await judge(server.url))
  } finally {
    await server.stop()
  }
}
console.log(rows.join('\n'))

function judge(url: string): Promise<ConformanceReport> {
  return runConformance({ url, apiKey: API_KEY, allowChanges: true, ...NAMED })
}

function addRow(name: string, { counts }: ConformanceReport): void {
  rows.push(`| ${name} | ${counts.passed} | ${counts.failed} | ${counts.skipped} |`)
}
