import type { ComponentChildren, RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Answer, AnsweredRequest, Change, RecordedRequest } from '../../../client/index.js'
import { Callout, Chip } from '../../parts/chip.js'
import { Empty } from '../../parts/empty.js'
import { ErrorNote } from '../../parts/errors.js'
import { JsonTree, parsed, parsedBeginning } from '../../parts/json-tree.js'
import { Close, Pane } from '../../parts/pane.js'
import { useResource } from '../../parts/resource.js'
import { type Tab, Tabs } from '../../parts/tabs.js'
import { durationText, timeOfDay } from '../../parts/times.js'
import type { Source } from '../../source.js'
import { changeText, itemsOf, keyOf, parametersOf, RequestItemRow, StatusText, Target, toneOf } from './rows.js'

/** How many requests before and after one are shown. */
const AROUND = 5

/** An answer to look at beside that of a request. */
export interface OtherAnswer {
  /** What it is, such as `Now`. */
  title: string
  status: number
  duration: number | undefined
  answer: Pick<Answer, 'headers' | 'body' | 'truncated'>
}

interface DetailProps {
  source: Source
  sequence: number
  /** The request as a list has it, to be shown until the answer is loaded. */
  known?: RecordedRequest | undefined
  changes: readonly Change[]
  tab: string | undefined
  chooseTab(tab: string): void
  href(sequence: number): string
  /** The address that closes it; it can't be closed if there is none. */
  back?: string | undefined
  /** What may be wrong with it, or more to be known of it. */
  notes?: ComponentChildren
  /** What one can do with it, where there still is a server. `show` shows another answer beside its own. */
  actions?(request: AnsweredRequest, show: (other: OtherAnswer) => void): ComponentChildren
}

/** One request: what was answered and why, what was sent, what it changed, and what came around it. */
export function RequestDetail(props: DetailProps) {
  const { source, sequence, known, changes, tab, chooseTab, href, back, notes, actions } = props
  const heading = useRef<HTMLHeadingElement>(null)
  const [other, setOther] = useState<OtherAnswer>()
  const isEnded = known?.duration !== undefined
  const { value, error, isLoading, reload } = useResource(() => source.request(sequence), [source, sequence, isEnded])
  const request: AnsweredRequest | undefined = value ?? known
  // Where it covers the list.
  useEffect(() => {
    if (back !== undefined && matchMedia('(width < 760px)').matches) heading.current?.focus()
  }, [])
  if (!request) {
    return (
      <Pane
        label={`Request ${sequence}`}
        head={
          back !== undefined && (
            <div class="head">
              <Close back={back} />
            </div>
          )
        }
      >
        {error !== undefined && !isLoading ? (
          <ErrorNote error={error} retry={reload} />
        ) : (
          !isLoading && (
            <Empty title="It is no longer in the journal">
              <p>The journal keeps the last requests only, 1,000 unless the server was told otherwise.</p>
            </Empty>
          )
        )}
      </Pane>
    )
  }
  const show = (another: OtherAnswer) => {
    setOther(another)
    chooseTab('answer')
  }
  const around = changes.filter(({ after }) => after === sequence)
  const changeCount = (request.changed?.length ?? 0) + around.length
  const tabs: Tab[] = [
    {
      id: 'answer',
      title: 'Answer',
      content: () =>
        other ? (
          <Compared request={request} other={other} close={() => setOther(undefined)} />
        ) : (
          <AnswerOf request={request} isLoading={isLoading && value === undefined} />
        )
    },
    { id: 'request', title: 'Request', content: () => <Sent request={request} /> },
    {
      id: 'changes',
      title: 'Changes',
      count: changeCount || undefined,
      content: () => <Changes request={request} around={around} />
    },
    { id: 'around', title: 'Around', content: () => <Around {...{ source, sequence, changes, href }} /> }
  ]
  const head = (
    <Head request={request} heading={heading} back={back}>
      {notes}
      {actions && <div class="line">{actions(request, show)}</div>}
    </Head>
  )
  return (
    <Pane label={`Request ${sequence}`} head={head}>
      <Tabs label="Of this request" tabs={tabs} current={tab} choose={chooseTab} />
    </Pane>
  )
}

interface HeadProps extends Pick<DetailProps, 'back'> {
  request: RecordedRequest
  heading: RefObject<HTMLHeadingElement | null>
  children: ComponentChildren
}

function Head({ request, heading, back, children }: HeadProps) {
  const { method, sequence, time, duration, reason } = request
  return (
    <div class="head">
      <div class="head-title">
        <StatusText request={request} class="big" />
        <h2 ref={heading} tabIndex={-1} class="target">
          <span class="muted">{method}</span> <Target request={request} />
        </h2>
        <span class="hint">
          {timeOfDay(time)} · {durationText(duration)} · #{sequence}
        </span>
        {back !== undefined && <Close back={back} />}
      </div>
      {reason !== undefined && (
        <Callout tone={toneOf(request) ?? (isUnread(request) ? 'warn' : undefined)} icon="warn">
          <span class="callout-text" dir="auto">
            {reason}
          </span>
        </Callout>
      )}
      {children}
    </div>
  )
}

function isUnread({ unread }: RecordedRequest): boolean {
  return unread.query.length > 0 || unread.headers.length > 0
}

export function AnswerOf({ request, isLoading }: { request: AnsweredRequest; isLoading: boolean }) {
  const { answer, size, status } = request
  if (isLoading) return null
  if (!answer) {
    if (request.duration === undefined) return <p class="muted">It is not answered yet.</p>
    return <p class="muted">{status === undefined ? 'The app got no answer.' : 'The answer is not kept.'}</p>
  }
  return (
    <>
      {answer.body !== undefined && <JsonTree value={bodyOf(answer)} label="Body of the answer" />}
      {answer.truncated && <p class="hint">Its beginning: the answer had {size?.toLocaleString()} bytes.</p>}
      {answer.dropped && <p class="hint">Its body was let go for those of later answers.</p>}
      {answer.body === undefined && !answer.dropped && <p class="muted">It had no body.</p>}
      <Values title="Headers" values={answer.headers} />
    </>
  )
}

/** The body of an answer as its tree is shown, or as much of it as is wanted. */
function bodyOf({ body = '', truncated }: ComparedAnswer, length = body.length): unknown {
  return truncated || body.length > length ? parsedBeginning(body.slice(0, length)) : parsed(body)
}

type ComparedAnswer = Pick<Answer, 'body' | 'truncated'>

interface ComparedProps {
  request: AnsweredRequest
  other: OtherAnswer
  close(): void
}

function Compared({ request, other, close }: ComparedProps) {
  // Of what was cut, only as much as both have is compared.
  const answers: ComparedAnswer[] = [request.answer ?? {}, other.answer]
  const cut = answers.some(({ truncated }) => truncated)
    ? Math.min(...answers.map(({ body = '' }) => body.length))
    : Number.POSITIVE_INFINITY
  const [then, now] = answers.map((answer) => bodyOf(answer, cut))
  const isSame = request.status === other.status && JSON.stringify(then) === JSON.stringify(now)
  return (
    <>
      <div class="line">
        <Chip tone={isSame ? 'good' : 'warn'}>{isSame ? 'The same answer' : 'Differences are marked'}</Chip>
        <button type="button" class="quiet spread" onClick={close}>
          Only its own answer
        </button>
      </div>
      <div class="compare">
        <section>
          <h3>
            #{request.sequence} · {request.status ?? 'no answer'} · {durationText(request.duration)}
          </h3>
          <JsonTree value={then} other={now} label={`Answer of request ${request.sequence}`} />
        </section>
        <section>
          <h3>
            {other.title} · {other.status} · {durationText(other.duration)}
          </h3>
          <JsonTree value={now} other={then} label={other.title} />
        </section>
      </div>
    </>
  )
}

export function Sent({ request }: { request: RecordedRequest }) {
  const { query, headers, unread, body, bodyLength, operation, time, size, flags } = request
  const facts: [name: string, value: string | false | undefined][] = [
    ['Operation', operation ?? 'none serves it'],
    ['Arrived', time],
    ['Answer', size !== undefined && `${size.toLocaleString()} bytes`],
    ['Fault', flags.faulted === 'header' ? 'of the header x-mock-fault' : flags.faulted],
    ['Delayed', flags.delayed !== undefined && `${durationText(flags.delayed)}, by the latency of the environment`],
    ['Replayed', flags.replayed && 'the answer was stored for its idempotency key']
  ]
  return (
    <>
      <Values title="Query" values={query} unread={unread.query} />
      {body && (
        <section>
          <h3>Body</h3>
          <JsonTree value={parsed(body)} label="Body of the request" />
          {bodyLength !== undefined && <p class="hint">Its beginning: it had {bodyLength.toLocaleString()} bytes.</p>}
        </section>
      )}
      <Values title="Headers" values={headers} unread={unread.headers} />
      <section>
        <h3>More</h3>
        <dl class="facts">
          {facts.map(([name, value]) => value && [<dt key={name}>{name}</dt>, <dd key={`${name}:`}>{value}</dd>])}
        </dl>
      </section>
    </>
  )
}

interface ValuesProps {
  title: string
  values: RecordedRequest['query']
  unread?: readonly string[]
}

function Values({ title, values, unread = [] }: ValuesProps) {
  const entries = parametersOf(values)
  if (entries.length === 0) return null
  return (
    <section>
      <h3>
        {title} {entries.length}
      </h3>
      <dl class="facts mono">
        {entries.map(([name, value], index) => [
          <dt key={`${name} ${index}`} class={unread.includes(name) ? 'is-warn toned' : undefined}>
            {name}
            {unread.includes(name) && <span class="visually-hidden"> (not read)</span>}
          </dt>,
          <dd key={`${name} ${index}:`} dir="auto">
            {value}
          </dd>
        ])}
      </dl>
    </section>
  )
}

function Changes({ request, around }: { request: AnsweredRequest; around: readonly Change[] }) {
  const { changed = [] } = request
  return (
    <>
      <section>
        <h3>By this request</h3>
        {changed.length === 0 && <p>It changed nothing.</p>}
        <ul class="records">
          {changed.map(({ kind, id, name, channel, what, fields }, index) => (
            <li key={index}>
              <b dir="auto">{name ?? id ?? kind}</b> {what}
              <span class="muted"> {[kind, channel, name && id, fields?.join(', ')].filter(Boolean).join(' · ')}</span>
            </li>
          ))}
        </ul>
      </section>
      {around.length > 0 && (
        <section>
          <h3>After it, before the next request</h3>
          <ul class="records">
            {around.map((change) => (
              <li key={change.sequence} dir="auto">
                {changeText(change)}
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  )
}

function Around({ source, sequence, changes, href }: Pick<DetailProps, 'source' | 'sequence' | 'changes' | 'href'>) {
  const query = { before: sequence + AROUND + 1, limit: 2 * AROUND + 1 }
  const { value = [], error, reload } = useResource(() => source.requests(query), [source, sequence])
  const requests = value.filter((each) => Math.abs(each.sequence - sequence) <= AROUND)
  const [newest, oldest] = [requests[0]?.sequence ?? 0, requests.at(-1)?.sequence ?? 0]
  const between = changes.filter(({ after }) => after >= oldest && after <= newest)
  if (error !== undefined) return <ErrorNote error={error} retry={reload} />
  return (
    <ol class="card">
      {itemsOf(requests, between).map((item, index) => (
        <li key={index}>
          <RequestItemRow item={item} href={href} isCurrent={keyOf(item) === sequence} tabIndex={0} />
        </li>
      ))}
    </ol>
  )
}
