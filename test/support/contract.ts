import type { AnySchemaObject, ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { fullFormats } from 'ajv-formats/dist/formats.js'

/** The part of an OpenAPI document that answers are checked against. */
interface Published {
  paths: Record<
    string,
    Record<string, { responses: Record<string, { content?: Record<string, object> }> }>
  >
  components: { schemas: Record<string, AnySchemaObject> }
}

export interface SeenAnswer {
  method: string
  /** Path and query string. */
  path: string
  status: number
  headers: Headers
  text: string
}

export type Contract = ReturnType<typeof createContract>

/**
 * Checks answers against a published OpenAPI document (its text), with an Ajv of its own. `check` throws for a wrong
 * type, an unknown field and an enum value that isn't in the document, for an error response without a reason, and for
 * one with another body than the common one.
 */
export function contractOf(text: string): Contract {
  // Each server has its own address in it.
  const key = text.replace(/"servers":\[[^\]]*\]/, '')
  const contract = contracts.get(key) ?? createContract(JSON.parse(text))
  contracts.set(key, contract)
  return contract
}

/** By the document's text: servers with the same assumptions publish the same one, and compiling it takes long. */
const contracts = new Map<string, Contract>()

function createContract(published: Published) {
  const ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    formats: { ...fullFormats, regex: true }
  })
  ajv.addSchema(published as AnySchemaObject, 'openapi')
  const compiled = new Map<string, ValidateFunction>()

  return {
    check(answer: SeenAnswer): void {
      const path = answer.path.replace(/[?#].*$/s, '')
      if ((!DESCRIBED.test(path) || answer.method === 'OPTIONS') && answer.status < 400) return
      if (answer.status >= 400) checkErrorResponse(answer)
      const { pointer, type } = responseAt(path, answer.method.toLowerCase(), answer.status)
      const sent = answer.headers.get('content-type')
      // The one answer that may also come in another form.
      if (path === '/_mock/state' && sent === 'application/yaml; charset=utf-8') return
      assertThat(sent === (type && `${type}; charset=utf-8`), `content-type is not ${type}`, answer)
      if (answer.method === 'HEAD' || type !== 'application/json') return
      const validate = compiled.get(pointer) ?? ajv.compile({ $ref: `openapi#${pointer}` })
      compiled.set(pointer, validate)
      assertThat(
        validate(JSON.parse(answer.text)),
        JSON.stringify(validate.errors?.slice(0, 5)),
        answer
      )
    }
  }

  function responseAt(
    path: string,
    method: string,
    status: number
  ): { pointer: string; type: string | null } {
    // A path with a parameter may match what has a path of its own.
    const byParameters = Object.entries(published.paths).sort(
      ([one], [other]) => countOf(one) - countOf(other)
    )
    for (const [template, operations] of byParameters) {
      const pattern = new RegExp(`^${template.replace(/\{[^}]+\}/g, '[^/]+')}$`)
      const response = pattern.test(path)
        ? operations[method === 'head' ? 'get' : method]?.responses[status]
        : undefined
      if (!response) continue
      const [type = null] = Object.keys(response.content ?? {})
      const pointer = `/paths/${token(template)}/${method}/responses/${status}/content/${token(type ?? '')}/schema`
      return { pointer, type }
    }
    if (status >= 400) return { pointer: '/components/schemas/ErrorBody', type: 'application/json' }
    throw new Error(`the published document has no ${method} ${path} with ${status}`)
  }
}

const countOf = (template: string) => template.split('{').length

/** The paths that are in one of the two documents. */
const DESCRIBED = /^\/(v\d|_mock)\/|^\/health$/

function checkErrorResponse(answer: SeenAnswer): void {
  const { headers, status, method, path, text } = answer
  assertThat(
    Boolean(headers.get('x-mock-reason')),
    'an error response has an x-mock-reason',
    answer
  )
  if (status === 401)
    assertThat(headers.get('www-authenticate') === 'ApiKey', 'www-authenticate', answer)
  // A name that is taken stays so, however often a client asks.
  if ([409, 429, 503].includes(status) && !path.startsWith('/_mock/'))
    assertThat(/^\d+$/.test(headers.get('retry-after') ?? ''), 'retry-after', answer)
  if (method === 'HEAD') return
  const body = JSON.parse(text)
  assertThat(body.statusCode === status, 'statusCode is the status', answer)
  assertThat(!Number.isNaN(Date.parse(body.timestamp)), 'timestamp is a time', answer)
  assertThat(status === 422 || !('errors' in body), 'errors on 422 only', answer)
  assertThat(status === 500 || !('errorId' in body), 'errorId on 500 only', answer)
}

function assertThat(
  holds: boolean,
  what: string,
  { method, path, status, text }: SeenAnswer
): void {
  if (!holds)
    throw new Error(
      `answer against the contract: ${what}\n${method} ${path} -> ${status}\n${text.slice(0, 2000)}`
    )
}

function token(text: string): string {
  return encodeURIComponent(text.replaceAll('~', '~0').replaceAll('/', '~1'))
}
