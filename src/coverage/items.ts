import type { TSchema } from '@sinclair/typebox'
import type { Assumptions } from '../domain/assumptions.js'
import type { ErrorCode } from '../domain/errors.js'
import type { Query } from '../domain/query-string.js'
import type { JournalEntry } from '../journal/entry.js'
import type { ErrorStatus, Operation, OperationError } from '../schema/operation.js'
import type { ItemKind } from './schemas.js'

/** A detail of an operation in the API reference, such as a parameter or a response status. */
export interface PlannedItem {
  id: string
  kind: ItemKind
  name: string
  /** How to cover the item. */
  how: string
  /** The documented error, if the item is the status of an error. */
  error?: OperationError
  /** Returns whether a completed request covers the item. */
  isCoveredBy(request: JournalEntry): boolean
}

/** Returns the coverage items of an operation. The first item is covered by any call. */
export function planOf(operation: Operation): readonly PlannedItem[] {
  const parameters = Object.entries<TSchema>(operation.querystring?.properties ?? {})
  return [
    createItem(operation, 'operation', 'called', 'call it', () => true),
    createItem(
      operation,
      'status',
      '200',
      'send a request that succeeds',
      ({ status }) => status === 200
    ),
    ...errorItems(operation),
    ...parameters.flatMap(([name, schema]) => parameterItems(operation, name, schema)),
    ...(operation.idempotent ? headerItems(operation) : [])
  ]
}

/**
 * Returns whether the item is documented under these assumptions. Some errors are documented only
 * under one value of an assumption.
 */
export function isDocumented({ error }: PlannedItem, assumptions: Assumptions): boolean {
  if (error?.under === undefined) return true
  const [assumption, value] = error.under
  return assumptions[assumption] === value
}

function createItem(
  { id }: Operation,
  kind: ItemKind,
  name: string,
  how: string,
  isCoveredBy: PlannedItem['isCoveredBy']
): PlannedItem {
  return { id: `${id}.${kind}.${name.replace(/,? /, '.')}`, kind, name, how, isCoveredBy }
}

const SEND_IT = 'send it with a request that gets a 200'

/** Creates an item for a part of a request. Only requests that get a 200 cover it. */
function requestItem(
  operation: Operation,
  kind: ItemKind,
  name: string,
  isSent: PlannedItem['isCoveredBy'],
  how = SEND_IT
): PlannedItem {
  return createItem(
    operation,
    kind,
    name,
    how,
    (request) => request.status === 200 && isSent(request)
  )
}

function headerItems(operation: Operation): PlannedItem[] {
  return [
    requestItem(operation, 'header', 'idempotency-key', ({ hasKey }) => hasKey),
    requestItem(
      operation,
      'header',
      'idempotency-replay',
      ({ replayed }) => replayed,
      'send the same idempotency-key twice'
    )
  ]
}

function parameterItems(operation: Operation, name: string, schema: TSchema): PlannedItem[] {
  const { type, enum: values = [] } = schema
  // `query` can't be a `MalformedQuery` here, because `valueIn` is called only for requests that
  // got a 200.
  const valueIn = ({ query }: JournalEntry) => (query as Query)[name]
  const isRepeated = (request: JournalEntry) => {
    const value = valueIn(request)
    return Array.isArray(value) && value.length > 1
  }
  const valueItems = values.map((value: string) =>
    requestItem(operation, 'value', `${name}=${value}`, (request) => valueIn(request) === value)
  )
  return [
    // An empty value doesn't cover the parameter.
    requestItem(operation, 'query', name, (request) => Boolean(valueIn(request))),
    ...(type === 'array' ? [requestItem(operation, 'list', `${name}, several`, isRepeated)] : []),
    ...valueItems
  ]
}

function errorItems(operation: Operation): PlannedItem[] {
  const codes = new Set(operation.errors.map(({ code }) => code))
  const errors: OperationError[] = [...operation.errors, { status: 500 }]
  return errors.map((error) => {
    const { status, code } = error
    // An error without a code matches responses that have no code or an undocumented code.
    const hasCode = ({ errorCode }: JournalEntry) =>
      code === undefined ? errorCode === undefined || !codes.has(errorCode) : errorCode === code
    const item = createItem(
      operation,
      'status',
      code === undefined ? `${status}` : `${status} ${code}`,
      howToGet(operation, error),
      (request) => request.status === status && hasCode(request)
    )
    return { ...item, error }
  })
}

function howToGet({ method }: Operation, { status, code, example }: OperationError): string {
  const special = code && HOW[code]
  if (special !== undefined) return special
  const how = HOW[status]
  return example && REQUESTABLE.has(status) ? `${how}, such as ${method} ${example}` : how
}

/** The error statuses that a client can get by requesting the error's example path. */
const REQUESTABLE = new Set<ErrorStatus>([403, 404, 422])

const HOW: Record<ErrorStatus, string> & { [Code in ErrorCode]?: string } = {
  400: 'send a malformed query string, such as ?x=%',
  401: 'send no API key, or a key that belongs to no environment',
  403: 'request a record in another environment of the same organization',
  404: 'request a record that the environment does not have',
  409: 'repeat an idempotency-key while a fault or latency still delays the first request',
  413: 'send a body of more than 1 MiB',
  422: 'send an invalid value',
  'key-reused': 'send an idempotency-key again with a different body',
  500: 'inject it with POST /_mock/faults, because no request causes it'
}
