import { CHANNELS } from '../../domain/enums.js'
import { attempt, StartError } from '../../domain/errors.js'
import { readRegularFile } from '../../platform/read-file.js'
import { FILE_LIMITS } from '../../seeds/limits.js'
import { readYaml } from '../../seeds/yaml.js'
import { stepPath } from '../paths.js'
import { isObject } from '../response-checks.js'
import { createTarget, type Target } from '../target.js'
import { askFor, notAnObject } from './asking.js'

/** What both servers are asked: a path with its query, from `/v1` or `/v2` on. */
export type Question = { method: 'GET' | 'POST'; path: string }

/** The requests among those of a file, a HAR or a journal that can be asked, and how many can't. */
export type Questions = { questions: Question[]; skipped: number }

type Request = { method: string; path: string }

/** Where questions come from: a file, a HAR, or what ours has recorded. The usual ones, if nothing is said. */
interface Source {
  requests?: string
  har?: string
  journal?: true
  allowChanges?: true
}

const SET_PRIMARY = /^\/v1\/integrations\/[^/?]+\/set-primary(?:\?|$)/

/** Returns each request once. Rejects with `StartError` when there are none that can be read. */
export async function readQuestions(source: Source, ours: Target): Promise<Questions> {
  const { requests, har, journal, allowChanges = false } = source
  const found = new Map<string, Question>()
  let skipped = 0
  const ofFile = requests === undefined ? har && requestsOfHar(har) : requestsOfFile(requests)
  for (const { method, path } of ofFile ||
    (await (journal ? requestsOfJournal(ours) : usualRequests(ours)))) {
    const isRead = method === 'GET'
    // Of what changes something, only set-primary is asked, and only if it may be.
    const isAllowed = isRead || (allowChanges && method === 'POST' && SET_PRIMARY.test(path))
    // What a journal has hidden can't be asked again.
    if (!isAllowed || !/^\/v[12]\//.test(path) || path.includes('***')) skipped += 1
    else found.set(`${method} ${path}`, { method: isRead ? 'GET' : 'POST', path })
  }
  return { questions: [...found.values()], skipped }
}

/** Reads a file of lines such as `GET /v1/messages?limit=5`; empty ones and those that begin with # are left out. */
function requestsOfFile(file: string): Request[] {
  return textOf(file)
    .split(/\r?\n/)
    .flatMap((line, index) => {
      if (/^\s*(#|$)/.test(line)) return []
      const [, method = 'GET', path] = /^\s*(?:([A-Z]+)\s+)?(\/v[12]\/\S+)\s*$/.exec(line) ?? []
      if (path !== undefined) return [{ method, path }]
      throw new StartError(
        `${file}:${index + 1}: must be a method and a path, such as GET /v1/messages?limit=5`
      )
    })
}

/** Reads the requests to the service in a HAR, as a browser gives it. */
function requestsOfHar(file: string): Request[] {
  const text = textOf(file)
  const entries = attempt(() => JSON.parse(text).log.entries)
  if (!Array.isArray(entries)) throw new StartError(`${file} is no HAR: it has no log with entries`)
  return entries.map((entry) => {
    const url = attempt(() => new URL(entry.request.url))
    const [path] = /\/v[12]\/.*$/.exec(url?.pathname ?? '') ?? []
    return {
      method: String(entry?.request?.method),
      path: path === undefined ? '' : `${path}${url?.search ?? ''}`
    }
  })
}

/** Returns the text of a file. Throws `StartError` when it can't be read. */
function textOf(file: string): string {
  try {
    return readRegularFile(file).toString()
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new StartError(`${file} can't be read: ${code ?? message}`)
  }
}

/** Asks a server of ours for the requests in the journal of the environment. */
async function requestsOfJournal(ours: Target): Promise<Request[]> {
  return (await controlList(ours, 'requests')).map(({ method, path, query }) => {
    const pairs = Object.entries(isObject(query) ? query : {}).flatMap(([name, value]) =>
      [value].flat().map((each): [string, string] => [name, String(each)])
    )
    const text = new URLSearchParams(pairs).toString()
    return { method: String(method), path: `${path}${text && `?${text}`}` }
  })
}

const PAGES = 5

/** Returns questions for whoever has none: pages, every channel, the steps that ours has, and what is unknown. */
async function usualRequests(ours: Target): Promise<Request[]> {
  const steps = (await controlList(ours, 'workflows')).flatMap(({ _id, steps: all }) =>
    (Array.isArray(all) ? all : []).map((step) => stepPath(String(_id), step._id))
  )
  const queries = [
    ...Array.from({ length: PAGES }, (_, page) => `limit=100&page=${page}`),
    ...CHANNELS.map((channel) => `channel=${channel}`),
    ...[
      'limit=0',
      'limit=1001',
      'page=-1',
      'channel=unknown',
      'subscriberId=unknown-subscriber',
      'contextKeys=unknown'
    ]
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

async function controlList(
  ours: Target,
  name: 'requests' | 'workflows'
): Promise<Record<string, unknown>[]> {
  const { status, body } = await askFor(ours, `/_mock/${name}`, notAnObject)
  const list = isObject(body) ? body[name] : undefined
  if (status === 200 && Array.isArray(list)) return list.filter(isObject)
  throw new StartError(
    `${ours.url}/_mock/${name} answers ${status}: is it a notification-mock, and its key right?`
  )
}

/** Reads a document from a file or an address, JSON or YAML. Rejects with `StartError` or `SeedError` when it is none. */
export async function readDocument(
  place: string,
  timeout: number,
  signal: AbortSignal
): Promise<unknown> {
  if (!/^https?:\/\//i.test(place)) return parsed(textOf(place))
  const { askAgain } = createTarget({ url: place, apiKey: '', timeout, signal })
  const { answer, problem } = await askAgain('', { authorization: null, tries: 3 })
  if (answer?.status === 200) return parsed(answer.text)
  throw new StartError(`${place}: ${problem ?? `answers ${answer?.status}`}`)

  function parsed(text: string): unknown {
    return attempt(() => JSON.parse(text)) ?? readYaml(text, place, FILE_LIMITS)
  }
}
