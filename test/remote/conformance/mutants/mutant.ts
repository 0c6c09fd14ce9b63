import type { Change, Exchange, ProxiedAnswer, ProxiedRequest } from '../proxy.js'

/** A target that breaks one rule. */
export interface Mutant {
  /** What it does wrong. */
  name: string
  /** The case that must fail. */
  caughtBy: string
  change: Change
  /** The profile of the target, if not `document`. */
  profile?: 'live' | undefined
}

// biome-ignore lint/suspicious/noExplicitAny: mutants break whatever an answer holds
export type Json = any

type Edit = (json: Json, exchange: Exchange) => unknown
/** What each mutant does, by the case that must fail and what it is called: `paging.page: `page` begins with 1`. */
type Table<Hook> = Record<string, Hook>

const isList = ({ method, path }: ProxiedRequest) =>
  method === 'GET' && /^\/v1\/messages(\?|$)/.test(path)
export const isStep = ({ path }: ProxiedRequest) => path.startsWith('/v2/workflows/')
export const isSetPrimary = ({ method, path }: ProxiedRequest) =>
  method === 'POST' && /^\/v1\/integrations\/[^/]+\/set-primary/.test(path)
export const keyOf = ({ headers }: ProxiedRequest) => headers['idempotency-key']

function mutantsOf<Hook>(
  table: Table<Hook>,
  changeOf: (hook: Hook) => Change,
  profile?: 'live'
): Mutant[] {
  return Object.entries(table).map(([key, hook]) => {
    const [, caughtBy = '', name = ''] = /^(\S+): (.*)$/.exec(key) ?? []
    return { name, caughtBy, change: changeOf(hook), profile }
  })
}

/** Mutants that change answers. */
export const onAnswers = (table: Table<(exchange: Exchange) => unknown>, profile?: 'live') =>
  mutantsOf(table, (hook) => ({ answer: async (exchange) => void (await hook(exchange)) }), profile)

/** Mutants that take requests for others. */
export const onRequests = (table: Table<(request: ProxiedRequest) => unknown>) =>
  mutantsOf(table, (hook) => ({ request: ({ request }) => void hook(request) }))

/** Mutants that take paths and queries for others. */
export const onPaths = (table: Table<(path: string) => string>) =>
  mutantsOf(table, (hook) => ({
    request: ({ request }) => void Object.assign(request, { path: hook(request.path) })
  }))

/** Mutants that take idempotency keys for others. */
export const onKeys = (table: Table<(key: string, request: ProxiedRequest) => string>) =>
  mutantsOf(table, (hook) => ({
    request({ request }) {
      const key = keyOf(request)
      if (key) request.headers['idempotency-key'] = hook(key, request)
    }
  }))

/** Mutants that change the JSON of the answers that are meant, unless they have changed the text itself. */
function onJson(isMeant: (exchange: Exchange) => boolean) {
  return (table: Table<Edit>, profile?: 'live') =>
    mutantsOf(table, (edit) => ({ answer: applying(edit) }), profile)

  function applying(edit: Edit) {
    return async (exchange: Exchange) => {
      const { answer } = exchange
      const { text, json } = answer
      if (json === undefined || !isMeant(exchange)) return
      await edit(json, exchange)
      if (answer.text === text) answer.json = json
    }
  }
}

const isDone = ({ status }: ProxiedAnswer) => status === 200
export const onPage = onJson(({ request, answer }) => isList(request) && isDone(answer))
export const onStep = onJson(({ request, answer }) => isStep(request) && isDone(answer))
export const onIntegration = onJson(
  ({ request, answer }) => isSetPrimary(request) && isDone(answer)
)
export const onListing = onJson(({ request }) => request.path === '/v1/integrations')
export const onReplay = onJson(({ answer }) => answer.headers['idempotency-replay'] === 'true')
export const onAnyRefusal = onJson(({ answer }) => answer.status >= 400)
export const onRefusal = (status: number) => onJson(({ answer }) => answer.status === status)

/** An edit of each message of a page. */
export function each(edit: (message: Json) => unknown): Edit {
  return ({ data }) => data.forEach(edit)
}

/** Gives a request the key that it lacks, or another one. */
export function withDefaultKey({ headers }: ProxiedRequest, always = false): void {
  if (always || headers.authorization === undefined)
    headers.authorization = 'ApiKey development-key'
}

export function restatus(answer: ProxiedAnswer, status: number): void {
  answer.status = status
  answer.json = { ...answer.json, statusCode: status }
}

export function replace(answer: ProxiedAnswer, { status, headers, text }: ProxiedAnswer): void {
  Object.assign(answer, { status, headers, text })
}

/** Sends a request once more, without its idempotency key. */
export function askWithoutKey(
  { request, ask }: Exchange,
  path = request.path
): Promise<ProxiedAnswer> {
  const { 'idempotency-key': _, ...headers } = request.headers
  return ask(path, { headers })
}
