import { readFileSync } from 'node:fs'
import { Agent, request as startRequest } from 'node:http'
import { text as readText } from 'node:stream/consumers'
import fc from 'fast-check'
import { expect, test } from 'vitest'
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

/** The total number of requests. `GENERATED_REQUESTS=100000` takes three minutes. */
const REQUESTS = Number(process.env.GENERATED_REQUESTS ?? 30_000)
/** The number of requests generated at a time. */
const BATCH = 100

/** The kinds of environment. They run in parallel, each with a sequence of its own requests. */
const ENVIRONMENTS = ['document', 'live', 'faulty', 'seeded'] as const
type Kind = (typeof ENVIRONMENTS)[number]

test(`${REQUESTS} generated requests, half of them invalid, cause no 5xx, no undocumented response and no memory growth`, {
  timeout: 900_000
}, async () => {
  const { child, url } = await startCommand(['--log-level', 'silent'])
  const agent = new Agent({ keepAlive: true })
  const call = caller(url, agent)
  const seen = new Set<string>()
  let judged = 0
  const problems = new Map<string, string>()

  await Promise.all(
    ENVIRONMENTS.map(async (kind, index) => {
      const client = await givenClient(kind, call)
      for (let done = 0; done < REQUESTS / ENVIRONMENTS.length; done += BATCH) {
        for (const request of fc.sample(await client.requests(), {
          numRuns: BATCH,
          seed: done * 10 + index
        })) {
          const status = await client.send(request).catch((error: Error) => {
            // Keep one problem of each kind.
            const kindOf = `${request.operation} ${error.message.slice(0, 60)}`
            if (!problems.has(kindOf)) problems.set(kindOf, `${kind}: ${error.message}`)
            return 0
          })
          const name = `${request.operation} ${String(status)[0]}xx`
          seen.add(name).add(`${kind}: ${name}`)
        }
      }
      judged += client.judged()
    })
  )

  expect([...problems.values()]).toEqual([])
  expect(largestSizeOf(child.pid)).toBeLessThan(400)
  // The other requests do not fit the environment, have a fault, or replay a response of another
  // profile.
  expect(judged).toBeGreaterThan((REQUESTS * 2) / 3)
  // Each operation had successful and rejected requests, and each operation of the API reference in
  // both profiles.
  const operations = new Set(
    [...seen].filter((name) => !name.includes(':')).map((name) => name.replace(/ .*/, ''))
  )
  expect(operations.size).toBeGreaterThan(25)
  const inProfiles = PROFILES.flatMap((profile) => OPERATION_IDS.map((id) => `${profile}: ${id}`))
  const never = [...operations, ...inProfiles].flatMap((name) => [`${name} 2xx`, `${name} 4xx`])
  expect(never.filter((name) => !seen.has(name))).toEqual([])
  agent.destroy()
})

type Call = ReturnType<typeof caller>

interface Answer {
  status: number
  headers: Headers
  text: string
}

function caller(url: string, agent: Agent) {
  return ({ method, path, headers, body }: Omit<GeneratedRequest, 'operation'>): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
      const request = startRequest(`${url}/`, {
        agent,
        method,
        path,
        headers: { ...headers, ...length }
      })
      request.on('response', async (response) => {
        const sent = new Headers()
        for (const [name, value] of Object.entries(response.headers)) sent.set(name, String(value))
        readText(response).then(
          (text) => resolve({ status: response.statusCode ?? 0, headers: sent, text }),
          reject
        )
      })
      request.on('error', reject)
      request.end(body)
    })
}

/** Creates an environment of the given kind, and a client that sends it generated requests. */
async function givenClient(kind: Kind, call: Call) {
  const made = await call({
    method: 'POST',
    path: '/_mock/environments',
    headers: {},
    body: JSON.stringify({
      from: 'Development',
      name: kind,
      profile: kind === 'document' ? 'document' : 'live'
    })
  })
  const { apiKey, environmentId } = JSON.parse(made.text)
  const authorization = `ApiKey ${apiKey}`
  const get = async (path: string) =>
    (await call({ method: 'GET', path, headers: { authorization } })).text
  const controlText = await get('/_mock/openapi.json')
  const state = JSON.parse(await get('/_mock/state')).environments[0]
  const ids: string[] = []
  // Only these are changed and removed, so that the seeded ones stay.
  const [messageIds, integrationIds]: [string[], string[]] = [[], []]
  const workflows: string[] = state.workflows.map(
    ({ identifier }: { identifier: string }) => identifier
  )
  const subscribers: string[] = state.subscribers.map(
    ({ subscriberId }: { subscriberId: string }) => subscriberId
  )
  const parameters = {
    integrationId: state.integrations.map(({ _id }: { _id: string }) => _id),
    workflowId: state.workflows.flatMap(({ _id, identifier }: Record<string, string>) => [
      _id,
      identifier
    ]),
    stepId: state.workflows.flatMap(({ steps }: { steps: { _id: string; stepId: string }[] }) =>
      steps.flatMap(({ _id, stepId }) => [_id, stepId])
    ),
    subscriberId: subscribers,
    transactionId: state.messages
      .slice(0, 50)
      .map((message: { transactionId: string }) => message.transactionId),
    name: ['before', 'after'],
    'environments/id': ids,
    'messages/id': messageIds,
    'integrations/id': integrationIds,
    'faults/id': ['fault-1', 'fault-2', 'fault-3']
  }
  const times = ['2026-01-02T03:04:05.006Z', '2026-01-03T04:05:06.007Z']
  const fields = {
    ...{ subscriberId: subscribers, workflow: workflows },
    ...{ createdAt: times, lastSeenDate: times, lastReadDate: times, snoozedUntil: times }
  }
  const known: KnownValues = { parameters, fields }
  let document = await get('/openapi.json')
  const parsed = () => [JSON.parse(document), JSON.parse(controlText)] as const
  let requests: fc.Arbitrary<GeneratedRequest> | undefined
  let judged = 0

  return {
    /** Returns the number of responses checked against the documents. */
    judged: () => judged,

    requests: async (): Promise<fc.Arbitrary<GeneratedRequest>> => {
      requests ??= fc.oneof(...parsed().map((each: Published) => anyRequest(each, known)))
      return requests
    },

    /**
     * Sends a request and returns its status, or 0 for a lost connection. Throws if the response is
     * undocumented.
     */
    // biome-ignore lint/complexity/noExcessiveCognitiveComplexity: one check per kind of response, read from top to bottom
    async send(request: GeneratedRequest): Promise<number> {
      const { operation, path } = request
      if (!isFor(kind, request)) return 0
      const headers = { authorization, ...request.headers }
      let answer: Answer
      try {
        answer = await call({ ...request, headers })
      } catch (error) {
        if (kind === 'faulty') return 0
        throw new Error(`no answer: ${JSON.stringify(request).slice(0, 1000)}`, { cause: error })
      }
      const { status, text } = answer
      const isFaulted = kind === 'faulty' && /^\/v\d/.test(path)
      if (isFaulted) return status
      // The server returns 501 for paths of the service that are not mocked.
      if (status >= 500 && status !== 501)
        throw new Error(`${status}: ${JSON.stringify(request).slice(0, 2000)}\n${text}`)
      // A stored response may be from before a seed changed the profile; and in `live` a key also
      // replays to another path, such as `//set-primary`, which is undocumented.
      if (kind !== 'document' && answer.headers.has('idempotency-replay')) return status
      const isControl = /^\/(_mock|health)(?![^/?#])/.test(path)
      contractOf(isControl ? controlText : document).check({ ...request, ...answer })
      judged += 1
      if (status >= 300) return status
      // The profile may have changed, and the document with it.
      if (/Seed|reset|restore/i.test(operation)) document = await get('/openapi.json')
      if (operation === 'createEnvironment' && request.method === 'POST')
        await keepFew(JSON.parse(text).environmentId)
      if (operation === 'addMessage' && status === 201) addNewest(messageIds, JSON.parse(text)._id)
      if (operation === 'addIntegration' && status === 201)
        addNewest(integrationIds, JSON.parse(text)._id)
      return status
    }
  }

  /** Removes older environments, so that they cause no memory growth. */
  async function keepFew(id: string | undefined): Promise<void> {
    if (id === undefined || id === environmentId) return
    ids.push(id)
    if (ids.length <= 8) return
    await call({ method: 'DELETE', path: `/_mock/environments/${ids.splice(3, 1)}`, headers: {} })
  }
}

/**
 * Adds an id and drops the oldest, because a reset, a restore or a seed soon removes older records.
 */
function addNewest(ids: string[], id: string): void {
  ids.push(id)
  if (ids.length > 4) ids.shift()
}

/** Only `faulty` gets faults, and its API responses are not checked; only `seeded` loads seeds. */
function isFor(kind: Kind, { operation, headers, method }: GeneratedRequest): boolean {
  if (operation === 'addFault' || (method === 'POST' && operation.endsWith('aults')))
    return kind === 'faulty'
  if (operation === 'loadSeed') return kind === 'seeded'
  return !('x-mock-fault' in headers)
}

/** Returns the peak memory of a process in MB, or 0 if the system does not report it. */
function largestSizeOf(pid: number): number {
  try {
    const [, size = '0'] =
      /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return Number(size) / 1000
  } catch {
    return 0
  }
}
