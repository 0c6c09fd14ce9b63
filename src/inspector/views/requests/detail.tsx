import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Change, RecordedRequest } from '../../../client/index.js'
import { CopyButton } from '../../parts/copy.js'
import { useCloseDetail } from '../../parts/detail.js'
import { Empty } from '../../parts/empty.js'
import { ErrorNote } from '../../parts/errors.js'
import { Json } from '../../parts/json.js'
import { useResource } from '../../parts/resource.js'
import { addressOf as addressOfView } from '../../shell/router.js'
import { useSession } from '../../shell/session.js'
import { Actions } from './actions.js'
import { targetOf } from './filter.js'
import { formatDuration, Marks, Status } from './marks.js'
import { OtherOwner } from './owner.js'
import { Timeline } from './timeline.js'

/** How many requests before and after one are shown. */
const AROUND = 5

interface Props {
  sequence: number
  /** The request as the list has it; undefined if it no longer has it. */
  known: RecordedRequest | undefined
  isKeyless: boolean
  back: string
  addressOf(sequence: number): string
}

/** One request: what was sent, what was answered and why, and what came around it. */
export function RequestDetail({ sequence, known, isKeyless, back, addressOf }: Props) {
  const { env, mock, version } = useSession()
  const heading = useRef<HTMLHeadingElement>(null)
  const close = useCloseDetail(back)
  // Where there is room for one of the two, the list is not shown.
  useEffect(() => {
    if (!document.getElementById(`request-${sequence}`)?.checkVisibility()) heading.current?.focus()
  }, [sequence])
  const around = useResource(async () => {
    const part = { after: Math.max(0, sequence - AROUND - 1), limit: 2 * AROUND + 1 }
    const [requests, changes] = await Promise.all(
      isKeyless
        ? [mock.keylessRequests(part), Promise.resolve<Change[]>([])]
        : [env.requests.list(part), env.requests.changes()]
    )
    return { requests: requests.filter((each) => Math.abs(each.sequence - sequence) <= AROUND), changes }
  }, [env, mock, sequence, isKeyless, version])
  const stored = around.value?.requests.find((each) => each.sequence === sequence)
  const request = stored ?? known
  return (
    <section class="card requests-detail" aria-labelledby="request-heading">
      <header class="row">
        <h2 id="request-heading" ref={heading} tabIndex={-1}>
          Request {sequence}
        </h2>
        {request && <Status request={request} />}
        {request && <Marks request={request} />}
        <button type="button" class="quiet spread" title="Close (Esc)" onClick={close}>
          Close
        </button>
      </header>
      {request ? (
        <>
          <Facts request={request} />
          <OtherOwner request={request} />
          <Actions request={request} isKeyless={isKeyless} />
          <Sent request={request} />
        </>
      ) : around.isLoading ? (
        <p class="hint">Loading…</p>
      ) : (
        <Empty title="It is no longer in the journal">
          <p>The journal keeps the last requests only, 1,000 unless the server was told otherwise.</p>
          <a href={back}>All requests</a>
        </Empty>
      )}
      {around.error !== undefined && <ErrorNote error={around.error} retry={around.reload} />}
      {request && around.value && (
        <>
          <div class="row">
            <h3>Before and after it</h3>
            <button type="button" class="quiet" disabled={around.isBusy} onClick={around.reload}>
              Load again
            </button>
          </div>
          <Timeline {...around.value} sequence={sequence} addressOf={addressOf} />
        </>
      )}
    </section>
  )
}

function Facts({ request }: { request: RecordedRequest }) {
  const { method, operation, status, size, duration, reason, time, flags, unread } = request
  const facts: [name: string, value: ComponentChildren][] = [
    ['Reason', reason],
    ['Operation', operation ?? 'none serves it'],
    ['Answer', status === undefined ? 'none' : `${status}, ${(size ?? 0).toLocaleString()} bytes`],
    ['Took', formatDuration(duration)],
    ['Arrived', time],
    ['Fault', flags.faulted && <FaultWords id={flags.faulted} />],
    ['Delayed', flags.delayed !== undefined && `${formatDuration(flags.delayed)}, by the latency of the environment`],
    ['Replayed', flags.replayed && 'the answer was stored for its idempotency key'],
    ['Unread parameters', unread.query.join(', ')],
    ['Unread headers', unread.headers.join(', ')]
  ]
  return (
    <>
      <p class="requests-target">
        <code>
          <b>{method}</b> {targetOf(request)}
        </code>
      </p>
      <dl class="facts">
        {facts.map(
          ([name, value]) =>
            value && [
              <dt key={name}>{name}</dt>,
              <dd key={`${name}:`} dir="auto">
                {value}
              </dd>
            ]
        )}
      </dl>
    </>
  )
}

function FaultWords({ id }: { id: string }) {
  if (id === 'header') return <>of the header x-mock-fault</>
  return (
    <>
      rule <a href={addressOfView(['faults'])}>{id}</a>
    </>
  )
}

function Sent({ request: { query, headers, unread, body, bodyLength } }: { request: RecordedRequest }) {
  return (
    <>
      <Values title="Query" values={query} unread={unread.query} />
      <Values title="Headers" values={headers} unread={unread.headers} />
      {body && (
        <>
          <div class="row">
            <h3>Body</h3>
            <CopyButton text={body}>Copy</CopyButton>
          </div>
          <Json value={indented(body)} label="Body" />
          {bodyLength !== undefined && (
            <p class="hint">The journal keeps its beginning; it had {bodyLength.toLocaleString()} bytes.</p>
          )}
        </>
      )}
    </>
  )
}

interface ValuesProps {
  title: string
  values: RecordedRequest['query']
  unread: readonly string[]
}

function Values({ title, values, unread }: ValuesProps) {
  const entries = Object.entries(values).flatMap(([name, value]) =>
    [value].flat().map((each, index) => [name, each, index] as const)
  )
  if (entries.length === 0) return null
  return (
    <>
      <h3>{title}</h3>
      <dl class="facts requests-values">
        {entries.map(([name, value, index]) => [
          <dt key={`${name} ${index}`} class={unread.includes(name) ? 'is-unread' : undefined}>
            <code>{name}</code>
            {unread.includes(name) && <span class="visually-hidden"> (not read)</span>}
          </dt>,
          <dd key={`${name} ${index}:`}>
            <code dir="auto">{value}</code>
          </dd>
        ])}
      </dl>
    </>
  )
}

function indented(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return body
  }
}
