/**
 * The type of `fetch`. Projects that include neither the DOM types nor the Node types don't declare
 * `fetch` and `AbortSignal`, so `Fetch` and `Signal` are `never` there.
 */
type Fetch = typeof globalThis extends { fetch: infer Fetch } ? Fetch : never
export type Signal = typeof globalThis extends { AbortSignal: { prototype: infer Signal } }
  ? Signal
  : never

/** The parts of a response that the client reads. */
export interface Received extends Pick<Awaited<ReturnType<Fetch>>, 'ok' | 'status' | 'body'> {
  headers: { get(name: string): string | null | undefined }
  text(): Promise<string>
  json(): Promise<unknown>
}

/** A function that sends a request and is called like `fetch`. */
type Send = (
  url: string,
  request: {
    method: Method
    headers: Record<string, string>
    body?: string
    signal?: Signal
  }
) => Promise<Received>

export interface ConnectOptions {
  /**
   * The server's `--admin-token`. A client on another machine needs this token for server-wide
   * routes.
   */
  adminToken?: string | undefined
  /** The function that sends the requests. */
  fetch?: Send | undefined
}

/**
 * Stores a stub's function in the server, and returns the function's id. Only available if the
 * server runs in this process.
 */
export type RegisterReply = (
  respond: (request: ReceivedRequest & { apiKey: string }) => unknown
) => string

/** A request that the server has received. */
export interface ReceivedRequest {
  /** The decoded values of the path's parameters. */
  params: Record<string, string>
  /** The decoded query. A repeated parameter has a list of values. */
  query: Record<string, string | (string | object)[]>
  /** The headers with names in lower case, without the API key. */
  headers: Record<string, string | string[] | undefined>
  /**
   * The parsed body if the content type is JSON, and the body as text otherwise. Undefined if the
   * body is empty.
   */
  body: unknown
}

type Query = Record<string, string | number | Date | readonly string[] | undefined>

interface CallOptions {
  query?: Query | undefined
  /** A string is sent unchanged. Any other value is sent as JSON. */
  body?: unknown
  headers?: Record<string, string> | undefined
  signal?: Signal | undefined
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * Sends requests to one server, all with the same `Authorization` header. If a request fails, the
 * method that sent it rejects with `MockError`.
 */
export interface Connection extends ReturnType<typeof createConnection> {}

/**
 * Returns a connection to the server at `url`. Throws `MockError` if `url` isn't a valid server
 * URL, or if the token contains characters that a header can't carry.
 */
export function connectionTo(
  url: string,
  { adminToken, fetch }: ConnectOptions,
  registerReply?: RegisterReply
): Connection {
  const base = URL.canParse(url) ? new URL(url) : undefined
  if (!base || !/^https?:$/.test(base.protocol) || base.search || base.hash) {
    throw new MockError(`${url} is not a valid server URL; use one like http://127.0.0.1:4210`)
  }
  if (base.username || base.password) {
    throw new MockError('a server URL must not contain a user name or password')
  }
  const authorization =
    adminToken === undefined ? {} : { authorization: requireHeaderValue(`Bearer ${adminToken}`) }
  return createConnection(base.href.replace(/\/+$/, ''), authorization, { fetch, registerReply })
}

/** Returns whether the value contains only characters that a header can carry. */
export const isHeaderValue = (value: string) => !/[^ -~\t\u0080-\u00ff]/.test(value)

/**
 * Returns the value of the `Authorization` header unchanged. Throws `MockError` if a header can't
 * carry it. Without this check, `fetch` would throw an error that contains the secret.
 */
function requireHeaderValue(authorization: string): string {
  if (isHeaderValue(authorization)) return authorization
  throw new MockError("the key or token contains characters that a header can't carry")
}

/** The functions that a connection shares with the connections that its `as` method creates. */
interface Transport {
  fetch: Send | undefined
  registerReply: RegisterReply | undefined
}

function createConnection(
  url: string,
  authorization: Record<string, string>,
  transport: Transport
) {
  const { fetch, registerReply } = transport
  return {
    url,
    registerReply,
    send,
    json,
    /** Sends a GET request, and returns the list in the property `name` of the response body. */
    list: async <Item>(path: string, name: string, query?: Query) =>
      (await json<Record<string, unknown>>('GET', path, { query }))[name] as Item[],
    /** Sends a request, and ignores the body of a successful response. */
    async done(method: Method, path: string, options?: CallOptions): Promise<void> {
      const response = await send(method, path, options)
      await response.text()
    },
    /**
     * Returns a connection with another `Authorization` header. Throws `MockError` if a header
     * can't carry that value.
     */
    as: (other: string): Connection =>
      createConnection(url, { authorization: requireHeaderValue(other) }, transport)
  }

  /** Sends a request and returns the response. Throws `MockError` if its status isn't 2xx. */
  async function send(method: Method, path: string, options: CallOptions = {}): Promise<Received> {
    const { query, signal } = options
    const response = await findFetch(fetch)(
      `${url}${path}${queryString(query)}`,
      requestInit(method, authorization, options)
    ).catch((error) => {
      throw signal?.aborted ? error : unreachable(url, error)
    })
    if (!response.ok) throw await rejection(response, method, path)
    return response
  }

  /** Sends a request and returns the parsed body of the response. */
  async function json<Result>(
    method: Method,
    path: string,
    options?: CallOptions
  ): Promise<Result> {
    const response = await send(method, path, options)
    try {
      return (await response.json()) as Result
    } catch (cause) {
      if (options?.signal?.aborted) throw cause
      const reason =
        `the response to ${method} ${path} is not JSON; ` +
        `check that ${url} is the URL of a notification-mock server`
      throw new MockError(reason, { status: response.status, cause })
    }
  }
}

/**
 * Returns the function to send a request with. Called for each request, so that `connect` itself
 * doesn't throw if there is no global `fetch`, as in jsdom.
 */
function findFetch(fetch: Send | undefined): Send {
  const found = fetch ?? globalThis.fetch
  if (typeof found === 'function') return found
  throw new MockError('there is no global `fetch` function; pass a function as the option `fetch`')
}

function queryString(query: Query = {}): string {
  // `JSON.stringify` drops undefined values, and writes dates in the format that the server reads.
  const values: Record<string, string | string[]> = JSON.parse(JSON.stringify(query))
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(values)) {
    for (const item of [value].flat()) search.append(name, item)
  }
  return search.size === 0 ? '' : `?${search}`
}

/** Leaves out undefined properties, because some implementations of `fetch` reject them. */
function requestInit(
  method: Method,
  authorization: Record<string, string>,
  { body, headers, signal }: CallOptions
) {
  const content = typeof body === 'string' ? body : JSON.stringify(body)
  return {
    method,
    headers: { ...authorization, ...headers },
    ...(signal && { signal }),
    ...(content !== undefined && { body: content })
  }
}

/** A duration: a number of milliseconds, or a string with a unit, such as `10m`. */
export type Duration = number | `${number}${keyof typeof UNITS}`

const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Returns the duration in milliseconds. Throws `MockError` if it is not a duration. */
export function milliseconds(duration: Duration): number {
  const [, number, unit = 'ms'] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(String(duration)) ?? []
  if (number === undefined) {
    throw new MockError(
      `${duration} is not a duration; pass milliseconds, or a number with the unit ms, s, m, h or d`
    )
  }
  return Math.round(Number(number) * UNITS[unit as keyof typeof UNITS])
}

/** Template tag for paths. Encodes each value as one path segment. */
export function path(literals: TemplateStringsArray, ...values: string[]): string {
  return String.raw({ raw: literals }, ...values.map(encodeURIComponent))
}

/** An invalid field of a request. */
export interface InvalidField {
  /** What is wrong with the field, one sentence per problem. */
  messages: string[]
  /** The value that was sent. */
  value?: unknown
}

/** Thrown if the server rejects a request, or if no server responds. */
export class MockError extends Error {
  override readonly name = 'MockError'
  /** The HTTP status of the response. Undefined if there was no response. */
  readonly status: number | undefined
  /** Which check rejected the request, and how to fix the request. The same text as `message`. */
  readonly reason: string
  /** The invalid fields of the request, by name. */
  readonly fields: Record<string, InvalidField>
  /** Details of the error. If a verification failed, `nearest` lists the most similar requests. */
  readonly context: Record<string, unknown>

  constructor(reason: string, { status, fields = {}, context = {}, cause }: ErrorDetails = {}) {
    super(reason, cause === undefined ? undefined : { cause })
    this.status = status
    this.reason = reason
    this.fields = fields
    this.context = context
  }
}

interface ErrorDetails {
  status?: number | undefined
  fields?: Record<string, InvalidField> | undefined
  context?: Record<string, unknown> | undefined
  cause?: unknown
}

function unreachable(url: string, error: { cause?: unknown }): MockError {
  const { code, message = 'connection failed' } = (error.cause ?? error) as {
    code?: unknown
    message?: string
  }
  const detail = typeof code === 'string' ? code : message
  return new MockError(
    `no response from ${url} (${detail}); is a server running there? ` +
      '"npx notification-mock serve" starts a server and prints its URL',
    { cause: error }
  )
}

async function rejection(response: Received, method: string, path: string): Promise<MockError> {
  const { status, headers } = response
  const { message, errors: fields, ctx: context } = await readErrorBody(response)
  const reason = headers.get('x-mock-reason') ?? undefined
  const fallback =
    typeof message === 'string' ? message : `${method} ${path} failed with status ${status}`
  const text = reason === undefined ? fallback : decodeReason(reason)
  return new MockError(text, { status, fields, context })
}

type ErrorBody = {
  message?: unknown
  errors?: Record<string, InvalidField>
  ctx?: Record<string, unknown>
}

/**
 * Returns the parsed error body. Returns an empty object if the body isn't a JSON object, for
 * example because a proxy sent it.
 */
async function readErrorBody(response: Received): Promise<ErrorBody> {
  const body: unknown = await response.json().catch(() => undefined)
  return typeof body === 'object' && body !== null ? body : {}
}

/** Decodes an `x-mock-reason` header, in which only non-ASCII characters are percent-encoded. */
export function decodeReason(header: string): string {
  return header.replace(/(%[89A-F][0-9A-F])+/g, (encoded) => {
    try {
      return decodeURIComponent(encoded)
    } catch {
      // The bytes aren't valid UTF-8, so keep them encoded.
      return encoded
    }
  })
}
