import type { AnySchemaObject, ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { fullFormats } from 'ajv-formats/dist/formats.js'

/** The part of an OpenAPI document that responses are checked against. */
interface Published {
  paths: Record<
    string,
    Record<string, { responses: Record<string, { content?: Record<string, object> }> }>
  >
  components: { schemas: Record<string, AnySchemaObject> }
}

export interface CheckedResponse {
  method: string
  /** Path and query string. */
  path: string
  status: number
  headers: Headers
  text: string
}

/**
 * Caches contracts, because compiling a document is slow and many servers publish the same
 * document.
 */
const contracts = new Map<string, Contract>()

/** Returns the contract for the OpenAPI document in `text`. */
export function contractOf(text: string): Contract {
  // Ignore the server's URL, because each server has a different one.
  const key = text.replace(/"servers":\[[^\]]*\]/, '')
  const contract = contracts.get(key) ?? new Contract(JSON.parse(text))
  contracts.set(key, contract)
  return contract
}

/** Checks responses against an OpenAPI document. */
export class Contract {
  readonly #published: Published
  readonly #ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    // Validating a document is slow, and test/openapi/document.test.ts already does it.
    validateSchema: false,
    // A validator is called only a few times, so optimizing it takes longer than it saves.
    code: { optimize: false },
    formats: { ...fullFormats, regex: true }
  })
  readonly #compiled = new Map<string, ValidateFunction>()

  constructor(published: Published) {
    this.#published = published
    this.#ajv.addSchema(published as AnySchemaObject, 'openapi')
  }

  /**
   * Throws if the response's status, content type or body doesn't match the document. Also throws
   * if an error response lacks a header such as `x-mock-reason`, or has a wrong value in a field
   * such as `statusCode`.
   */
  check(response: CheckedResponse): void {
    const path = response.path.replace(/[?#].*$/s, '')
    if ((!DESCRIBED.test(path) || response.method === 'OPTIONS') && response.status < 400) return
    if (response.status >= 400) checkErrorResponse(response)
    const { pointer, type } = this.#responseAt(path, response.method.toLowerCase(), response.status)
    const sent = response.headers.get('content-type')
    // This route can also respond with YAML, which isn't checked.
    if (path === '/_mock/state' && sent === 'application/yaml; charset=utf-8') return
    assertThat(sent === (type && `${type}; charset=utf-8`), `content-type is not ${type}`, response)
    if (response.method === 'HEAD' || type !== 'application/json') return
    const validate = this.#validatorAt(pointer)
    assertThat(
      validate(JSON.parse(response.text)),
      JSON.stringify(validate.errors?.slice(0, 5)),
      response
    )
  }

  #validatorAt(pointer: string): ValidateFunction {
    const validate =
      this.#compiled.get(pointer) ?? this.#ajv.compile({ $ref: `openapi#${pointer}` })
    this.#compiled.set(pointer, validate)
    return validate
  }

  #responseAt(
    path: string,
    method: string,
    status: number
  ): { pointer: string; type: string | null } {
    // Try literal paths first, because a path with parameters can match them too.
    const byParameters = Object.entries(this.#published.paths).sort(
      ([one], [other]) => countOf(one) - countOf(other)
    )
    const verb = method === 'head' ? 'get' : method
    for (const [template, operations] of byParameters) {
      // The assumption `path-form` allows other spellings of a path. An id may be empty.
      const pattern = new RegExp(`^${template.replace(/\{[^}]+\}/g, '[^/]*')}/?$`, 'i')
      const described = operations[verb]?.responses[status]
      if (!described || !pattern.test(path)) continue
      const [type = null] = Object.keys(described.content ?? {})
      const steps = ['paths', template, method, 'responses', String(status), 'content', type ?? '']
      return { pointer: `/${steps.map(token).join('/')}/schema`, type }
    }
    if (status >= 400) {
      // The document doesn't list every error. For example, a fault can send any error status.
      const name = status === 422 ? 'ValidationErrorBody' : 'ErrorBody'
      return { pointer: `/components/schemas/${name}`, type: 'application/json' }
    }
    throw new Error(`the OpenAPI document has no ${method} ${path} with ${status}`)
  }
}

const countOf = (template: string) => template.split('{').length

/** Matches the paths in the OpenAPI documents of the API and of the control routes. */
const DESCRIBED = /^\/(v\d|_mock)\/|^\/health$/i

function checkErrorResponse(response: CheckedResponse): void {
  const { headers, status, method, path } = response
  assertThat(Boolean(headers.get('x-mock-reason')), 'x-mock-reason is missing', response)
  if (status === 401) {
    assertThat(
      headers.get('www-authenticate') === 'ApiKey',
      'www-authenticate is not ApiKey',
      response
    )
  }
  // A control route's 409 has no `Retry-After`, because a retry doesn't resolve the conflict.
  if ([409, 429, 503].includes(status) && !path.startsWith('/_mock/')) {
    const retryAfter = headers.get('retry-after') ?? ''
    assertThat(/^\d+$/.test(retryAfter), 'retry-after is not a number of seconds', response)
  }
  if (method !== 'HEAD') checkErrorBody(response)
}

function checkErrorBody(response: CheckedResponse): void {
  const { status, text } = response
  const body = JSON.parse(text)
  assertThat(body.statusCode === status, 'statusCode differs from the status', response)
  assertThat(!Number.isNaN(Date.parse(body.timestamp)), 'timestamp is not a date', response)
  assertThat(status === 422 || !('errors' in body), 'only a 422 may have errors', response)
  assertThat(status === 500 || !('errorId' in body), 'only a 500 may have an errorId', response)
}

function assertThat(
  holds: boolean,
  problem: string,
  { method, path, status, text }: CheckedResponse
): void {
  if (!holds)
    throw new Error(
      `response violates the API reference: ${problem}\n` +
        `${method} ${path} -> ${status}\n${text.slice(0, 2000)}`
    )
}

function token(text: string): string {
  return encodeURIComponent(text.replaceAll('~', '~0').replaceAll('/', '~1'))
}
