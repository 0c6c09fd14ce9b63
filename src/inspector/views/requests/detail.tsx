import { useState } from 'preact/hooks'
import type { AnsweredRequest, FaultEffect, NewFaultRule, RecordedRequest } from '../../../client/index.js'
import { Chip } from '../../parts/chip.js'
import { CopyButton, copyText } from '../../parts/copy.js'
import { ErrorNote, messageOf } from '../../parts/errors.js'
import { Icon } from '../../parts/icon.js'
import { JsonTree, parsed, parsedBeginning } from '../../parts/json-tree.js'
import { NothingOpen } from '../../parts/list-view.js'
import { Close, Pane } from '../../parts/pane.js'
import { ActionMenu } from '../../parts/popover.js'
import { useResource } from '../../parts/resource.js'
import { Tabs } from '../../parts/tabs.js'
import { durationText, timeOfDay } from '../../parts/times.js'
import { run, tell } from '../../parts/toast.js'
import { useFeed } from '../../shell/live.js'
import { useSession } from '../../shell/session.js'
import { curlAgain, fetchAgain, sentAgain, verificationOf } from './copies.js'
import { AnswerOf, Note, Sent, Values } from './exchange.js'
import { changeText, itemsOf, RequestList, StatusText, Target, targetOf, toneOf } from './rows.js'
import type { Place, Shown } from './shown.js'

/** Requests before and after one that are shown, and those that are offered to compare with. */
const AROUND = 5
const OFFERED = 10

/** How the next requests may fail; after a minute hardly a client still waits. */
const EFFECTS: readonly [name: string, effect: FaultEffect][] = [
  ['500', { status: 500 }],
  ['503', { status: 503, headers: { 'retry-after': '1' } }],
  ['Timeout', { delay: 60_000 }],
  ['Lost answer', { lostAnswer: true }]
]
const TIMES = { once: 1, twice: 2, 'for ever': 'always' } as const

/** An answer to look at beside another; the title says what it is, such as `Now`. */
type Titled = Pick<AnsweredRequest, 'status' | 'duration' | 'answer'> & { title: string }

interface DetailProps {
  place: Place
  shown: Shown
  sequence: number
  tab: string | undefined
  chooseTab(tab: string): void
}

/** One request: what was answered and why, what was sent, what it changed, and what came around it. */
export function RequestDetail({ place, shown, sequence, tab, chooseTab }: DetailProps) {
  const { source, requests, changes } = shown
  // As the list has it, until the answer is loaded.
  const known = requests.find((each) => each.sequence === sequence)
  const [compared, compareWith] = useState<{ sequence: number; other: Titled }>()
  const inputs = [source, sequence, known?.duration]
  const { value, error, isLoading } = useResource(() => source.request(sequence), inputs)
  const isThere = value?.sequence === sequence
  const request: AnsweredRequest | undefined = isThere ? value : known
  const back = place.to({ open: undefined })
  if (!request) {
    const gone = 'It is no longer in the journal, which keeps the last requests only.'
    return <NothingOpen back={back}>{error !== undefined ? messageOf(error) : !isLoading && gone}</NothingOpen>
  }
  const show = (other: Titled) => {
    compareWith({ sequence, other })
    chooseTab('answer')
  }
  const choose = (id: string) => {
    compareWith(undefined)
    chooseTab(id)
  }
  const { method, time, duration, reason, flags, changed = [] } = request
  const own = changed.map(
    (each) => [changeText({ changed: [each] }), [each.id, ...(each.fields ?? [])].join(' · ')] as const
  )
  const later = changes.filter(({ after }) => after === sequence).map((each) => [each.time, changeText(each)] as const)
  const answer = () => {
    if (!isThere) return error !== undefined && <ErrorNote error={error} />
    if (compared?.sequence !== sequence) return <AnswerOf key={sequence} request={request} />
    return <Compared answers={[{ ...request, title: `#${sequence}` }, compared.other]} />
  }
  const changesOf = () => (
    <>
      {own.length === 0 && <p>It changed nothing.</p>}
      <Values title="By this request" values={own} />
      <Values title="After it, before the next request" values={later} />
    </>
  )
  const tabs = [
    { id: 'answer', title: 'Answer', content: answer },
    { id: 'request', title: 'Request', content: () => <Sent key={sequence} request={request} /> },
    { id: 'changes', title: 'Changes', count: own.length + later.length || undefined, content: changesOf },
    { id: 'around', title: 'Around', content: () => <Around {...{ place, shown, sequence }} /> }
  ]
  const head = (
    <div class="head">
      <div class="head-title">
        <StatusText request={request} class="big" />
        <h2 class="target">
          <span class="muted">{method}</span> <Target request={request} />
        </h2>
        <span class="hint">
          {timeOfDay(time)} · {durationText(duration)} · #{sequence}
        </span>
        <Close back={back} />
      </div>
      {reason !== undefined && <Note tone={toneOf(request)} message={reason} />}
      <div class="line">
        <Actions {...{ request, shown, show }} />
        {flags.faulted && flags.faulted !== 'header' && <span>The rule {flags.faulted}</span>}
      </div>
    </div>
  )
  return (
    <Pane label={`Request ${sequence}`} head={head}>
      <Tabs label="Of this request" tabs={tabs} current={tab} choose={choose} />
    </Pane>
  )
}

/** Two answers beside each other, with what differs. */
function Compared({ answers }: { answers: readonly Titled[] }) {
  // Of what was cut, only as much as both have is compared.
  const isCut = answers.some(({ answer }) => answer?.truncated)
  const length = isCut ? Math.min(...answers.map(({ answer }) => answer?.body?.length ?? 0)) : undefined
  const bodies = answers.map(({ answer }) => answer?.body?.slice(0, length) ?? '')
  const values = bodies.map(isCut ? parsedBeginning : parsed)
  const isSame = answers[0]?.status === answers[1]?.status && bodies[0] === bodies[1]
  return (
    <>
      <p>
        <Chip tone={isSame ? 'good' : 'warn'}>{isSame ? 'The same answer' : 'Differences are marked'}</Chip>
      </p>
      <div class="compare">
        {answers.map(({ title, status = 'no answer', duration }, index) => (
          <section key={title}>
            <h3>{[title, status, durationText(duration)].join(' · ')}</h3>
            <JsonTree label={title} value={values[index]} other={values[1 - index]} />
          </section>
        ))}
      </div>
    </>
  )
}

function Around({ place, shown: { source, changes }, sequence }: Pick<DetailProps, 'place' | 'shown' | 'sequence'>) {
  const query = { before: sequence + AROUND + 1, limit: 2 * AROUND + 1 }
  const { value = [] } = useResource(() => source.requests(query), [source, sequence])
  const requests = value.filter((each) => Math.abs(each.sequence - sequence) <= AROUND)
  const between = changes.filter(({ after }) => after <= (requests[0]?.sequence ?? 0))
  const items = itemsOf(requests, between)
  return <RequestList label="Around it" items={items} current={sequence} href={(open) => place.to({ open })} />
}

interface ActionsProps {
  request: AnsweredRequest
  shown: Shown
  show(other: Titled): void
}

/** What one can do with a request that has come; one without a valid key is only copied. */
function Actions({ request, shown: { source, isKeyless }, show }: ActionsProps) {
  const { call } = useSession()
  const { requests } = useFeed()
  const copy = (text: string) => run(() => copyText(text), 'Copied')
  const replay = async () => {
    const { method, path, ...sent } = sentAgain(request)
    const { status, duration, headers, text } = await call(method, path, sent)
    show({ title: 'Now', status, duration, answer: { status, headers, body: text } })
  }
  const isLike = ({ sequence, operation, method }: RecordedRequest) =>
    sequence !== request.sequence && operation === request.operation && method === request.method
  const others = requests.filter(isLike).slice(0, OFFERED)
  const comparisons = others.map((other) => ({
    name: `#${other.sequence} ${other.status ?? 'none'} ${targetOf(other)}`,
    run: () => run(async () => show({ ...(await source.request(other.sequence)), title: `#${other.sequence}` }))
  }))
  const copies = [
    { name: 'Copy as fetch', run: () => copy(fetchAgain(source, request)) },
    { name: 'Copy as a verification', hint: 'for a test', run: () => copy(verificationOf(request)) }
  ]
  const curl = <CopyButton text={() => curlAgain(source, request)}>Copy as curl</CopyButton>
  if (isKeyless) return curl
  return (
    <>
      <button class="primary" disabled={request.bodyLength !== undefined} onClick={() => run(replay)}>
        <Icon name="again" />
        Replay
      </button>
      {curl}
      <ActionMenu
        button="Compare"
        label="Compare with another request"
        disabled={comparisons.length === 0}
        groups={[{ title: 'With the answer of', actions: comparisons }]}
      />
      {request.operation && <FailNext request={request} />}
      <ActionMenu label="More copies" groups={[{ actions: copies }]} />
    </>
  )
}

/** Has the next requests to the same operation and path fail: once, twice or for ever. */
function FailNext({ request: { operation, path, method } }: { request: RecordedRequest }) {
  const { env, changed } = useSession()
  const fail = async (name: string, effect: FaultEffect, times: NonNullable<NewFaultRule['times']>) => {
    const { id } = await env.faults.add({ ...(operation && { operation }), match: { path }, times, effect })
    changed()
    const which = times === 'always' ? 'Each' : times === 1 ? 'The next' : `The next ${times}`
    const undo = () => run(() => env.faults.remove(id)).then(changed)
    tell(`${which} ${method} ${path}: ${name}`, { name: 'Undo', run: undo })
  }
  const groups = EFFECTS.map(([name, effect]) => ({
    actions: Object.entries(TIMES).map(([words, times]) => ({
      name: `${name} ${words}`,
      run: () => run(() => fail(name, effect, times))
    }))
  }))
  const button = [<Icon key="icon" name="bolt" />, 'Fail next']
  return <ActionMenu button={button} label="Fail the next like this" groups={groups} />
}
