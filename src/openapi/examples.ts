import type { FastifyInstance } from 'fastify'
import { type ErrorResponse, errorJson, SERVER_ERROR } from '../http/errors.js'
import type { OpenApiDocument } from './assumptions.js'

/** The time of all examples. */
export const EXAMPLE_TIME = Date.parse('2026-02-18T10:00:00.000Z')

/** Adds the examples of the operations: what the app, which has the default seed, accepts and answers. */
export async function addExamples(document: OpenApiDocument, app: FastifyInstance): Promise<void> {
  for (const [template, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const { parameters, responses, 'x-examples': examples } = operation
      const { params = {}, query = {}, errors = {}, idempotencyKey } = examples ?? {}
      delete operation['x-examples']
      const search = Object.entries(query).flatMap(([name, values]) =>
        [values].flat().map((value) => `${name}=${value}`)
      )
      const path = template.replace(/\{(\w+)\}/g, (_, name) => params[name] ?? '')
      for (const parameter of parameters) {
        const { name, schema } = parameter
        if (name in params) parameter.example = params[name]
        // In the schema: the page would fill in an example of the parameter itself, and so filter unasked.
        else if (name in query) schema.examples = [query[name]]
        else if (name === 'idempotency-key') schema.examples = [idempotencyKey]
      }
      for (const [status, { content }] of Object.entries(responses)) {
        const urls = status === '200' ? [`${path}?${search.join('&')}`] : [errors[status] ?? path, `${path}?x=%`]
        content['application/json'].example = await answerOf(app, method, urls, Number(status), path)
      }
    }
  }
}

/** Returns the first answer with the status, or else the error that no plain request gets. */
async function answerOf(app: FastifyInstance, method: string, urls: string[], status: number, path: string) {
  for (const url of urls) {
    const headers = { authorization: 'ApiKey development-key' }
    const answer = await app.inject({ method: method as 'GET' | 'POST', url, headers })
    if (answer.statusCode === status) return answer.json()
  }
  return JSON.parse(errorJson({ status, reason: '', message: '', ...OTHER_ERRORS[status] }, path, EXAMPLE_TIME))
}

const OTHER_ERRORS: Record<number, Pick<ErrorResponse, 'message' | 'errors' | 'errorId'>> = {
  401: { message: 'API Key not found' },
  409: { message: 'Request with key "set-primary-0001" is currently being processed. Please retry after 1 second' },
  413: { message: 'Request body is too large' },
  422: { message: 'Request with key "set-primary-0001" is being reused for a different body', errors: {} },
  500: { message: SERVER_ERROR, errorId: '3b0c9a52-6c0e-4d0b-9a3e-5f1d2c7b8e64' }
}
