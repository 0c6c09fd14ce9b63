import { CHANNELS } from '../../domain/enums.js'
import { StartError } from '../../domain/errors.js'
import { parseJsonOrUndefined } from '../../domain/json.js'
import { decodeText } from '../../platform/decode-text.js'
import { readRegularFile } from '../../platform/read-file.js'
import { isObject } from '../../schema/validation.js'
import { FILE_LIMITS } from '../../seeds/limits.js'
import { readYaml } from '../../seeds/yaml.js'
import { stepPath } from '../paths.js'
import { objectProblem, requestUntilUsable } from '../patient-requests.js'
import { Target } from '../target.js'

/**
 * A request to send to both servers. The path starts with `/v1` or `/v2` and includes the query.
 */
export interface ComparedRequest {
  method: 'GET' | 'POST'
  path: string
}

/** The requests to send, and how many of the source's requests are skipped. */
export interface RequestsToCompare {
  requests: ComparedRequest[]
  skipped: number
}

interface SourceRequest {
  method: string
  path: string
}

/** Where the requests come from. The default is the result of `defaultRequests`. */
interface Source {
  requests?: string
  har?: string
  journal?: true
  allowChanges?: true
}

const SET_PRIMARY = /^\/v1\/integrations\/[^/?]+\/set-primary(?:\?|$)/

/**
 * Reads the requests from the source and drops duplicates. Throws `StartError` if the source can't
 * be read.
 */
export async function readRequestsToCompare(
  source: Source,
  ours: Target
): Promise<RequestsToCompare> {
  const requests = new Map<string, ComparedRequest>()
  let skipped = 0
  for (const { method, path } of await requestsOfSource(source, ours)) {
    const isRead = method === 'GET'
    const mayChange = source.allowChanges && method === 'POST' && SET_PRIMARY.test(path)
    const isOfService = /^\/v[12]\//.test(path)
    // The journal masks credentials, so a request with `***` can't be repeated.
    const isMasked = path.includes('***')
    if (isOfService && !isMasked && (isRead || mayChange))
      requests.set(`${method} ${path}`, { method: isRead ? 'GET' : 'POST', path })
    else skipped += 1
  }
  return { requests: [...requests.values()], skipped }
}

async function requestsOfSource(source: Source, ours: Target): Promise<SourceRequest[]> {
  if (source.requests !== undefined) return requestsOfFile(source.requests)
  if (source.har) return requestsOfHar(source.har)
  return source.journal ? await requestsOfJournal(ours) : await defaultRequests(ours)
}

/**
 * Reads lines such as `GET /v1/messages?limit=5`. Skips empty lines and lines that start with `#`.
 */
function requestsOfFile(file: string): SourceRequest[] {
  const lines = readText(file).split(/\r?\n/)
  return lines.flatMap((line, index) => {
    if (/^\s*(#|$)/.test(line)) return []
    const [, method = 'GET', path] = /^\s*(?:([A-Z]+)\s+)?(\/v[12]\/\S+)\s*$/.exec(line) ?? []
    if (path !== undefined) return [{ method, path }]
    const expected =
      'must be a path under /v1/ or /v2/, optionally after a method, ' +
      'such as GET /v1/messages?limit=5'
    throw new StartError(`${file}:${index + 1}: ${expected}`)
  })
}

/** Reads the requests in a HAR file, the format in which browsers export requests. */
function requestsOfHar(file: string): SourceRequest[] {
  const har = parseJsonOrUndefined(readText(file))
  if (har === undefined) throw new StartError(`${file} is not a HAR: it is not JSON`)
  const log = isObject(har) ? har.log : undefined
  const entries = isObject(log) ? log.entries : undefined
  if (!Array.isArray(entries)) throw new StartError(`${file} is not a HAR: it has no log.entries`)
  return entries.map((entry) => {
    const request = isObject(entry) && isObject(entry.request) ? entry.request : {}
    const url = URL.canParse(String(request.url)) ? new URL(String(request.url)) : undefined
    const [path] = /\/v[12]\/.*$/.exec(url?.pathname ?? '') ?? []
    return {
      method: String(request.method),
      path: path === undefined ? '' : `${path}${url?.search ?? ''}`
    }
  })
}

/** The code of the error that `decodeText` throws if a file isn't text. */
const NOT_TEXT = 'ERR_ENCODING_INVALID_ENCODED_DATA'

/** Returns the text of a file. Throws `StartError` if it can't be read. */
function readText(file: string): string {
  try {
    return decodeText(readRegularFile(file))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const problem = code === NOT_TEXT ? 'it is not UTF-8 text; save it as UTF-8' : code
    throw new StartError(`${file} can't be read: ${problem ?? message}`)
  }
}

/** Reads the requests in the journal of our server. */
async function requestsOfJournal(ours: Target): Promise<SourceRequest[]> {
  const recorded = await readControlList(ours, 'requests')
  return recorded.map(({ method, path, query }) => {
    const pairs = Object.entries(isObject(query) ? query : {}).flatMap(([name, values]) =>
      [values].flat().map((value): [string, string] => [name, String(value)])
    )
    const search = new URLSearchParams(pairs).toString()
    return { method: String(method), path: search ? `${path}?${search}` : String(path) }
  })
}

const PAGES = 5

/**
 * Returns GET requests for several pages of messages, for every channel, for every step on our
 * server, and for invalid and unknown values.
 */
async function defaultRequests(ours: Target): Promise<SourceRequest[]> {
  const workflows = await readControlList(ours, 'workflows')
  const steps = workflows.flatMap(({ _id, steps: workflowSteps }) =>
    (Array.isArray(workflowSteps) ? workflowSteps : []).map((step) =>
      stepPath(String(_id), step._id)
    )
  )
  const queries = [
    ...Array.from({ length: PAGES }, (_, page) => `limit=100&page=${page}`),
    ...CHANNELS.map((channel) => `channel=${channel}`),
    'limit=0',
    'limit=1001',
    'page=-1',
    'channel=unknown',
    'subscriberId=unknown-subscriber',
    'contextKeys=unknown'
  ]
  const paths = [
    '/v1/messages',
    ...queries.map((query) => `/v1/messages?${query}`),
    '/v2/workflows/unknown-workflow/steps/unknown-step',
    ...steps.slice(0, 1).map((path) => path.replace(/[^/]+$/, 'unknown-step')),
    ...steps,
    '/v1/unknown'
  ]
  return paths.map((path) => ({ method: 'GET', path }))
}

async function readControlList(
  ours: Target,
  name: 'requests' | 'workflows'
): Promise<Record<string, unknown>[]> {
  const { status, body } = await requestUntilUsable(ours, `/_mock/${name}`, objectProblem)
  const list = isObject(body) ? body[name] : undefined
  if (status === 200 && Array.isArray(list)) return list.filter(isObject)
  const problem = `${ours.url}/_mock/${name} returned ${status}`
  throw new StartError(
    `${problem}; check that the server is notification-mock and that the key is correct`
  )
}

/**
 * Reads an OpenAPI document in JSON or YAML from a file or URL. Throws `StartError` or `SeedError`
 * if it can't be read.
 */
export async function readDocument(
  fileOrUrl: string,
  timeout: number,
  signal: AbortSignal
): Promise<unknown> {
  if (!/^https?:\/\//i.test(fileOrUrl)) return parseDocument(readText(fileOrUrl), fileOrUrl)
  const target = new Target({ url: fileOrUrl, apiKey: '', timeout, signal })
  const { response, problem } = await target.sendWithRetries('', {
    authorization: null,
    maxAttempts: 3
  })
  if (response?.status === 200) return parseDocument(response.text, fileOrUrl)
  throw new StartError(`${fileOrUrl}: ${problem ?? `returned ${response?.status}`}`)
}

function parseDocument(content: string, fileOrUrl: string): unknown {
  // Files are decoded without their byte order mark, but a response may still start with one.
  const text = content.replace(/^\uFEFF/, '')
  return parseJsonOrUndefined(text) ?? readYaml(text, fileOrUrl, FILE_LIMITS)
}
