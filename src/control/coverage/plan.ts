import type { TSchema } from '@sinclair/typebox'
import type { Assumptions } from '../../core/assumptions.js'
import type { ErrorCode } from '../../core/errors.js'
import type { Operation, OperationError } from '../../http/operation.js'
import { MalformedQuery, type Query } from '../../http/query-string.js'
import { callHint, errorHint, type Hint, keyHint, queryHint, replayHint } from './hints.js'
import type { ItemKind } from './schemas.js'

/** One thing that the contract documents of an operation. */
export interface PlannedItem extends Hint {
  id: string
  kind: ItemKind
  name: string
  /** The error that it is, if it is one. */
  error?: OperationError
  /** Whether only a fault leads to it. */
  byFault: boolean
}

/** What a query parameter counts for, each a bit. */
interface Parameter {
  sent: number
  several: number
  values: Map<string, number>
}

/** All that is counted of one operation, and where. */
export interface CoveragePlan {
  operation: Operation
  /** Called, the statuses, then what a request is sent with: one bit each, the first of `firstSent`. */
  items: readonly PlannedItem[]
  firstSent: number
  parameters: ReadonlyMap<string, Parameter>
  /** Index of the item of an error that shares its status with others. */
  codes: ReadonlyMap<ErrorCode | undefined, number>
  /** Index of the item of a status. */
  statuses: ReadonlyMap<number, number>
  /** Bits of the headers. */
  key: number
  replay: number
}

/** What a request was sent with that the operation does not read. */
export const UNREAD = 1 << 30

/** Returns what is counted of an operation, from its definition. Throws for more parameters and values than have bits. */
export function planOf(operation: Operation): CoveragePlan {
  const { id, errors, idempotent, querystring } = operation
  const documented: OperationError[] = [...errors, { status: 500 }]
  const answers: PlannedItem[] = [
    item('operation', 'called', callHint(operation)),
    item('status', '200', callHint(operation)),
    ...documented.map((error) => ({
      ...item('status', nameOf(error), errorHint(operation, error)),
      error,
      byFault: error.status === 500
    }))
  ]
  const sent: PlannedItem[] = []
  const parameters = new Map(
    Object.entries<TSchema>(querystring?.properties ?? {}).map(([name, schema]) => [name, addParameter(name, schema)])
  )
  const key = idempotent ? addSent('header', 'idempotency-key', keyHint(operation)) : 0
  const replay = idempotent ? addSent('header', 'idempotency-replay', replayHint(operation)) : 0
  if (sent.length > 30) throw new Error(`the operation ${id} has more than 30 parameters, values and headers`)
  const statuses = answers.flatMap(({ kind, error }, index) =>
    kind === 'status' ? [{ index, status: error?.status ?? 200, code: error?.code }] : []
  )
  return {
    operation,
    items: [...answers, ...sent],
    firstSent: answers.length,
    parameters,
    codes: new Map(statuses.filter(({ code }) => code !== undefined).map(({ code, index }) => [code, index])),
    // Of two errors with one status, that without a code is any other.
    statuses: new Map(
      [...statuses.filter(({ code }) => code), ...statuses.filter(({ code }) => !code)].map(({ status, index }) => [
        status,
        index
      ])
    ),
    key,
    replay
  }

  function item(kind: ItemKind, name: string, hint: Hint): PlannedItem {
    return { id: `${id}.${kind}.${name.replace(/,? /, '.')}`, kind, name, byFault: false, ...hint }
  }

  function addSent(kind: ItemKind, name: string, hint: Hint): number {
    return 1 << (sent.push(item(kind, name, hint)) - 1)
  }

  function addParameter(name: string, { type, enum: values = [] }: TSchema): Parameter {
    const [example = ''] = [operation.examples.query?.[name] ?? ''].flat()
    const several = [example, `${example}-2`]
    return {
      sent: addSent('query', name, queryHint(operation, name, example)),
      several: type === 'array' ? addSent('list', `${name}, several`, queryHint(operation, name, ...several)) : 0,
      values: new Map(
        (values as string[]).map((value) => [
          value,
          addSent('value', `${name}=${value}`, queryHint(operation, name, value))
        ])
      )
    }
  }
}

/** Returns whether environments with these assumptions document the item. */
export function isDocumented({ error }: PlannedItem, assumptions: Assumptions): boolean {
  return error?.under === undefined || assumptions[error.under[0]] === error.under[1]
}

/** Returns what a query was sent with, a bit each. An empty text counts as absent. */
export function sentBits({ parameters }: CoveragePlan, query: Query | MalformedQuery): number {
  let bits = 0
  if (query instanceof MalformedQuery) return bits
  for (const name in query) {
    const parameter = parameters.get(name)
    const value = query[name]
    if (parameter === undefined) bits |= UNREAD
    else if (typeof value === 'string') bits |= value === '' ? 0 : parameter.sent | (parameter.values.get(value) ?? 0)
    else bits |= parameter.sent | ((value?.length ?? 0) > 1 ? parameter.several : 0)
  }
  return bits
}

function nameOf({ status, code }: OperationError): string {
  return code === undefined ? `${status}` : `${status} ${code}`
}
