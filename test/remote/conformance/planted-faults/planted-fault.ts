import type { ProxiedExchange, ProxiedRequest, ProxiedResponse, ProxyHooks } from '../proxy.js'

/** A fault that makes a target break one rule. */
export interface PlantedFault {
  /** A description of the fault, for the test's name and the docs. */
  name: string
  /** The id of the conformance case that must fail because of this fault. */
  caughtBy: string
  hooks: ProxyHooks
  /** The target's profile, if it is not `document`. */
  profile?: 'live' | undefined
}

// biome-ignore lint/suspicious/noExplicitAny: planted faults break any part of a response
export type Json = any

type Edit = (json: Json, exchange: ProxiedExchange) => unknown
/**
 * Maps planted faults to their hooks. A key has the form `caughtBy: name`, for example
 * `paging.page: the default limit is 20`.
 */
type FaultTable<Hook> = Record<string, Hook>

const isList = ({ method, path }: ProxiedRequest) =>
  method === 'GET' && /^\/v1\/messages(\?|$)/.test(path)
export const isStep = ({ path }: ProxiedRequest) => path.startsWith('/v2/workflows/')
export const isSetPrimary = ({ method, path }: ProxiedRequest) =>
  method === 'POST' && /^\/v1\/integrations\/[^/]+\/set-primary/.test(path)
export const keyOf = ({ headers }: ProxiedRequest) => headers['idempotency-key']

function faultsOf<Hook>(
  table: FaultTable<Hook>,
  hooksOf: (hook: Hook) => ProxyHooks,
  profile?: 'live'
): PlantedFault[] {
  return Object.entries(table).map(([key, hook]) => {
    const [, caughtBy = '', name = ''] = /^(\S+): (.*)$/.exec(key) ?? []
    return { name, caughtBy, hooks: hooksOf(hook), profile }
  })
}

/** Creates faults that change responses. */
export const onResponses = (
  table: FaultTable<(exchange: ProxiedExchange) => unknown>,
  profile?: 'live'
) =>
  faultsOf(
    table,
    (hook) => ({
      async response(exchange) {
        await hook(exchange)
      }
    }),
    profile
  )

/** Creates faults that change requests. */
export const onRequests = (table: FaultTable<(request: ProxiedRequest) => unknown>) =>
  faultsOf(table, (hook) => ({
    request({ request }) {
      hook(request)
    }
  }))

/** Creates faults that change the path and query string of requests. */
export const onPaths = (table: FaultTable<(path: string) => string>) =>
  faultsOf(table, (hook) => ({
    request({ request }) {
      request.path = hook(request.path)
    }
  }))

/** Creates faults that change the idempotency keys of requests. */
export const onKeys = (table: FaultTable<(key: string, request: ProxiedRequest) => string>) =>
  faultsOf(table, (hook) => ({
    request({ request }) {
      const key = keyOf(request)
      if (key) request.headers['idempotency-key'] = hook(key, request)
    }
  }))

/**
 * Creates faults that edit the JSON of matching responses. If an edit sets the response's text, the
 * edited JSON is ignored.
 */
function onJson(matches: (exchange: ProxiedExchange) => boolean) {
  return (table: FaultTable<Edit>, profile?: 'live') =>
    faultsOf(table, (edit) => ({ response: (exchange) => applyEdit(edit, exchange) }), profile)

  async function applyEdit(edit: Edit, exchange: ProxiedExchange): Promise<void> {
    const { response } = exchange
    const { text, json } = response
    if (json === undefined || !matches(exchange)) return
    await edit(json, exchange)
    if (response.text === text) response.json = json
  }
}

const isOk = ({ status }: ProxiedResponse) => status === 200
export const onPage = onJson(({ request, response }) => isList(request) && isOk(response))
export const onStep = onJson(({ request, response }) => isStep(request) && isOk(response))
export const onIntegration = onJson(
  ({ request, response }) => isSetPrimary(request) && isOk(response)
)
export const onListing = onJson(({ request }) => request.path === '/v1/integrations')
export const onReplay = onJson(({ response }) => response.headers['idempotency-replay'] === 'true')
export const onAnyError = onJson(({ response }) => response.status >= 400)
export const onError = (status: number) => onJson(({ response }) => response.status === status)

/** Turns an edit of one message into an edit that changes every message on a page. */
export function eachMessage(edit: (message: Json) => unknown): Edit {
  return ({ data }) => data.forEach(edit)
}

/**
 * Adds a valid API key to a request without one. If `always` is set, also replaces an existing key.
 */
export function withDefaultKey({ headers }: ProxiedRequest, always = false): void {
  if (always || headers.authorization === undefined)
    headers.authorization = 'ApiKey development-key'
}

export function replaceStatus(response: ProxiedResponse, status: number): void {
  response.status = status
  response.json = { ...response.json, statusCode: status }
}

export function replace(response: ProxiedResponse, other: ProxiedResponse): void {
  response.status = other.status
  response.headers = other.headers
  response.text = other.text
}

/** Repeats a request without its idempotency key, by default at the same path. */
export function sendWithoutKey(
  { request, send }: ProxiedExchange,
  path = request.path
): Promise<ProxiedResponse> {
  const { 'idempotency-key': _, ...headers } = request.headers
  return send(path, { headers })
}
