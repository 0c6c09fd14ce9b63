import { execFile, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { mustAsk } from '../ask.js'
import { BENCH, givenData, scratch } from '../data.js'
import { load } from '../load.js'
import type { Cell, Context, Measure, Outcome } from '../outcome.js'
import { authorization, mock, type Running, start, type ToStart } from '../processes.js'
import { inRounds, loadCells, ratioCells, ratioOf } from '../throughput.js'

export const peers: Measure = {
  name: 'peers',
  question: 'How does the list compare with other stand-in servers that send the same documents?',
  method: `The list of 10 of 100,000 at 10 connections, in pairs of ours and the other, 3 s each, on the same core.
    Prism serves the answer as the static example of an OpenAPI document, Mockoon as the body of a route, WireMock as
    a stub: the same bytes each time, whatever is asked. json-server pages through the 100,000 documents, and wraps
    them in an envelope of its own. All as they start by default; then, for those that log or record requests,
    without that. WireMock's machine is warmed up for 10 s, and has but one core, as all here.`,
  minutes: 5,
  run
}

const folder = import.meta.dirname
const headers = authorization(BENCH.apiKey)

interface Peer {
  /** Of the figure, where there is a target for it. */
  figure?: string
  /** Undefined, or why it can't be had. */
  lacks?: string | undefined
  list: string
  /** Seconds before it is measured. */
  warm: number
  server: ToStart
}

async function run({ quick, say }: Context): Promise<Outcome> {
  say('installing into bench/peers')
  const failure = await install()
  const messages = quick ? 1000 : 100_000
  say(`making ${messages} messages`)
  const ours = await start(mock(['--data', await givenData(messages)], BENCH.apiKey))
  const outcome: Outcome = { tables: [], figures: {}, skipped: [] }
  const rows: Cell[][] = []
  try {
    const page = (await mustAsk('GET', ours.url + BENCH.list, { headers })).body
    const documents = await allDocuments(ours, messages)
    for (const peer of peersServing(page, documents, failure)) {
      const { name } = peer.server
      if (peer.lacks !== undefined) {
        outcome.skipped.push({ what: name, why: peer.lacks })
        continue
      }
      say(name)
      const rounds = await measurePeer(ours, peer, quick, say).catch((error: Error) => error)
      if (rounds instanceof Error) {
        outcome.skipped.push({ what: name, why: rounds.message })
        continue
      }
      const [own = [], theirs = []] = rounds
      rows.push([ours.name, ...loadCells(own), ...ratioCells(rounds, 0)])
      rows.push([name, ...loadCells(theirs), ...ratioCells(rounds, 1)])
      if (peer.figure) outcome.figures[peer.figure] = ratioOf(rounds, 1)
    }
  } finally {
    await ours.stop()
  }
  const columns = ['server', 'requests/s', 'p50 ms', 'p99 ms', 'CPU µs', 'busy', 'ours / this', 'by CPU']
  outcome.tables.push({ title: `list of 10 of ${messages}, 10 connections, in pairs`, columns, rows })
  return outcome
}

async function measurePeer(ours: Running, { server, list, warm }: Peer, quick: boolean, say: Context['say']) {
  const theirs = await start(server)
  try {
    const { body } = await mustAsk('GET', theirs.url + list, { headers })
    const [first] = JSON.parse(body.toString()).data
    if (first?.content === undefined) throw new Error(`it answered with something else: ${body.subarray(0, 200)}`)
    const wanted = { method: 'GET', headers, connections: 10, seconds: quick ? 1 : 3 } as const
    await load(theirs, { ...wanted, paths: [list], seconds: quick ? 1 : warm })
    return await inRounds(
      [ours, theirs],
      { ...wanted, paths: [BENCH.list] },
      quick ? 1 : 5,
      (round) => say(`${server.name}, ${round}`),
      new Map([[theirs, [list]]])
    )
  } finally {
    await theirs.stop()
  }
}

/** Only what is not there yet, or not in the version that is wanted. Undefined, or why it failed. */
async function install(): Promise<string | undefined> {
  const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const missing = Object.entries(dependencies).some(([name, version]) => {
    const manifest = join(folder, 'node_modules', name, 'package.json')
    return !existsSync(manifest) || JSON.parse(readFileSync(manifest, 'utf8')).version !== version
  })
  if (!missing) return undefined
  const words = ['install', '--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts', '--loglevel', 'error']
  return promisify(execFile)('npm', words, { cwd: folder }).then(
    () => undefined,
    (error: { stderr?: string; message: string }) => (error.stderr || error.message).trim().slice(0, 300)
  )
}

/** All messages of the environment, as our server lists them. */
async function allDocuments({ url }: Running, messages: number): Promise<object[]> {
  const documents: object[] = []
  for (let page = 0; documents.length < messages; page++) {
    const { body } = await mustAsk('GET', `${url}/v1/messages?limit=1000&page=${page}`, { headers })
    documents.push(...JSON.parse(body.toString()).data)
  }
  return documents
}

function peersServing(page: Buffer, documents: readonly object[], failure: string | undefined): Peer[] {
  mkdirSync(scratch('wiremock/mappings'), { recursive: true })
  mkdirSync(scratch('wiremock/__files'), { recursive: true })
  writeFileSync(scratch('prism.json'), JSON.stringify(openapiOf(page)))
  writeFileSync(scratch('mockoon.json'), JSON.stringify(mockoonOf(page)))
  writeFileSync(scratch('json-server.json'), JSON.stringify({ messages: withIds(documents) }))
  writeFileSync(scratch('wiremock/mappings/list.json'), JSON.stringify(STUB))
  writeFileSync(scratch('wiremock/__files/list.json'), page)
  const quiet = { ...prism(['--verboseLevel', 'silent']), name: 'Prism, silent' }
  const forgetful = { ...wiremock(['--no-request-journal', '--disable-request-logging']), name: 'WireMock, no journal' }
  const missing = (name: string) => {
    return existsSync(join(folder, 'node_modules', name)) ? undefined : `npm did not install ${name}: ${failure}`
  }
  const lacks = { prism: missing('@stoplight/prism-cli'), wiremock: missing('wiremock') ?? withoutJava() }
  return [
    { figure: 'prism', lacks: lacks.prism, list: BENCH.list, warm: 3, server: prism([]) },
    { lacks: lacks.prism, list: BENCH.list, warm: 3, server: quiet },
    { figure: 'mockoon', lacks: missing('@mockoon/cli'), list: BENCH.list, warm: 3, server: mockoon() },
    { figure: 'wiremock', lacks: lacks.wiremock, list: BENCH.list, warm: 10, server: wiremock([]) },
    { lacks: lacks.wiremock, list: BENCH.list, warm: 10, server: forgetful },
    {
      figure: 'json-server',
      lacks: missing('json-server'),
      list: '/messages?_page=1&_per_page=10',
      warm: 3,
      server: jsonServer()
    }
  ]
}

function withoutJava(): string | undefined {
  return spawnSync('java', ['-version']).status === 0 ? undefined : 'there is no java to run it with'
}

const bin = (name: string) => join(folder, 'node_modules/.bin', name)

function prism(options: string[]): ToStart {
  return {
    name: 'Prism, static example',
    command: process.execPath,
    args: (port) => [bin('prism'), 'mock', scratch('prism.json'), '--port', String(port), ...options],
    path: BENCH.list
  }
}

function openapiOf(page: Buffer): object {
  const content = { 'application/json': { schema: { type: 'object' }, example: JSON.parse(page.toString()) } }
  const parameters = [{ name: 'limit', in: 'query', schema: { type: 'integer' } }]
  const get = { parameters, responses: { 200: { description: 'OK', content } } }
  return { openapi: '3.1.0', info: { title: 'List', version: '1' }, paths: { '/v1/messages': { get } } }
}

function mockoon(): ToStart {
  const options = ['--hostname', '127.0.0.1', '--disable-log-to-file', '--disable-admin-api']
  return {
    name: 'Mockoon, static route',
    command: process.execPath,
    args: (port) => [
      bin('mockoon-cli'),
      'start',
      '--data',
      scratch('mockoon.json'),
      '--port',
      String(port),
      ...options
    ],
    path: BENCH.list
  }
}

/** In Mockoon's own format; what is left out it fills in. */
function mockoonOf(page: Buffer): object {
  const response = {
    uuid: '5e0f4a3c-0001-4000-8000-000000000003',
    body: page.toString(),
    latency: 0,
    statusCode: 200,
    label: '',
    headers: [{ key: 'Content-Type', value: 'application/json; charset=utf-8' }],
    bodyType: 'INLINE',
    filePath: '',
    databucketID: '',
    sendFileAsBody: false,
    rules: [],
    rulesOperator: 'OR',
    // Else it would look for templates in the body.
    disableTemplating: true,
    fallbackTo404: false,
    default: true,
    crudKey: 'id',
    callbacks: []
  }
  const route = {
    uuid: '5e0f4a3c-0001-4000-8000-000000000002',
    type: 'http',
    documentation: '',
    method: 'get',
    endpoint: 'v1/messages',
    responses: [response],
    responseMode: null
  }
  return {
    uuid: '5e0f4a3c-0001-4000-8000-000000000001',
    lastMigration: 33,
    name: 'List',
    port: 3000,
    hostname: '127.0.0.1',
    endpointPrefix: '',
    latency: 0,
    folders: [],
    routes: [route],
    rootChildren: [{ type: 'route', uuid: route.uuid }],
    proxyMode: false,
    proxyHost: '',
    proxyRemovePrefix: false,
    tlsOptions: { enabled: false, type: 'CERT', pfxPath: '', certPath: '', keyPath: '', caPath: '', passphrase: '' },
    cors: true,
    headers: [],
    proxyReqHeaders: [],
    proxyResHeaders: [],
    data: [],
    callbacks: []
  }
}

function wiremock(options: string[]): ToStart {
  const jar = join(folder, 'node_modules/wiremock/build/wiremock-standalone-3.13.2.jar')
  const words = ['--bind-address', '127.0.0.1', '--root-dir', scratch('wiremock'), '--disable-banner', ...options]
  return {
    name: 'WireMock, stub',
    command: 'java',
    args: (port) => ['-jar', jar, '--port', String(port), ...words],
    path: BENCH.list
  }
}

const STUB = {
  request: { method: 'GET', urlPath: '/v1/messages' },
  response: { status: 200, headers: { 'Content-Type': 'application/json; charset=utf-8' }, bodyFileName: 'list.json' }
}

function jsonServer(): ToStart {
  const options = ['--host', '127.0.0.1', scratch('json-server.json')]
  return {
    name: 'json-server 1.0 beta',
    command: process.execPath,
    args: (port) => [bin('json-server'), '--port', String(port), ...options],
    path: '/messages?_page=1&_per_page=10'
  }
}

/** It would make ids itself, and write the file anew. */
function withIds(documents: readonly object[]): object[] {
  return documents.map((document, index) => ({ id: String(index), ...document }))
}
