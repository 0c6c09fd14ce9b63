/** The platform's own types, which not every project declares. */
type Fetch = typeof globalThis extends { fetch: infer Fetch } ? Fetch : never
type Received = Awaited<ReturnType<Fetch>>
export type Signal = typeof globalThis extends { AbortSignal: { prototype: infer Signal } }
  ? Signal
  : never

export interface ConnectOptions {
  /** What opens the routes about the whole server to other machines: `--admin-token`. */
  adminToken?: string | undefined
  /** Used in place of the global `fetch`. */
  fetch?: Fetch | undefined
}

type Query = Record<string, string | number | Date | undefined>

interface CallOptions {
  query?: Query | undefined
  /** Sent as JSON, unless it is text. */
  body?: unknown
  headers?: Record<string, string> | undefined
  signal?: Signal | undefined
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Sends requests to one server with one authorization. All reject with `MockError`. */
export interface Connection extends ReturnType<typeof connection> {}

/** Throws `MockError` for a url that can't be one of a server, and for a token that can't be sent. */
export function connectionTo(url: string, { adminToken, fetch }: ConnectOptions): Connection {
  const base = URL.canParse(url) ? new URL(url) : undefined
  if (!base || !/^https?:$/.test(base.protocol) || base.search || base.hash) {
    throw new MockError(`${url} is not the url of a server; it looks like http://127.0.0.1:4210`)
  }
  if (base.username || base.password)
    throw new MockError('the url of a server takes no user name and no password')
  const authorization =
    adminToken === undefined ? {} : { authorization: sendable(`Bearer ${adminToken}`) }
  return connection(base.href.replace(/\/+$/, ''), authorization, fetch)
}

/** Returns an authorization. Throws `MockError` for one that `fetch` would refuse, and repeat in its error. */
export function sendable(authorization: string): string {
  if (!/[^ -~\t\u0080-\u00ff]/.test(authorization)) return authorization
  throw new MockError('the key or token has characters that no header can carry')
}

function connection(url: string, authorization: Record<string, string>, fetch: Fetch | undefined) {
  return {
    url,
    send,
    json,
    /** Returns the list that the body has under this name. */
    list: async <Item>(path: string, name: string, query?: Query) =>
      (await json<Record<string, unknown>>('GET', path, { query }))[name] as Item[],
    /** For responses without a body. */
    done: async (method: Method, path: string, options?: CallOptions) =>
      void (await (await send(method, path, options)).text()),
    /** Returns a connection with this authorization. Throws `MockError` for one that can't be sent. */
    as: (other: string): Connection => connection(url, { authorization: sendable(other) }, fetch)
  }

  /** Returns the response, if its status is a success. */
  async function send(method: Method, path: string, options: CallOptions = {}): Promise<Received> {
    const { query = {}, body, signal } = options
    // Only now: a server can be started where there is none, as in jsdom.
    const call = fetch ?? globalThis.fetch
    if (typeof call !== 'function')
      throw new MockError('there is no fetch here: pass one as the option `fetch`')
    // JSON leaves out what is undefined, and has times as the server reads them.
    const search = new URLSearchParams(JSON.parse(JSON.stringify(query))).toString()
    const target = `${url}${path}${search && `?${search}`}`
    const text =
      typeof body === 'string' ? body : body === undefined ? undefined : JSON.stringify(body)
    // What no option says is left out: some implementations refuse a signal or a body that is undefined.
    const init = {
      method,
      headers: { ...authorization, ...options.headers },
      ...(signal && { signal })
    }
    const response = await call(target, text === undefined ? init : { ...init, body: text }).catch(
      (error) => {
        throw signal?.aborted ? error : unreachable(url, error)
      }
    )
    if (!response.ok) throw await rejection(response, method, path)
    return response
  }

  /** Returns the body of the response, which is JSON. */
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
      const reason = `the answer to ${method} ${path} is not JSON: is it a notification-mock that answers at ${url}?`
      throw new MockError(reason, { status: response.status, cause })
    }
  }
}

/** A length of time: in milliseconds, or with its unit, such as `10m`. */
export type Duration = number | `${number}${keyof typeof UNITS}`

const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Returns milliseconds. Throws `MockError` for what is no length of time. */
export function milliseconds(duration: Duration): number {
  const [, number, unit = 'ms'] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(String(duration)) ?? []
  if (number === undefined) {
    throw new MockError(
      `${duration} is no length of time: write milliseconds, or a number and ms, s, m, h or d`
    )
  }
  return Math.round(Number(number) * UNITS[unit as keyof typeof UNITS])
}

/** Returns a path with these values in it, each as one segment. */
export function path(texts: TemplateStringsArray, ...values: string[]): string {
  return String.raw({ raw: texts }, ...values.map(encodeURIComponent))
}

/** What is wrong with a field of a request. */
export interface InvalidField {
  messages: string[]
  /** The value that was sent. */
  value?: unknown
}

/** Why the server did not do what it was asked for, or that none answered. */
export class MockError extends Error {
  override readonly name = 'MockError'
  /** The HTTP status; undefined when no answer came. */
  readonly status: number | undefined
  /** Which check rejected the request and how to pass it; also the message. */
  readonly reason: string
  /** What is wrong with the fields of the request, by their names. */
  readonly fields: Record<string, InvalidField>
  /** Facts about the error: of a failed verification, `nearest` has the requests that came closest. */
  readonly context: Record<string, unknown>

  constructor(reason: string, { status, fields = {}, context = {}, cause }: ErrorDetails = {}) {
    super(reason, cause === undefined ? undefined : { cause })
    this.status = status
    this.reason = reason
    this.fields = fields
    this.context = context
  }
}

type ErrorDetails = {
  [Name in 'status' | 'fields' | 'context' | 'cause']?: MockError[Name] | undefined
}

function unreachable(url: string, cause: { cause?: unknown }): MockError {
  const { code, message = 'connection failed' } = (cause.cause ?? cause) as {
    code?: unknown
    message?: string
  }
  const remedy =
    'is a server running there? "npx notification-mock serve" starts one and prints its url'
  return new MockError(
    `no answer from ${url} (${typeof code === 'string' ? code : message}): ${remedy}`,
    { cause }
  )
}

async function rejection(response: Received, method: string, path: string): Promise<MockError> {
  const { status, headers } = response
  // That of another server, or of a proxy, may be anything.
  const body = (await response.json().catch(() => undefined)) as
    | Record<string, never>
    | null
    | undefined
  const { message, errors: fields, ctx: context } = body ?? {}
  const reason = headers.get('x-mock-reason')
  const said =
    typeof message === 'string' ? message : `${method} ${path} was answered with ${status}`
  return new MockError(reason === null ? said : decodedReason(reason), { status, fields, context })
}

/** Returns the words of an x-mock-reason: a header carries percent-encoded what is not ASCII, and nothing else. */
export function decodedReason(text: string): string {
  return text.replace(/(%[89A-F][0-9A-F])+/g, (bytes) => {
    try {
      return decodeURIComponent(bytes)
    } catch {
      return bytes
    }
  })
}
