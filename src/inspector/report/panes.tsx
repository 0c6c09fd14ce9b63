import type { AnsweredRequest, Coverage, FieldDifference } from '../../client/index.js'
import type { Report, ReportedTest } from '../../client/report.js'
import { CopyButton } from '../parts/copy.js'
import { JsonTree } from '../parts/json-tree.js'
import { Close, Pane } from '../parts/pane.js'
import { type Tab, Tabs } from '../parts/tabs.js'
import { durationText } from '../parts/times.js'
import { go } from '../shell/router.js'
import { curlAgain } from '../views/requests/copies.js'
import { AnswerOf, Note, Sent, Values } from '../views/requests/exchange.js'
import { itemsOf, RequestList, StatusText } from '../views/requests/rows.js'
import { type Finding, findingsOf, leftOf } from './findings.js'

/** A server as `npm start` gives it: what is copied runs there. */
const SERVER = { url: 'http://127.0.0.1:4210', authorization: 'ApiKey development-key' }

/** What is open of an entry of the report, as the address says it. */
export interface Place {
  tab: string | undefined
  /** The sequence of the request that is open. */
  sequence: number
  /** Returns the address of a tab, and of a request in it. */
  to(tab: string, sequence?: number): string
}

interface EntryProps {
  title: string
  facts?: string
  findings?: readonly Finding[]
  tabs: readonly Tab[]
  place: Place
}

/** What is open: what it is, what is remarkable of it, and all of it in tabs. */
function EntryPane({ title, facts, findings = [], tabs, place: { tab, to } }: EntryProps) {
  const head = (
    <div class="head">
      <div class="head-title">
        <h2 dir="auto">{title}</h2>
        <span class="hint" dir="auto">
          {facts}
        </span>
        <Close back="#/" />
      </div>
      {findings.map(({ tab = 'requests', ...note }, index) => (
        <Note key={index} {...note} href={(sequence) => to(tab, sequence)} />
      ))}
    </div>
  )
  const choose = (tab: string) => go(to(tab), { replace: true })
  return (
    <Pane label={title} head={head}>
      <Tabs label="Of this entry" tabs={tabs} current={tab} choose={choose} />
    </Pane>
  )
}

/** One test: why it failed, what is remarkable of it, its requests with their answers, and what it has left. */
export function TestPane({ test, place }: { test: ReportedTest; place: Place }) {
  const { title, file, outcome, environment, requests, keyless, faults, left } = test
  const remainder = leftOf(left)
  const kinds = left ? [left.integrations, left.messages, left.workflows, left.subscribers] : []
  const fieldText = ({ id, field, before = 'absent', after = 'absent' }: FieldDifference) =>
    [`${id} ${field}`, `${before} → ${after}`] as const
  const fields = kinds.flatMap(({ changed }) => changed.fields ?? [])
  const own = requestsTab('requests', 'Requests', test, place)
  const others = keyless.length > 0 ? [requestsTab('keyless', 'Without a valid key', { requests: keyless }, place)] : []
  const leftBehind = () => (
    <>
      {remainder.length === 0 && <p class="muted">All is as it was at its beginning.</p>}
      <Values title="Its end beside its beginning" values={remainder.map((each) => ['left', each])} />
      <Values title="Fields" values={fields.map(fieldText)} />
    </>
  )
  const faultRules = () => <JsonTree value={faults} label="Fault rules at its end" />
  const tabs = [
    ...(requests.length > 0 ? [own, ...others] : [...others, own]),
    { id: 'left', title: 'Left behind', count: remainder.length, content: leftBehind },
    { id: 'faults', title: 'Faults', count: faults.length, content: faultRules }
  ]
  const facts = [file, outcome, `environment ${environment}`].filter(Boolean).join(' · ')
  return <EntryPane {...{ title, facts, tabs, place }} findings={findingsOf(test)} />
}

/** The requests that no test has made: by environment, and those without a valid key. */
export function OthersPane({ report: { others, hints }, place }: { report: Report; place: Place }) {
  const nameOf = ({ environment = 'Without a valid key' }: { environment?: string }) => environment
  const names = [...new Set(others.map(nameOf))]
  const tabs = names.map((name, index) => {
    const requests = others.filter((request) => nameOf(request) === name)
    return requestsTab(String(index), name, { requests }, place)
  })
  const findings = hints.map((hint): Finding => {
    const message = `${nameOf(hint)}: ${hint.message}`
    return { tone: 'warn', message, requests: hint.requests, tab: String(names.indexOf(nameOf(hint))) }
  })
  return <EntryPane title="Requests that no test made" {...{ findings, tabs, place }} />
}

/** How much of the contract the run has met, and what it has not. */
export function CoveragePane({ coverage, place }: { coverage: Coverage; place: Place }) {
  const tabs = coverage.operations.map(({ operation, method, path, covered, total, items }) => {
    const missing = items.filter((item) => !item.covered).map(({ name, how }) => [name, how] as const)
    const title = `${method} ${path}: ${covered} of ${total} met; not met are`
    const content = () => <Values title={title} values={missing} />
    return { id: operation, title: operation, count: missing.length, content }
  })
  const facts = `${coverage.percentage} %, ${coverage.covered} of ${coverage.total}`
  return <EntryPane title="Coverage of the contract" {...{ facts, tabs, place }} />
}

type Sending = Pick<ReportedTest, 'requests'> & Partial<Pick<ReportedTest, 'changes' | 'lost'>>

/** Requests in the order in which they came, with what changed between them; and one of them with its answer. */
function requestsTab(id: string, title: string, sent: Sending, { sequence, to }: Place): Tab {
  const { requests, changes = [], lost = 0 } = sent
  const hasFailed = ({ status = 0, reason }: AnsweredRequest) => status >= 400 || reason !== undefined
  const chosen = requests.find((request) => request.sequence === sequence)
  const open = chosen ?? requests.find(hasFailed) ?? requests.at(-1)
  const content = () => {
    if (!open) return <p class="muted">It sent no request with the key of its environment.</p>
    const items = itemsOf([...requests].reverse(), changes).reverse()
    return (
      <>
        {lost > 0 && <p class="hint">{lost.toLocaleString()} older ones were let go.</p>}
        <RequestList label="Requests" items={items} current={open.sequence} href={(sequence) => to(id, sequence)} />
        <div class="line">
          <h2>What the app received</h2>
          <StatusText request={open} />
          <span class="hint spread">{`${durationText(open.duration)} · #${open.sequence}`}</span>
          <CopyButton text={() => curlAgain(SERVER, open)}>Copy as curl</CopyButton>
        </div>
        <AnswerOf key={open.sequence} request={open} />
        <h2>What it sent</h2>
        <Sent request={open} />
      </>
    )
  }
  return { id, title, count: requests.length, content }
}
