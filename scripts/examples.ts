/**
 * Writes seeds/default.examples.json, the example responses in the OpenAPI document. Most of them
 * are a server's responses to the operations' example requests.
 *
 *     tsx scripts/examples.ts            write it
 *     tsx scripts/examples.ts --check    write nothing; exit 1 if it is stale
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  ASSUMPTION_IDS,
  type AssumptionId,
  type Assumptions,
  assume,
  PROFILES,
  valuesOf
} from '../src/domain/assumptions.js'
import { type ErrorResponse, errorJson, SERVER_ERROR } from '../src/http/errors.js'
import type { Examples } from '../src/openapi/examples.js'
import { OPERATIONS } from '../src/operations.js'
import { errorsFor, type Operation } from '../src/schema/operation.js'
import { startServer } from '../src/server.js'

/** The values of assumptions, by assumption id. */
type Values = Record<string, string>
/** Response bodies as JSON, by operation id and status, such as `listMessages 200`. */
type Responses = Record<string, string | undefined>

/** The timestamp of all examples. */
const NOW = Date.parse('2026-02-18T10:10:00.000Z')

/** The fields of errors that this script's requests don't produce, by status. */
const OTHER_ERRORS: Record<string, Pick<ErrorResponse, 'message' | 'errors' | 'errorId'>> = {
  401: { message: 'API Key not found' },
  409: {
    message:
      'Request with key "set-primary-0001" is currently being processed. Please retry after 1 ' +
      'second'
  },
  413: { message: 'Request body is too large' },
  422: {
    message: 'Request with key "set-primary-0001" is being reused for a different body',
    errors: {}
  },
  500: { message: SERVER_ERROR, errorId: '3b0c9a52-6c0e-4d0b-9a3e-5f1d2c7b8e64' }
}

/** The responses of each server. The key is the server's assumptions as JSON. */
const cache = new Map<string, Promise<Responses>>()

const examples: Record<string, Examples[keyof Examples]> = {}
for (const operation of OPERATIONS) {
  const statuses = [200, ...new Set(operation.errors.map(({ status }) => status)), 500]
  const entries = statuses.map(
    async (status) => [status, await variantsOf(`${operation.id} ${status}`)] as const
  )
  examples[operation.id] = Object.fromEntries(await Promise.all(entries))
}

const file = join(import.meta.dirname, '../seeds/default.examples.json')
const text = `${JSON.stringify(examples)}\n`
if (!process.argv.includes('--check')) writeFileSync(file, text)
else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
  console.error('seeds/default.examples.json is stale: run npm run docs')
  process.exitCode = 1
}

/**
 * Returns the example responses for an operation id and a status, such as `listMessages 200`. If
 * the response depends on assumptions, returns one for each combination of these assumptions'
 * values.
 */
async function variantsOf(name: string): Promise<Examples[keyof Examples][string]> {
  const deciding: AssumptionId[] = []
  for (const id of ASSUMPTION_IDS) if (await isChangedBy(name, id)) deciding.push(id)
  const combinations = deciding.reduce<Values[]>(
    (all, id) => all.flatMap((others) => valuesOf(id).map((value) => ({ ...others, [id]: value }))),
    [{}]
  )
  const variants = await Promise.all(
    combinations.map(async (under) => ({ under, json: (await responsesUnder(under))[name] }))
  )
  return variants.flatMap(({ under, json }) =>
    json === undefined ? [] : [{ under, body: JSON.parse(json) }]
  )
}

/** Returns whether the response depends on the assumption in at least one profile. */
async function isChangedBy(name: string, id: AssumptionId): Promise<boolean> {
  const results = PROFILES.map(async (profile) => {
    const all = valuesOf(id).map(
      async (value) => (await responsesUnder({ ...assume(profile), [id]: value }))[name]
    )
    return new Set(await Promise.all(all)).size > 1
  })
  return (await Promise.all(results)).some(Boolean)
}

function responsesUnder(overrides: Values): Promise<Responses> {
  const assumptions: Values = assume('document', overrides)
  const key = JSON.stringify(assumptions)
  const responses = cache.get(key) ?? requestAll(assumptions)
  cache.set(key, responses)
  return responses
}

async function requestAll(assumptions: Values): Promise<Responses> {
  const { url, close } = await startServer({
    port: 0,
    logLevel: 'silent',
    assumptions,
    clock: () => NOW
  })
  const responses: Responses = {}
  for (const operation of OPERATIONS) {
    const errors = errorsFor(operation, assume('document', assumptions))
    for (const status of [200, ...errors.map(({ status }) => status), 500]) {
      const { path, search } = requestOf(operation)
      // If several errors have this status, the first one is the example.
      const example = errors.find((error) => error.status === status)?.example
      const targets = status === 200 ? [`${path}?${search}`] : [example ?? path, `${path}?x=%`]
      responses[`${operation.id} ${status}`] = await responseWith(
        url,
        operation.method,
        targets,
        status,
        () => unproducibleError(status, path, assume('document', assumptions))
      )
    }
  }
  await close()
  return responses
}

function requestOf({ url, examples: { params = {}, query = {} } }: Operation): {
  path: string
  search: string
} {
  const parameters = Object.entries(query).flatMap(([name, values]) =>
    [values].flat().map((value): [string, string] => [name, `${value}`])
  )
  return {
    path: url.replace(/:(\w+)/g, (_, name) => params[name] ?? ''),
    search: `${new URLSearchParams(parameters)}`
  }
}

/**
 * Requests `targets` in order until a response has `status`, and returns the body of that response.
 * If no response has `status`, returns the result of `otherwise`.
 */
async function responseWith(
  url: string,
  method: string,
  targets: string[],
  status: number,
  otherwise: () => string
): Promise<string> {
  for (const target of targets) {
    const response = await fetch(url + target, {
      method,
      headers: { authorization: 'ApiKey development-key' }
    })
    const text = await response.text()
    if (response.status === status) return text
  }
  return otherwise()
}

function unproducibleError(status: number, path: string, assumptions: Assumptions): string {
  const { errors, ...error } = { message: '', ...OTHER_ERRORS[status] }
  const hasErrors = errors && assumptions['idempotency-rejections'] === 'plain'
  return errorJson({ status, reason: '', ...error, ...(hasErrors && { errors }) }, path, {
    now: () => NOW,
    assumptions
  })
}
