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

/** Requests in all. 100,000, which take three minutes, have been sent with `GENERATED_REQUESTS=100000`. */
const REQUESTS = Number(process.env.GENERATED_REQUESTS ?? 30_000)
/** So many are generated at a time. */
const BATCH = 100

/** The kinds of environment, each with requests of its own one after the other, all at the same time. */
const ENVIRONMENTS = ['document', 'live', 'faulty', 'seeded'] as const
type Kind = (typeof ENVIRONMENTS)[number]

test(`${REQUESTS} generated requests, half of them broken, bring no 5xx, no answer off the documents and no growth`, {
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
            // One of each kind.
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
  // The rest is not for that environment, or was answered by a fault, or from the store of another profile.
  expect(judged).toBeGreaterThan((REQUESTS * 2) / 3)
  // That it was no storm of refusals: each operation had answers of both kinds, those of the contract in both profiles.
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

/** An environment of this kind, and what sends it generated requests. */
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
  // Those that are changed and removed, so that the others stay.
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
    /** How many answers have been checked against the documents. */
    judged: () => judged,

    requests: async (): Promise<fc.Arbitrary<GeneratedRequest>> => {
      requests ??= fc.oneof(...parsed().map((each: Published) => anyRequest(each, known)))
      return requests
    },

    /** Sends it; throws for an answer that is not as the documents say. Returns the status, 0 for a cut connection. */
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
      // 501 is what a path gets that the service has and this server does not serve.
      if (status >= 500 && status !== 501)
        throw new Error(`${status}: ${JSON.stringify(request).slice(0, 2000)}\n${text}`)
      // It is stored as it was answered, perhaps before a seed changed the profile; and in `live` a key replays to another
      // path too, as `//set-primary`, which no document has.
      if (kind !== 'document' && answer.headers.has('idempotency-replay')) return status
      const isControl = /^\/(_mock|health)(?![^/?#])/.test(path)
      contractOf(isControl ? controlText : document).check({ ...request, ...answer })
      judged += 1
      if (status >= 300) return status
      // The profile may be another one, and with it the document.
      if (/Seed|reset|restore/i.test(operation)) document = await get('/openapi.json')
      if (operation === 'createEnvironment' && request.method === 'POST')
        await keepFew(JSON.parse(text).environmentId)
      if (operation === 'addMessage' && status === 201) addNewest(messageIds, JSON.parse(text)._id)
      if (operation === 'addIntegration' && status === 201)
        addNewest(integrationIds, JSON.parse(text)._id)
      return status
    }
  }

  /** Created environments are removed after a while, so that growth would be the server's own. */
  async function keepFew(id: string | undefined): Promise<void> {
    if (id === undefined || id === environmentId) return
    ids.push(id)
    if (ids.length <= 8) return
    await call({ method: 'DELETE', path: `/_mock/environments/${ids.splice(3, 1)}`, headers: {} })
  }
}

/** Adds an id to a few, as older ones are soon gone: by a reset, a restore or a seed. */
function addNewest(ids: string[], id: string): void {
  ids.push(id)
  if (ids.length > 4) ids.shift()
}

/** Faults are injected into one environment only, whose other answers nobody judges; and only one is seeded anew. */
function isFor(kind: Kind, { operation, headers, method }: GeneratedRequest): boolean {
  if (operation === 'addFault' || (method === 'POST' && operation.endsWith('aults')))
    return kind === 'faulty'
  if (operation === 'loadSeed') return kind === 'seeded'
  return !('x-mock-fault' in headers)
}

/** The largest size of a process in memory so far, in MB; 0 where the system does not tell. */
function largestSizeOf(pid: number): number {
  try {
    const [, size = '0'] =
      /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return Number(size) / 1000
  } catch {
    return 0
  }
}
