import type { TSchema } from '@sinclair/typebox'
import { type Assumptions, assume } from '../domain/assumptions.js'
import type { ErrorCode } from '../domain/errors.js'
import { MalformedQuery, type Query } from '../domain/query-string.js'
import type { Environment, EnvironmentDefaults } from '../environments/service.js'
import type { JournalEntry } from '../journal/entry.js'
import {
  type ErrorStatus,
  type Operation,
  type OperationError,
  unknownParameters
} from '../schema/operation.js'
import type { Coverage, ItemKind, OperationCoverage } from './schemas.js'

/** How many names of parameters, and of methods and paths, are kept, and how many characters of each. */
const MAX_NAMES = 20
const MAX_LENGTH = 200

/** How often something was met by an answer of the server, and by a fault. */
interface Tally {
  count: number
  injected: number
}

const NEVER: Tally = { count: 0, injected: 0 }

/** By the ids of items, and by these, each of which something follows that was met. */
type Counts = Map<string, Tally>
const UNMOCKED = 'unmocked '
const answered = ({ id }: Operation) => `${id} answered `
const unreadParameter = ({ id }: Operation) => `${id} does not read `

/**
 * Counts what the requests of each environment, and of all together, have met of what the contract documents. In memory;
 * neither the journal's capacity nor emptying it matters, nor a reset.
 */
export function coverageService(defaults: EnvironmentDefaults) {
  const plans = new Map<Operation, readonly PlannedItem[]>()
  const server: Counts = new Map()
  let environments = new WeakMap<Environment, Counts>()
  /** What was documented for the environments that have had requests. */
  const documented = new Set<PlannedItem>()

  return {
    /** Adds an operation to what is counted. */
    include: (operation: Operation): void => void plans.set(operation, planOf(operation)),

    /** Counts a request that has ended; without an environment it had no valid key. */
    count(entry: JournalEntry, environment: Environment | undefined): void {
      const { operation, method, query, status, injected, journal } = entry
      // The contract has no HEAD.
      if (operation && method === 'HEAD') return
      const items = (operation && plans.get(operation)?.filter(({ isMet }) => isMet(entry))) ?? [
        { id: UNMOCKED }
      ]
      const isRead =
        query instanceof MalformedQuery ||
        unknownParameters(Object.keys(query), operation).length === 0
      // Names as they are shown, without secrets.
      const shown = operation && isRead ? undefined : journal.describe(entry)
      for (const counts of environment ? [countsOf(environment), server] : [server]) {
        for (const { id } of items) add(counts, id, injected)
        if (operation && status > 0) add(counts, `${answered(operation)}${status}`, injected)
        if (!operation) addName(counts, UNMOCKED, `${method} ${shown?.path}`)
        else
          for (const name of shown?.unknown.query ?? [])
            addName(counts, unreadParameter(operation), name)
      }
    },

    /** Returns the coverage of an environment. Requests without a valid key belong to none, so it has no 401. */
    of(environment: Environment): Coverage {
      const { name, assumptions } = environment
      const isWanted = (item: PlannedItem) =>
        item.error?.status !== 401 && isDocumented(item, assumptions)
      return {
        ...coverageOf(environments.get(environment) ?? new Map(), isWanted),
        environment: name
      }
    },

    /** Returns the coverage of all requests, also those of environments that have been removed. */
    ofServer(): Coverage {
      const assumptions = assume(defaults.profile, defaults.assumptions)
      return coverageOf(server, (item) =>
        documented.size ? documented.has(item) : isDocumented(item, assumptions)
      )
    },

    /** Starts again for an environment. */
    clear: (environment: Environment): void => void environments.delete(environment),

    /** Starts again for all environments and the server. */
    clearAll(): void {
      server.clear()
      documented.clear()
      environments = new WeakMap()
    }
  }

  function countsOf(environment: Environment): Counts {
    const counts: Counts = environments.get(environment) ?? new Map()
    if (!environments.has(environment)) {
      environments.set(environment, counts)
      const items = [...plans.values()].flat()
      for (const item of items)
        if (isDocumented(item, environment.assumptions)) documented.add(item)
    }
    return counts
  }

  /** Returns the coverage of the items that are wanted. */
  function coverageOf(counts: Counts, isWanted: (item: PlannedItem) => boolean): Coverage {
    const operations = [...plans].map(([each, plan]) =>
      operationCoverage(each, plan.filter(isWanted), counts)
    )
    const items = operations.flatMap((each) => each.items)
    const covered = items.filter((item) => item.covered).length
    const unmocked = counts.get(UNMOCKED)?.count ?? 0
    const targets = startingWith(UNMOCKED, counts).map(([target, { count: requests }]) => {
      const [method = '', path = ''] = target.split(' ')
      return { method, path, requests }
    })
    const percentage = Math.floor((covered / items.length) * 1000) / 10
    const requests = operations.reduce((sum, each) => sum + each.requests, unmocked)
    const total = items.length
    return {
      percentage,
      covered,
      total,
      requests,
      operations,
      unmocked: { requests: unmocked, targets }
    }
  }
}

function operationCoverage(
  operation: Operation,
  plan: readonly PlannedItem[],
  counts: Counts
): OperationCoverage {
  const { id, method, url } = operation
  const items = plan.map(({ id, kind, name, how, error }) => {
    const { count, injected } = counts.get(id) ?? NEVER
    // The server has no real ones.
    const byFault = error?.status === 500
    return {
      id,
      kind,
      name,
      count,
      injected,
      byFault,
      covered: count > 0 || (byFault && injected > 0),
      how
    }
  })
  const documented = new Set(plan.map(({ error }) => `${error?.status ?? 200}`))
  const [called = NEVER] = items
  return {
    operation: id,
    method,
    path: url.replace(/:(\w+)/g, '{$1}'),
    requests: called.count + called.injected,
    covered: items.filter(({ covered }) => covered).length,
    total: items.length,
    items,
    others: startingWith(answered(operation), counts)
      .filter(([status]) => !documented.has(status))
      .map(([status, tally]) => ({ status: Number(status), ...tally })),
    unknownParameters: startingWith(unreadParameter(operation), counts).map(
      ([parameter, { count: requests }]) => {
        return { parameter, requests }
      }
    )
  }
}

function add(counts: Counts, key: string, injected: boolean): void {
  const tally = counts.get(key) ?? { ...NEVER }
  tally[injected ? 'injected' : 'count'] += 1
  counts.set(key, tally)
}

function addName(counts: Counts, prefix: string, name: string): void {
  const key = prefix + (name.length > MAX_LENGTH ? `${name.slice(0, MAX_LENGTH)}...` : name)
  if (counts.has(key) || startingWith(prefix, counts).length < MAX_NAMES) add(counts, key, false)
}

/** Returns what follows a prefix, with its tally. */
function startingWith(prefix: string, counts: Counts): [string, Tally][] {
  const found = [...counts].filter(([key]) => key.startsWith(prefix) && key !== prefix)
  return found.map(([key, tally]) => [key.slice(prefix.length), tally])
}

/** One thing that the contract documents of an operation. */
export interface PlannedItem {
  id: string
  kind: ItemKind
  name: string
  /** How to meet it. */
  how: string
  /** The error that it is, if it is one. */
  error?: OperationError
  /** Of a request that has ended. */
  isMet(request: JournalEntry): boolean
}

/** Returns what is counted of an operation, from its definition. The call is the first item. */
export function planOf({
  id,
  method,
  errors,
  idempotent,
  querystring
}: Operation): readonly PlannedItem[] {
  const documented: OperationError[] = [...errors, { status: 500 }]
  const codes = errors.map(({ code }) => code).filter((code) => code !== undefined)
  const headers = [
    sent('header', 'idempotency-key', ({ hasKey }) => hasKey),
    sent(
      'header',
      'idempotency-replay',
      ({ replayed }) => replayed,
      'send the same idempotency-key twice'
    )
  ]
  return [
    item('operation', 'called', 'call it', () => true),
    item('status', '200', 'send a request that succeeds', ({ status }) => status === 200),
    ...documented.map(errorItem),
    ...Object.entries<TSchema>(querystring?.properties ?? {}).flatMap(parameterItems),
    ...(idempotent ? headers : [])
  ]

  function item(
    kind: ItemKind,
    name: string,
    how: string,
    isMet: PlannedItem['isMet']
  ): PlannedItem {
    return { id: `${id}.${kind}.${name.replace(/,? /, '.')}`, kind, name, how, isMet }
  }

  /** An item that is met by what a request was sent with, if that gets a 200. */
  function sent(
    kind: ItemKind,
    name: string,
    isSent: PlannedItem['isMet'],
    how = SENT
  ): PlannedItem {
    return item(kind, name, how, (request) => request.status === 200 && isSent(request))
  }

  function parameterItems([name, { type, enum: values = [] }]: [string, TSchema]): PlannedItem[] {
    // A query that is answered with 200 is not malformed.
    const valueIn = ({ query }: JournalEntry) => (query as Query)[name]
    const isSeveral = (value?: Query[string]) => Array.isArray(value) && value.length > 1
    return [
      // An empty text counts as absent.
      sent('query', name, (request) => Boolean(valueIn(request))),
      ...(type === 'array'
        ? [sent('list', `${name}, several`, (request) => isSeveral(valueIn(request)))]
        : []),
      ...values.map((value: string) =>
        sent('value', `${name}=${value}`, (request) => valueIn(request) === value)
      )
    ]
  }

  function errorItem(error: OperationError): PlannedItem {
    const { status, code, example } = error
    const suchAs = example && HOW[status].startsWith('ask') ? `, such as ${method} ${example}` : ''
    const how = (code && HOW[code]) ?? `${HOW[status]}${suchAs}`
    // Of two errors with one status, that without a code is any other.
    const isMet = (request: JournalEntry) =>
      request.status === status &&
      (code ? request.errorCode === code : !codes.includes(request.errorCode as ErrorCode))
    return {
      ...item('status', code === undefined ? `${status}` : `${status} ${code}`, how, isMet),
      error
    }
  }
}

const SENT = 'send it with a request that gets a 200'
const HOW: Record<ErrorStatus, string> & { [Code in ErrorCode]?: string } = {
  400: 'send a query string that is malformed, such as ?x=%',
  401: 'send no API key, or one that no environment has',
  403: 'ask for a record of another environment of the organization',
  404: 'ask for something that the environment does not have',
  409: 'use an idempotency-key while its first request is still delayed, by a fault or a latency',
  413: 'send a body of more than 1 MiB',
  422: 'ask with an invalid value',
  'key-reused': 'send an idempotency-key again with another body',
  500: 'inject it, as it is an error of the server: POST /_mock/faults'
}

/** Returns whether environments with these assumptions document the item. */
export function isDocumented({ error }: PlannedItem, assumptions: Assumptions): boolean {
  return error?.under === undefined || assumptions[error.under[0]] === error.under[1]
}
