import { useState } from 'preact/hooks'
import type {
  FaultRule,
  NewFaultRule,
  RecordedExchange,
  RecordedRequest
} from '../../../client/index.js'
import { Chip } from '../../parts/chip.js'
import { CopyButton, copyText } from '../../parts/copy.js'
import { ErrorNote, messageOf } from '../../parts/errors.js'
import { Icon } from '../../parts/icon.js'
import { JsonTree, parsed, parsedBeginning } from '../../parts/json-tree.js'
import { NothingOpen } from '../../parts/list-view.js'
import { Close, Pane } from '../../parts/pane.js'
import { ActionMenu } from '../../parts/popover.js'
import { useResource } from '../../parts/resource.js'
import { EventRow } from '../../parts/row.js'
import { type Tab, Tabs } from '../../parts/tabs.js'
import { durationText, timeOfDay } from '../../parts/times.js'
import { run } from '../../parts/toast.js'
import { useSession } from '../../shell/session.js'
import { useAct } from '../acts.js'
import { EFFECTS, TIMES } from '../faults/faults.js'
import { curlAgain, fetchAgain, sentAgain, verificationOf } from './copies.js'
import {
  AnswerOf,
  changeText,
  itemsOf,
  Note,
  RequestList,
  Sent,
  StatusText,
  targetOf,
  toneOf
} from './rows.js'
import type { Place, Shown } from './shown.js'

/** Requests before and after one that are shown, and those that are offered to compare with. */
const AROUND = 5
const OFFERED = 10

/** An answer to look at beside another; the title says what it is, such as `Now`. */
type Titled = Pick<RecordedExchange, 'status' | 'duration' | 'response'> & { title: string }

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
  const [compared, compareWith] = useState<Titled & { with: number }>()
  const { value, error } = useResource(
    () => source.get(sequence),
    [source.get, sequence, known?.duration]
  )
  const isThere = value?.sequence === sequence
  const request: RecordedExchange | undefined = isThere ? value : known
  const back = place.to({ open: undefined })
  if (!request)
    return <NothingOpen back={back}>{error !== undefined && messageOf(error)}</NothingOpen>
  const show = (other: Titled) => {
    compareWith({ ...other, with: sequence })
    chooseTab('compared')
  }
  const { method, time, duration, reason, flags, changed = [] } = request
  const told = [
    ...changed.map((each) => ({
      text: changeText({ changed: [each] }),
      title: `${each.id} ${each.fields ?? ''}`
    })),
    ...changes
      .filter(({ after }) => after === sequence)
      .map((each) => ({ text: changeText(each), title: each.time }))
  ]
  const eventOf = ({ text, title }: { text: string; title: string }) => (
    <EventRow title={title}>{text}</EventRow>
  )
  const changesOf = () => [
    changed.length === 0 && <p key="none">It changed nothing.</p>,
    told.map(eventOf)
  ]
  const tabs: Tab[] = [
    {
      id: 'answer',
      title: 'Answer',
      content: () => isThere && <AnswerOf key={sequence} request={request} />
    },
    { id: 'request', title: 'Request', content: () => <Sent key={sequence} request={request} /> },
    { id: 'changes', title: 'Changes', count: told.length || undefined, content: changesOf },
    { id: 'around', title: 'Around', content: () => <Around {...{ place, shown, sequence }} /> }
  ]
  if (compared?.with === sequence) {
    const content = () => <Compared answers={[{ ...request, title: `#${sequence}` }, compared]} />
    tabs.push({ id: 'compared', title: 'Compared', content })
  }
  const facts = [
    timeOfDay(time),
    durationText(duration),
    `#${sequence}`,
    flags.faulted && `rule ${flags.faulted}`
  ]
  const head = (
    <div class="head">
      <div class="head-title">
        <StatusText request={request} class="big" />
        <h2 class="target">
          <span class="muted">{method}</span> <bdi>{targetOf(request)}</bdi>
        </h2>
        <span class="hint">{facts.filter(Boolean).join(' · ')}</span>
        {place.open !== undefined && <Close back={back} />}
      </div>
      {reason !== undefined && <Note tone={toneOf(request)} message={reason} />}
      {error !== undefined && <ErrorNote error={error} />}
      <RequestActions {...{ request, shown, show }} />
    </div>
  )
  return (
    <Pane label={`Request ${sequence}`} head={head}>
      <Tabs label="Of this request" tabs={tabs} current={tab} choose={chooseTab} />
    </Pane>
  )
}

/** Two answers beside each other, with what differs. */
function Compared({ answers }: { answers: readonly Titled[] }) {
  const whole = answers.map(({ response }) => response?.body ?? '')
  // Of what was cut, only as much as both have is compared.
  const isCut = answers.some(({ response }) => response?.truncated)
  const length = isCut ? Math.min(...whole.map((body) => body.length)) : undefined
  const bodies = whole.map((body) => body.slice(0, length))
  const isSame = answers[0]?.status === answers[1]?.status && bodies[0] === bodies[1]
  const values = bodies.map(isCut ? parsedBeginning : parsed)
  return (
    <>
      <p>
        <Chip tone={isSame ? 'good' : 'warn'}>
          {isSame ? 'The same answer' : 'Differences are marked'}
        </Chip>
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

function Around({
  place,
  shown: { source, changes },
  sequence
}: Pick<DetailProps, 'place' | 'shown' | 'sequence'>) {
  const query = { order: 'newest', before: sequence + AROUND + 1, limit: 2 * AROUND + 1 } as const
  const { value = [] } = useResource(() => source.list(query), [source.list, sequence])
  const requests = value.filter((each) => Math.abs(each.sequence - sequence) <= AROUND)
  const between = changes.filter(({ after }) => after <= (requests[0]?.sequence ?? 0))
  const items = itemsOf(requests, between)
  return (
    <RequestList
      label="Around it"
      items={items}
      current={sequence}
      href={(open) => place.to({ open })}
    />
  )
}

interface ActionsProps {
  request: RecordedExchange
  shown: Shown
  show(other: Titled): void
}

/** What one can do with a request that has come; one without a valid key is only copied. */
function RequestActions({
  request,
  shown: { source, requests, isUnauthenticatedList },
  show
}: ActionsProps) {
  const { call, env } = useSession()
  const { sequence, operation, method, path, bodyLength } = request
  const replay = async () => {
    const { method, path, ...sent } = sentAgain(request)
    const { status, duration, headers, text } = await call(method, path, sent)
    const [newest] = await source.list({ order: 'newest', limit: 1 })
    const recorded = newest && (await source.get(newest.sequence))
    // As it was recorded, since what is secret is hidden there as it is in the answer before.
    const isOwn = recorded?.response?.headers['x-request-id'] === headers['x-request-id']
    show({
      title: 'Now',
      ...(isOwn ? recorded : { status, duration, response: { status, headers, body: text } })
    })
  }
  const others = requests.filter(
    (other) =>
      other.sequence !== sequence && other.operation === operation && other.method === method
  )
  const comparisons = others.slice(0, OFFERED).map((other) => ({
    name: `#${other.sequence} ${other.status ?? 'none'} ${targetOf(other)}`,
    run: () =>
      run(async () => show({ ...(await source.get(other.sequence)), title: `#${other.sequence}` }))
  }))
  const copyOf = (name: string, text: () => string) => ({
    name,
    run: () => run(() => copyText(text()), 'Copied')
  })
  const copies = [
    copyOf('Copy as fetch', () => fetchAgain(env, request)),
    copyOf('Copy as a verification for a test', () => verificationOf(request))
  ]
  return (
    <div class="line">
      {!isUnauthenticatedList && (
        <button class="primary" disabled={bodyLength !== undefined} onClick={() => run(replay)}>
          <Icon name="again" />
          Replay
        </button>
      )}
      <CopyButton text={() => curlAgain(env, request)}>Copy as curl</CopyButton>
      {comparisons.length > 0 && (
        <ActionMenu
          button="Compare"
          label="Compare with another request"
          groups={[{ actions: comparisons }]}
        />
      )}
      {operation && !isUnauthenticatedList && <FailNext {...{ operation, path, method }} />}
      <ActionMenu label="More copies" groups={[{ actions: copies }]} />
    </div>
  )
}

/** Has the next requests to the same operation and path fail. */
function FailNext({
  operation,
  path,
  method
}: Pick<RecordedRequest, 'operation' | 'path' | 'method'>) {
  const { env } = useSession()
  const act = useAct()
  const fail = (name: string, often: string) => {
    const rule = {
      operation,
      match: { path },
      times: TIMES[often],
      effect: EFFECTS[name]
    } as NewFaultRule
    const undo = ({ id }: FaultRule) => env.faults.remove(id)
    return act(() => env.faults.add(rule), `${method} ${path}: ${name}, ${often}`, undo)
  }
  const groups = ['500', '503', 'Timeout', 'Lost answer'].map((name) => ({
    actions: Object.keys(TIMES).map((often) => ({
      name: `${name} ${often}`,
      run: () => fail(name, often)
    }))
  }))
  const button = [<Icon key="icon" name="bolt" />, 'Fail next']
  return <ActionMenu button={button} label="Fail the next like this" groups={groups} />
}
