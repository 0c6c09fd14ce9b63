import { readFileSync } from 'node:fs'
import { CHANNELS } from '../../core/enums.js'
import { attempt, StartError } from '../../core/errors.js'
import { isObject } from '../answers.js'
import type { Target } from '../target.js'
import { askFor, notAnObject } from './asking.js'

/** What both servers are asked. */
export interface Question {
  method: 'GET' | 'POST'
  /** With its query, from `/v1` or `/v2` on. */
  path: string
}

/** The requests among those of a file, a HAR or a journal that can be asked, and how many can't. */
export interface Questions {
  questions: Question[]
  skipped: number
}

const SET_PRIMARY = /^\/v1\/integrations\/[^/?]+\/set-primary(?:\?|$)/

/** Returns each request once. Of those that change something, only set-primary is asked, and only if it may be. */
function askable(requests: Iterable<{ method: string; path: string }>, allowChanges: boolean): Questions {
  const found = new Map<string, Question>()
  let skipped = 0
  for (const { method, path } of requests) {
    const isRead = method === 'GET'
    const isAllowed = isRead || (allowChanges && method === 'POST' && SET_PRIMARY.test(path))
    // What a journal has hidden can't be asked again.
    if (!isAllowed || !/^\/v[12]\//.test(path) || path.includes('***')) skipped += 1
    else found.set(`${method} ${path}`, { method: isRead ? 'GET' : 'POST', path })
  }
  return { questions: [...found.values()], skipped }
}

/** Reads a file of lines such as `GET /v1/messages?limit=5`; empty ones and those that begin with # are left out. */
export function questionsOfFile(file: string, allowChanges: boolean): Questions {
  const lines = textOf(file).split(/\r?\n/)
  const requests = lines.flatMap((line, index) => {
    if (/^\s*(#|$)/.test(line)) return []
    const [, method = 'GET', path] = /^\s*(?:([A-Z]+)\s+)?(\/v[12]\/\S+)\s*$/.exec(line) ?? []
    if (path === undefined) {
      throw new StartError(`${file}:${index + 1}: must be a method and a path, such as GET /v1/messages?limit=5`)
    }
    return [{ method, path }]
  })
  return askable(requests, allowChanges)
}

/** Reads the requests to the service in a HAR, as a browser or `GET /_mock/requests?format=har` gives it. */
export function questionsOfHar(file: string, allowChanges: boolean): Questions {
  const har = attempt(() => JSON.parse(textOf(file))) as unknown
  const entries = isObject(har) && isObject(har.log) ? har.log.entries : undefined
  if (!Array.isArray(entries)) throw new StartError(`${file} is no HAR: it has no log with entries`)
  const requests = entries.flatMap((entry) => {
    const request = isObject(entry) && isObject(entry.request) ? entry.request : {}
    const url = attempt(() => new URL(String(request.url)))
    const [path] = /\/v[12]\/.*$/.exec(url?.pathname ?? '') ?? []
    return [{ method: String(request.method), path: path === undefined ? '' : `${path}${url?.search ?? ''}` }]
  })
  return askable(requests, allowChanges)
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new StartError(`${file} can't be read: ${(error as NodeJS.ErrnoException).code}`)
  }
}

/** Asks a server of ours for the requests in the journal of the environment. */
export async function questionsOfJournal(ours: Target, allowChanges: boolean): Promise<Questions> {
  const { status, body } = await askFor(ours, '/_mock/requests', notAnObject)
  const recorded = isObject(body) && Array.isArray(body.requests) ? body.requests.filter(isObject) : undefined
  if (status !== 200 || !recorded)
    throw new StartError(`${ours.url}/_mock/requests answers ${status}: is it a notification-mock?`)
  const requests = recorded.map(({ method, path, query }) => {
    const pairs = Object.entries(isObject(query) ? query : {}).flatMap(([name, value]) =>
      [value].flat().map((each): [string, string] => [name, String(each)])
    )
    const text = new URLSearchParams(pairs).toString()
    return { method: String(method), path: `${path}${text && `?${text}`}` }
  })
  return askable(requests, allowChanges)
}

const PAGES = 5

/** Returns questions for whoever has none: pages, every channel, the steps that ours has, and what is unknown. */
export async function usualQuestions(ours: Target): Promise<Questions> {
  const { status, body } = await askFor(ours, '/_mock/workflows', notAnObject)
  if (status !== 200)
    throw new StartError(`${ours.url}/_mock/workflows answers ${status}: is it a notification-mock, and its key right?`)
  const workflows = isObject(body) && Array.isArray(body.workflows) ? body.workflows.filter(isObject) : []
  const steps = workflows.flatMap(({ _id, steps: all }) =>
    (Array.isArray(all) ? all.filter(isObject) : []).map((step) => `/v2/workflows/${_id}/steps/${step._id}`)
  )
  const paths = [
    '/v1/messages',
    ...Array.from({ length: PAGES }, (_, page) => `/v1/messages?limit=100&page=${page}`),
    ...CHANNELS.map((channel) => `/v1/messages?channel=${channel}`),
    '/v1/messages?limit=0',
    '/v1/messages?limit=1001',
    '/v1/messages?page=-1',
    '/v1/messages?channel=unknown',
    '/v1/messages?subscriberId=unknown-subscriber',
    '/v1/messages?contextKeys=unknown',
    '/v2/workflows/unknown-workflow/steps/unknown-step',
    ...steps.slice(0, 1).map((path) => path.replace(/[^/]+$/, 'unknown-step')),
    ...steps,
    '/v1/unknown'
  ]
  return askable(
    paths.map((path) => ({ method: 'GET', path })),
    false
  )
}
