import type { RecordedRequest } from '../../../client/index.js'
import { decodeOrKeep } from '../../shell/router.js'
import { type RepeatableRequest, repeatable } from '../requests/copy-as.js'
import { flattenValues } from '../requests/format-request.js'
import type { DescribedOperation, Parameter } from './operations.js'

/** A request that the user is editing. */
export interface Draft {
  /** The operation's id; undefined if the user chooses the method and the path. */
  operation: string | undefined
  /** Used only if `operation` is undefined. */
  method: string
  /** The path with its query. Used only if `operation` is undefined. */
  path: string
  /**
   * The values of the operation's parameters by name. If a parameter is a list, each line is a
   * value.
   */
  values: Readonly<Record<string, string>>
  /** Query parameters that the operation doesn't have. Each line is `name=value`. */
  otherParameters: string
  /** Each line is `name: value`. */
  headers: string
  body: string
}

const EMPTY_DRAFT: Draft = {
  operation: undefined,
  method: 'GET',
  path: '/v1/',
  values: {},
  otherParameters: '',
  headers: '',
  body: ''
}

/** Returns a draft with the example values of the operation's required parameters. */
export function newDraft(operation: DescribedOperation | undefined): Draft {
  const required = operation?.parameters.filter(({ isRequired }) => isRequired) ?? []
  const examples = required.map(({ name, examples: [example = ''] }) => [name, example])
  return { ...EMPTY_DRAFT, operation: operation?.id, values: Object.fromEntries(examples) }
}

/** Returns a draft that repeats a recorded request, without headers whose values are masked. */
export function draftOf(
  recorded: RecordedRequest,
  operations: readonly DescribedOperation[]
): Draft {
  const { body = '', headers, ...request } = repeatable(recorded)
  const operation = operations.find(({ id }) => id === recorded.operation)
  const draft = { ...EMPTY_DRAFT, ...request, operation: operation?.id, body }
  const headerPairs = Object.entries(headers)
  if (!operation) return { ...draft, headers: linesOf(headerPairs, ': ') }
  const known = valuesByName(operation, [
    ...pathPairs(operation.path, recorded.path),
    ...flattenValues(recorded.query),
    ...headerPairs
  ])
  const isOther = ([name, value]: Pair) => !known.get(name)?.includes(value)
  return {
    ...draft,
    values: Object.fromEntries([...known].map(([name, values]) => [name, values.join('\n')])),
    otherParameters: linesOf(flattenValues(recorded.query).filter(isOther), '='),
    headers: linesOf(headerPairs.filter(isOther), ': ')
  }
}

type Pair = readonly [name: string, value: string]

const linesOf = (pairs: readonly Pair[], separator: string) =>
  pairs.map((pair) => pair.join(separator)).join('\n')

/**
 * Returns the values to show in each parameter's field. Omits empty values. If a parameter isn't a
 * list but has several values, its field shows none of them.
 */
function valuesByName({ parameters }: DescribedOperation, pairs: readonly Pair[]) {
  const byName = new Map<string, string[]>()
  for (const { name, isList } of parameters) {
    const namedPairs = pairs.filter((pair) => pair[0] === name)
    const values = namedPairs.map(([, value]) => value).filter((value) => value !== '')
    byName.set(name, isList || values.length === 1 ? values : [])
  }
  return byName
}

/** Returns the path parameters of a path, such as `stepId`, with their decoded values. */
function pathPairs(template: string, path: string): Pair[] {
  const segments = path.split('/')
  return template.split('/').flatMap((segment, index): Pair[] => {
    const [, name] = /^\{(.+)\}$/.exec(segment) ?? []
    return name === undefined ? [] : [[name, decodeOrKeep(segments[index] ?? '')]]
  })
}

/**
 * Returns the request that a draft describes. Throws `DraftError` if a line of `headers` or
 * `otherParameters` has no name.
 */
export function prepareRequest(
  draft: Draft,
  operation: DescribedOperation | undefined
): RepeatableRequest {
  const { method, path } = operation ?? draft
  const pairsIn = (location: Parameter['in']) =>
    (operation?.parameters ?? [])
      .filter((parameter) => parameter.in === location)
      .flatMap((parameter) => pairsOf(parameter, draft.values[parameter.name] ?? ''))
  const query = [...pairsIn('query'), ...parseLines(draft, 'otherParameters')]
  const headers = [...pairsIn('header'), ...parseLines(draft, 'headers')]
  return {
    method,
    path: operation ? fillPath(path, pairsIn('path')) + queryString(query) : path,
    ...headersAndBody(method, headers, draft.body)
  }
}

function pairsOf({ name, isList }: Parameter, text: string): Pair[] {
  const values = isList ? text.split('\n') : [text]
  return values.filter((value) => value !== '').map((value) => [name, value])
}

/** Thrown if a field of the draft contains text that can't be sent. */
export class DraftError extends Error {
  readonly field: LinesFieldName

  constructor(field: LinesFieldName, message: string) {
    super(message)
    this.field = field
  }
}

type LinesFieldName = 'headers' | 'otherParameters'

const SEPARATORS = { headers: ':', otherParameters: '=' } as const

function parseLines(draft: Draft, field: LinesFieldName): Pair[] {
  const separator = SEPARATORS[field]
  const lines = draft[field].split('\n').filter((line) => line.trim() !== '')
  return lines.map((line) => {
    const nameLength = line.indexOf(separator)
    if (nameLength < 1) {
      throw new DraftError(field, `“${line}” has no name: write it as name${separator}value`)
    }
    return [line.slice(0, nameLength), line.slice(nameLength + 1)]
  })
}

function fillPath(template: string, pairs: readonly Pair[]): string {
  const values = new Map(pairs)
  return template.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(values.get(name) ?? ''))
}

function queryString(pairs: readonly Pair[]): string {
  const query = pairs.map((pair) => pair.map(encodeURIComponent).join('=')).join('&')
  return query === '' ? '' : `?${query}`
}

/** Methods whose requests can't have a body in a browser. */
const WITHOUT_BODY = ['GET', 'HEAD']

/** Returns whether a browser can send a body with this method. */
export const canHaveBody = (method: string) => !WITHOUT_BODY.includes(method)

function headersAndBody(method: string, pairs: readonly Pair[], body: string) {
  const headers = new Headers(pairs.map(([name, value]): [string, string] => [name, value]))
  const hasBody = body !== '' && canHaveBody(method)
  if (hasBody && !headers.has('content-type')) headers.set('content-type', 'application/json')
  return { headers: Object.fromEntries(headers), ...(hasBody && { body }) }
}
