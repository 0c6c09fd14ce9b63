import type { IncomingMessage, ServerResponse } from 'node:http'
import { onTestFinished } from 'vitest'
import { type RecordOptions, record } from '../../../src/remote/recording/record.js'
import { listen } from '../listen.js'

/** What a proxy does with a request in place of passing it on: true if it has answered it. */
export type Disturb = (
  request: IncomingMessage,
  response: ServerResponse,
  asked: number
) => boolean | Promise<boolean>

/** A server before a mock, that may answer in its place. `asked` counts the requests for the same path, from 1. */
export async function givenProxy(upstream: string, disturb: Disturb): Promise<{ url: string }> {
  const counts = new Map<string, number>()
  const server = await listen(async (request, response) => {
    const path = request.url ?? ''
    const asked = (counts.get(path) ?? 0) + 1
    counts.set(path, asked)
    if (await disturb(request, response, asked)) return
    const { authorization = '' } = request.headers
    const answer = await fetch(upstream + path, { headers: { authorization } })
    response
      .writeHead(answer.status, { 'content-type': 'application/json' })
      .end(await answer.text())
  })
  onTestFinished(() => server[Symbol.asyncDispose]())
  return server
}

/** Records from the url into the file, as fast as it can. */
export function recordFrom(url: string, out: string, options: Partial<RecordOptions> = {}) {
  return record({
    url,
    apiKey: 'development-key',
    out,
    workflows: [],
    steps: [],
    pageSize: 10,
    maximum: 1e9,
    rate: 10_000,
    timeout: 10_000,
    keepPersonalData: false,
    keepWorkflowTexts: false,
    name: 'Recorded',
    assumptions: {},
    onProgress: () => {},
    ...options
  } as RecordOptions)
}

/** The texts of all pages of messages, and of the steps of all workflows by their ids. */
export async function answersOf(
  url: string,
  key: string,
  steps: readonly string[],
  limit = 100
): Promise<string[]> {
  const get = async (path: string) => {
    const response = await fetch(url + path, { headers: { authorization: `ApiKey ${key}` } })
    return response.text()
  }
  const pages: string[] = []
  for (let page = 0; ; page++) {
    const text = await get(`/v1/messages?page=${page}&limit=${limit}`)
    pages.push(text)
    if (JSON.parse(text).data.length === 0) break
  }
  return [...pages, ...(await Promise.all(steps.map(get)))]
}
