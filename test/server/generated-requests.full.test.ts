import { readFileSync } from 'node:fs'
import { Agent, request as startRequest } from 'node:http'
import { text as readText } from 'node:stream/consumers'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { PROFILES } from '../../src/domain/assumptions.js'
import { OPERATION_IDS } from '../../src/domain/enums.js'
import { contractOf } from '../support/contract.js'
import {
  anyRequest,
  type GeneratedRequest,
  type KnownValues,
  type Published
} from '../support/generated-requests.js'
import { startCommand } from '../support/process.js'

/**
 * How many requests the test sends. CI uses the default. `GENERATED_REQUESTS=100000` finds rarer
 * problems, and takes three minutes on a fast machine.
 */
const REQUESTS = Number(process.env.GENERATED_REQUESTS ?? 8_000)
/** How many requests are generated at a time. */
const BATCH = 100

/** The test sends different requests to one environment of each kind, all in parallel. */
const ENVIRONMENTS = ['document', 'live', 'faulty', 'seeded'] as const
type Kind = (typeof ENVIRONMENTS)[number]

test(`the server responds to ${REQUESTS} generated requests as documented, with stable memory`, {
  timeout: 900_000
}, async () => {
  const { child, url } = await startCommand(['--log-level', 'silent'])
  const agent = new Agent({ keepAlive: true })
  onTestFinished(() => agent.destroy())
  const call = caller(url, agent)
  const results = await Promise.all(
    ENVIRONMENTS.map(async (kind, index) => sendGenerated(await createClient(kind, call), index))
  )
  expect(results.flatMap(({ problems }) => problems)).toEqual([])
  expect(peakMemoryOf(child.pid)).toBeLessThan(400)
  // `send` skips some requests and doesn't check every response, but it must check two thirds.
  const checked = results.reduce((sum, { checkedCount }) => sum + checkedCount, 0)
  expect(checked).toBeGreaterThan((REQUESTS * 2) / 3)
  expectAllOutcomes(new Set(results.flatMap(({ outcomes }) => outcomes)))
})

/** Sends one environment's share of the requests. Returns the outcomes and the problems. */
async function sendGenerated(client: GeneratedClient, index: number) {
  const problems = new Map<string, string>()
  const outcomes = new Set<string>()
  for (let sent = 0; sent < REQUESTS / ENVIRONMENTS.length; sent += BATCH) {
    const options = { numRuns: BATCH, seed: sent * 10 + index }
    for (const request of fc.sample(client.requests, options)) {
      const status = await client.send(request).catch((error: Error) => {
        // Report similar problems only once.
        const sort = `${request.operation} ${error.message.slice(0, 60)}`
        if (!problems.has(sort)) problems.set(sort, `${client.kind}: ${error.message}`)
        return 0
      })
      const outcome = `${request.operation} ${String(status)[0]}xx`
      outcomes.add(outcome).add(`${client.kind}: ${outcome}`)
    }
  }
  const { checkedCount } = client
  return { checkedCount, outcomes: [...outcomes], problems: [...problems.values()] }
}

/**
 * Expects that every operation accepted some requests and rejected others. The operations of the
 * API reference must do both in each profile.
 */
function expectAllOutcomes(outcomes: Set<string>): void {
  const operations = new Set(
    [...outcomes].filter((name) => !name.includes(':')).map((name) => name.replace(/ .*/, ''))
  )
  expect(operations.size).toBeGreaterThan(25)
  const inProfiles = PROFILES.flatMap((profile) => OPERATION_IDS.map((id) => `${profile}: ${id}`))
  const expected = [...operations, ...inProfiles].flatMap((name) => [`${name} 2xx`, `${name} 4xx`])
  expect(expected.filter((name) => !outcomes.has(name))).toEqual([])
}

type Call = ReturnType<typeof caller>

interface ReceivedResponse {
  status: number
  headers: Headers
  text: string
}

type RequestToSend = Omit<GeneratedRequest, 'operation'>

function caller(url: string, agent: Agent) {
  return ({ method, path, headers, body }: RequestToSend): Promise<ReceivedResponse> =>
    new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
      const request = startRequest(`${url}/`, {
        agent,
        method,
        path,
        headers: { ...headers, ...length }
      })
      request.on('response', async (response) => {
        const received = new Headers()
        for (const [name, value] of Object.entries(response.headers)) {
          received.set(name, String(value))
        }
        readText(response).then(
          (text) => resolve({ status: response.statusCode ?? 0, headers: received, text }),
          reject
        )
      })
      request.on('error', reject)
      request.end(body)
    })
}

/** Creates an environment of the given kind, and a client that sends it generated requests. */
async function createClient(kind: Kind, call: Call): Promise<GeneratedClient> {
  const profile = kind === 'document' ? 'document' : 'live'
  const { text } = await call({
    method: 'POST',
    path: '/_mock/environments',
    headers: {},
    body: JSON.stringify({ from: 'Development', name: kind, profile })
  })
  const { apiKey, environmentId } = JSON.parse(text)
  const authorization = `ApiKey ${apiKey}`
  const get = async (path: string) =>
    (await call({ method: 'GET', path, headers: { authorization } })).text
  const [state] = JSON.parse(await get('/_mock/state')).environments
  return new GeneratedClient(
    kind,
    { call, get, environmentId, authorization },
    { api: await get('/openapi.json'), control: await get('/_mock/openapi.json') },
    state
  )
}

interface Connection {
  call: Call
  get(path: string): Promise<string>
  environmentId: string
  authorization: string
}

/** Ids for the paths of control requests, so that these requests only affect the client's data. */
interface CreatedIds {
  requests: string[]
  faults: string[]
  environments: string[]
  messages: string[]
  integrations: string[]
}

/** The fields that the test reads from an environment's state. */
interface State {
  integrations: { _id: string }[]
  workflows: { _id: string; identifier: string; steps: { _id: string; stepId: string }[] }[]
  subscribers: { subscriberId: string }[]
  messages: { transactionId: string }[]
}

/** Returns existing values for parameters and fields, so that many generated requests succeed. */
function knownValuesOf(state: State, created: CreatedIds): KnownValues {
  const subscribers = state.subscribers.map(({ subscriberId }) => subscriberId)
  const times = ['2026-01-02T03:04:05.006Z', '2026-01-03T04:05:06.007Z']
  return {
    parameters: {
      integrationId: state.integrations.map(({ _id }) => _id),
      workflowId: state.workflows.flatMap(({ _id, identifier }) => [_id, identifier]),
      stepId: state.workflows.flatMap(({ steps }) =>
        steps.flatMap(({ _id, stepId }) => [_id, stepId])
      ),
      subscriberId: subscribers,
      transactionId: state.messages.slice(0, 50).map(({ transactionId }) => transactionId),
      name: ['before', 'after'],
      'environments/id': created.environments,
      'messages/id': created.messages,
      'integrations/id': created.integrations,
      'faults/id': created.faults,
      'requests/sequence': created.requests
    },
    fields: {
      subscriberId: subscribers,
      workflow: state.workflows.map(({ identifier }) => identifier),
      createdAt: times,
      lastSeenDate: times,
      lastReadDate: times,
      snoozedUntil: times
    }
  }
}

/** Sends generated requests to one environment, and checks the responses. */
class GeneratedClient {
  readonly kind: Kind
  readonly requests: fc.Arbitrary<GeneratedRequest>
  /** How many responses were compared with the OpenAPI documents. */
  checkedCount = 0
  readonly #connection: Connection
  readonly #documents: { api: string; control: string }
  readonly #created: CreatedIds = {
    // The first requests of the environment get these sequence numbers.
    requests: ['1', '2', '3'],
    faults: [],
    environments: [],
    messages: [],
    integrations: []
  }

  constructor(
    kind: Kind,
    connection: Connection,
    documents: { api: string; control: string },
    state: State
  ) {
    this.kind = kind
    this.#connection = connection
    this.#documents = documents
    const known = knownValuesOf(state, this.#created)
    const published: Published[] = [documents.api, documents.control].map((text) =>
      JSON.parse(text)
    )
    this.requests = fc.oneof(...published.map((document) => anyRequest(document, known)))
  }

  /**
   * Sends a request if it is for this kind of environment. Returns the response's status, or 0 if
   * there is no response. Throws if the response is a server error or isn't documented.
   */
  async send(request: GeneratedRequest): Promise<number> {
    const response = isFor(this.kind, request) ? await this.#receive(request) : undefined
    if (!response) return 0
    const { status } = response
    const isFaulted = this.kind === 'faulty' && /^\/v\d/.test(request.path)
    if (isFaulted) return status
    // A seed can set `unserved-route: not-implemented`. Unmocked paths then return 501.
    if (status >= 500 && status !== 501) {
      throw new Error(`${status}: ${JSON.stringify(request).slice(0, 2000)}\n${response.text}`)
    }
    // Check replays only in `document`. In `seeded`, a seed may have changed the profile since the
    // response was stored. The `live` profile also replays responses at undocumented paths, such as
    // `//set-primary`.
    const isReplay = response.headers.has('idempotency-replay')
    if (this.kind !== 'document' && isReplay) return status
    this.#check(request, response)
    if (status < 300) await this.#update(request, response)
    return status
  }

  /** Returns the response, or undefined if a fault closed the connection. */
  async #receive(request: GeneratedRequest): Promise<ReceivedResponse | undefined> {
    const { call, authorization } = this.#connection
    try {
      return await call({ ...request, headers: { authorization, ...request.headers } })
    } catch (error) {
      if (this.kind === 'faulty') return undefined
      throw new Error(`no response: ${JSON.stringify(request).slice(0, 1000)}`, { cause: error })
    }
  }

  #check(request: GeneratedRequest, response: ReceivedResponse): void {
    const isControl = /^\/(_mock|health)(?![^/?#])/.test(request.path)
    const document = isControl ? this.#documents.control : this.#documents.api
    contractOf(document).check({ ...request, ...response })
    this.checkedCount += 1
  }

  /** Updates the OpenAPI document and the created ids after a successful request. */
  async #update(
    { operation, method }: GeneratedRequest,
    { status, text }: ReceivedResponse
  ): Promise<void> {
    // These operations can change the profile, which determines the OpenAPI document.
    if (/Seed|reset|restore/i.test(operation)) {
      this.#documents.api = await this.#connection.get('/openapi.json')
    }
    if (operation === 'createEnvironment' && method === 'POST') {
      await this.#addEnvironment(JSON.parse(text).environmentId)
    }
    if (operation === 'listRequests' && method === 'GET') {
      const sequence = JSON.parse(text).requests?.at(-1)?.sequence
      if (sequence !== undefined) addNewest(this.#created.requests, String(sequence))
    }
    if (operation === 'addFault' && status === 201) {
      addNewest(this.#created.faults, JSON.parse(text).id)
    }
    if (operation === 'addMessage' && status === 201) {
      addNewest(this.#created.messages, JSON.parse(text)._id)
    }
    if (operation === 'addIntegration' && status === 201) {
      addNewest(this.#created.integrations, JSON.parse(text)._id)
    }
  }

  /**
   * Adds the id of an environment. If there are more than eight, removes one of them from the
   * server, so that the server's memory doesn't grow.
   */
  async #addEnvironment(id: string | undefined): Promise<void> {
    const { call, environmentId } = this.#connection
    if (id === undefined || id === environmentId) return
    const ids = this.#created.environments
    ids.push(id)
    if (ids.length <= 8) return
    await call({ method: 'DELETE', path: `/_mock/environments/${ids.splice(3, 1)}`, headers: {} })
  }
}

/**
 * Adds an id. Keeps only the newest four ids, because a reset, a restore or a seed has probably
 * removed the older records.
 */
function addNewest(ids: string[], id: string): void {
  ids.push(id)
  if (ids.length > 4) ids.shift()
}

/**
 * Returns whether to send the request to environments of this kind. Only `faulty` gets requests
 * that add faults, and only `seeded` gets requests that load seeds. Any other request is sent
 * unless it has the header `x-mock-fault`.
 */
function isFor(kind: Kind, { operation, headers, method }: GeneratedRequest): boolean {
  const addsFaults = operation === 'addFault' || (method === 'POST' && operation.endsWith('aults'))
  if (addsFaults) return kind === 'faulty'
  if (operation === 'loadSeed') return kind === 'seeded'
  return !('x-mock-fault' in headers)
}

/** Returns the peak memory of a process in MB, or 0 if the system doesn't report it. */
function peakMemoryOf(pid: number): number {
  try {
    const [, size = '0'] =
      /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return Number(size) / 1000
  } catch {
    return 0
  }
}
