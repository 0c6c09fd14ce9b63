import type { Change, Exchange, ProxiedAnswer, ProxiedRequest } from '../proxy.js'

/** A target that breaks one rule. */
export interface Mutant {
  /** What it does wrong. */
  name: string
  /** The case that must fail. */
  caughtBy: string
  change: Change
  /** The profile of the target, if not `document`. */
  profile?: 'live'
}

// biome-ignore lint/suspicious/noExplicitAny: mutants break whatever an answer holds
export type Json = any

type Edit = (json: Json, exchange: Exchange) => unknown
type Edits = Record<string, readonly [caughtBy: string, edit: Edit]>

export function isList({ method, path }: ProxiedRequest): boolean {
  return method === 'GET' && /^\/v1\/messages(\?|$)/.test(path)
}

export function isStep({ path }: ProxiedRequest): boolean {
  return path.startsWith('/v2/workflows/')
}

export function isSetPrimary({ method, path }: ProxiedRequest): boolean {
  return method === 'POST' && /^\/v1\/integrations\/[^/]+\/set-primary/.test(path)
}

type Hooks<Hook> = Record<string, readonly [caughtBy: string, hook: Hook]>

/** Mutants that change answers. */
export function onAnswers(hooks: Hooks<(exchange: Exchange) => unknown>): Mutant[] {
  return made(hooks, (hook) => ({ answer: async (exchange) => void (await hook(exchange)) }))
}

/** Mutants that take requests for others. */
export function onRequests(hooks: Hooks<(exchange: Omit<Exchange, 'answer'>) => unknown>): Mutant[] {
  return made(hooks, (hook) => ({ request: async (exchange) => void (await hook(exchange)) }))
}

export function withChanges(hooks: Hooks<Change>): Mutant[] {
  return made(hooks, (change) => change)
}

function made<Hook>(hooks: Hooks<Hook>, changeOf: (hook: Hook) => Change): Mutant[] {
  return Object.entries(hooks).map(([name, [caughtBy, hook]]) => ({ name, caughtBy, change: changeOf(hook) }))
}

/** Mutants that change what a page holds. */
export function onPage(edits: Edits): Mutant[] {
  return mutantsOf(edits, ({ request, answer }) => isList(request) && answer.status === 200)
}

/** Mutants that change what a step holds. */
export function onStep(edits: Edits): Mutant[] {
  return mutantsOf(edits, ({ request, answer }) => isStep(request) && answer.status === 200)
}

/** Mutants that change what set-primary answers with. */
export function onIntegration(edits: Edits): Mutant[] {
  return mutantsOf(edits, ({ request, answer }) => isSetPrimary(request) && answer.status === 200)
}

/** Mutants that change all refusals. */
export function onAnyRefusal(edits: Edits): Mutant[] {
  return mutantsOf(edits, ({ answer }) => answer.status >= 400)
}

export function onRefusal(status: number, edit: Edit): Change {
  return { answer: (exchange) => (exchange.answer.status === status ? applied(edit, exchange) : undefined) }
}

function mutantsOf(edits: Edits, isMeant: (exchange: Exchange) => boolean): Mutant[] {
  return Object.entries(edits).map(([name, [caughtBy, edit]]) => ({
    name,
    caughtBy,
    change: { answer: (exchange) => (isMeant(exchange) ? applied(edit, exchange) : undefined) }
  }))
}

/** Changes the JSON of an answer, unless the edit has changed the text itself. */
function applied(edit: Edit, exchange: Exchange): void {
  const { answer } = exchange
  const { text, json } = answer
  if (json === undefined) return
  edit(json, exchange)
  if (answer.text === text) answer.json = json
}

/** An edit of each message of a page. */
export function each(edit: (message: Json) => unknown): Edit {
  return ({ data }) => data.forEach(edit)
}

export function rewrite(request: ProxiedRequest, from: RegExp, to: string): void {
  request.path = request.path.replace(from, to)
}

/** Gives a request the key that it lacks, or another one. */
export function withDefaultKey({ headers }: ProxiedRequest, always = false): void {
  if (always || headers.authorization === undefined) headers.authorization = 'ApiKey development-key'
}

export function restatus(answer: ProxiedAnswer, status: number): void {
  answer.status = status
  answer.json = { ...answer.json, statusCode: status }
}

export function replace(answer: ProxiedAnswer, { status, headers, text }: ProxiedAnswer): void {
  Object.assign(answer, { status, headers })
  answer.text = text
}

export async function asIfKey(
  scheme: RegExp,
  request: ProxiedRequest,
  answer: ProxiedAnswer,
  ask: Exchange['ask']
): Promise<void> {
  if (!scheme.test(request.headers.authorization ?? '')) return
  replace(answer, await ask(request.path, { headers: { ...request.headers, authorization: 'ApiKey development-key' } }))
}
