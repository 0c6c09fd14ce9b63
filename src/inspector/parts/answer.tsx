import { decodedReason } from '../../client/connection.js'
import { type Answer, useSession } from '../shell/session.js'
import { CopyButton } from './copy.js'
import { curlOf } from './curl.js'
import { Json } from './json.js'

const HEADERS = [
  'idempotency-key',
  'idempotency-replay',
  'retry-after',
  'x-mock-reason',
  'x-request-id',
  'content-type'
]

/** The headers that were sent beside the key. */
type Sent = Readonly<Record<string, string>> | undefined

/** A request as it was sent to the service, with what came of it, to be copied. */
export function RequestLine({ answer, headers = {} }: { answer: Answer; headers?: Sent }) {
  const { env } = useSession()
  const { method, path, status, duration } = answer
  return (
    <div class="row request-line">
      <code>
        {method} {path}
      </code>
      <span class={`badge ${status < 400 ? 'is-good' : 'is-bad'}`}>{status}</span>
      <span class="hint">{duration.toFixed(0)} ms</span>
      <CopyButton text={() => curlOf({ method, url: `${env.url}${path}`, headers: { ...env.headers, ...headers } })}>
        Copy as curl
      </CopyButton>
    </div>
  )
}

/** An answer of the service: its status, the headers that matter, its body. */
export function AnswerCard({
  answer,
  body = answer.json ?? answer.text,
  headers
}: {
  answer: Answer
  /** The body as it is to be shown. */
  body?: unknown
  headers?: Sent
}) {
  return (
    <section class="card" aria-label="The answer">
      <RequestLine answer={answer} headers={headers} />
      <dl class="facts">
        {HEADERS.flatMap((name) => {
          const value = answer.headers[name]
          return value === undefined
            ? []
            : [<dt key={name}>{name}</dt>, <dd key={`${name}=`}>{decodedReason(value)}</dd>]
        })}
      </dl>
      <Json label="Body of the answer" value={body} />
    </section>
  )
}

/** Returns why an answer is what it is, in the server's words, if it says so. */
export function reasonOf({ headers }: Answer): string | undefined {
  const reason = headers['x-mock-reason']
  return reason === undefined ? undefined : decodedReason(reason)
}
