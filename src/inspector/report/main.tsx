import { render } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import type { EnvironmentDiff, RecordedRequest } from '../../client/index.js'
import type { Report, ReportedTest } from '../../client/report.js'
import { Chip } from '../parts/chip.js'
import { CopyButton } from '../parts/copy.js'
import { Icon, type IconName } from '../parts/icon.js'
import { JsonTree } from '../parts/json-tree.js'
import { useKey } from '../parts/keys.js'
import { List } from '../parts/list.js'
import { Empty, SearchLine } from '../parts/list-view.js'
import { Close, Pane, Panes } from '../parts/pane.js'
import { ROW, ROW_WITH_NOTE, Row, type RowProps } from '../parts/row.js'
import { type Tab, Tabs } from '../parts/tabs.js'
import { durationText, timeText } from '../parts/times.js'
import { addressOf, go, useRoute } from '../shell/router.js'
import { Operations } from '../views/coverage/coverage.js'
import { type Difference, Differences, differencesOf } from '../views/differences.js'
import { curlAgain } from '../views/requests/copies.js'
import {
  AnswerOf,
  type Finding,
  itemsOf,
  Note,
  RequestList,
  Sent,
  StatusText,
  toneOf
} from '../views/requests/rows.js'
import '../style.css'
import './style.css'

/** A finding, with the tab that its requests are in. */
type EntryFinding = Finding & { tab?: string }

/** A row of the list, with what opens beside it: a test, or what is of the run as a whole. */
interface Entry extends Pick<RowProps, 'tone' | 'end'> {
  icon: IconName
  key: string
  title: string
  facts: string
  /** What is to be known of it before all else. */
  findings: readonly EntryFinding[]
  tabs: readonly Tab[]
}

/** The outcomes, those that are to be looked at first, with their looks. */
const OUTCOMES: Record<ReportedTest['outcome'], Pick<Entry, 'tone' | 'icon'>> = {
  failed: { tone: 'bad', icon: 'close' },
  unknown: { icon: 'more' },
  passed: { tone: 'good', icon: 'check' },
  skipped: { icon: 'more' }
}

/** Returns the tests, failures first and else in the order in which they ran, and what is of the run as a whole. */
function entriesOf({ tests, others, hints, coverage }: Report): Entry[] {
  const entries = Object.keys(OUTCOMES).flatMap((outcome) =>
    tests.flatMap((test, index) => (test.outcome === outcome ? testEntry(test, String(index)) : []))
  )
  if (others.length > 0) entries.push(othersEntry(others, hints))
  entries.push({
    key: 'coverage',
    title: 'Coverage of the contract',
    facts: `${coverage.percentage} %`,
    icon: 'ring',
    end: `${coverage.covered.toLocaleString()} of ${coverage.total.toLocaleString()}`,
    findings: [],
    tabs: [
      {
        id: 'all',
        title: 'Operations',
        content: () => <Operations operations={coverage.operations} />
      }
    ]
  })
  return entries
}

/** One test: why it failed, what is remarkable of it, its requests with their answers, and what it has left. */
function testEntry(test: ReportedTest, key: string): Entry {
  const { title, file, outcome, duration, environment, requests, unauthenticated, faults } = test
  // Each request with an idempotency key leaves one.
  const { idempotencyKeys: _, ...remainder }: Partial<EnvironmentDiff> = test.left ?? {}
  const left = differencesOf(remainder)
  const own = requestsTab(key, 'requests', 'Requests', test)
  const others =
    unauthenticated.length > 0
      ? [requestsTab(key, 'unauthenticated', 'Without a valid key', { requests: unauthenticated })]
      : []
  const faultRules = () => <JsonTree value={faults} label="Fault rules at its end" />
  return {
    ...OUTCOMES[outcome],
    key,
    title,
    facts: [file, outcome, `environment ${environment}`].filter(Boolean).join(' · '),
    end: durationText(duration),
    findings: findingsOf(test, left),
    tabs: [
      ...(requests.length > 0 ? [own, ...others] : [...others, own]),
      {
        id: 'left',
        title: 'Left behind',
        count: left.length,
        content: () => <Differences all={left} />
      },
      { id: 'faults', title: 'Faults', count: faults.length, content: faultRules }
    ]
  }
}

/** Returns why a test failed and what it has probably not meant, what explains a failure best first. */
function findingsOf(
  { error, hints, requests, unauthenticated }: ReportedTest,
  left: readonly Difference[]
): EntryFinding[] {
  const isHit = ({ flags }: RecordedRequest) => flags.faulted !== undefined
  // A refusal that a hint has told already is not told again.
  const told = hints.flatMap((hint) => hint.requests)
  const refused = requests.findLast(
    (request) => (request.status ?? 0) >= 400 && !isHit(request) && !told.includes(request.sequence)
  )
  const hit = sequencesOf(requests.filter(isHit))
  const [[first], [unknown]] = [left, unauthenticated]
  const risen = left.find(({ fields }) =>
    fields.some(({ field, after }) => field === 'primary' && after === 'true')
  )
  const remainder = risen
    ? `left ${risen.id} as primary`
    : first && `left: ${first.words} ${first.id}`
  const why = `came without a valid key: ${unknown?.reason ?? unknown?.path}`
  const { status, method, path, reason } = refused ?? {}
  const refusal = [`${status} ${method} ${path}`, reason].filter(Boolean).join(': ')
  const findings: (EntryFinding | false | undefined)[] = [
    error !== undefined && { tone: 'bad', message: error },
    ...hints.map(({ message, requests }): EntryFinding => ({ tone: 'warn', message, requests })),
    unknown && {
      tone: 'warn',
      message: `${unauthenticated.length} ${why}`,
      requests: sequencesOf(unauthenticated),
      tab: 'unauthenticated'
    },
    refused && { tone: 'warn', message: refusal, requests: [refused.sequence] },
    remainder !== undefined && { tone: 'accent', message: remainder },
    hit.length > 0 && { tone: 'fault', message: `faults injected: ${hit.length}`, requests: hit }
  ]
  return findings.filter((each) => each !== false && each !== undefined)
}

const sequencesOf = (requests: readonly RecordedRequest[]) =>
  requests.map(({ sequence }) => sequence)

/** The requests that no test has made: by environment, and those without a valid key. */
function othersEntry(others: Report['others'], hints: Report['hints']): Entry {
  const [key, title] = ['others', 'Requests that no test made']
  const nameOf = ({ environment = 'Without a valid key' }: { environment?: string }) => environment
  const names = [...new Set(others.map(nameOf))]
  return {
    key,
    title,
    facts: 'without a key, or with that of an environment that no test has made',
    icon: 'requests',
    end: others.length.toLocaleString(),
    findings: hints.map((hint) => ({
      tone: 'warn',
      message: `${nameOf(hint)}: ${hint.message}`,
      requests: hint.requests,
      tab: String(names.indexOf(nameOf(hint)))
    })),
    tabs: names.map((name, index) =>
      requestsTab(key, String(index), name, {
        requests: others.filter((request) => nameOf(request) === name)
      })
    )
  }
}

type Sending = Pick<ReportedTest, 'requests'> & Partial<Pick<ReportedTest, 'changes' | 'lost'>>

function requestsTab(key: string, id: string, title: string, sent: Sending): Tab {
  const href = (sequence: number) => addressOf([key, id, String(sequence)])
  return {
    id,
    title,
    count: sent.requests.length,
    content: () => <Exchanges {...sent} href={href} />
  }
}

/** A server as `npm start` gives it: what is copied runs there. */
const SERVER = {
  url: 'http://127.0.0.1:4210',
  headers: { authorization: 'ApiKey development-key' }
}

/** Requests in the order in which they came, with what changed between them; and one of them with its answer. */
function Exchanges({
  requests,
  changes = [],
  lost = 0,
  href
}: Sending & { href(sequence: number): string }) {
  const chosen = Number(useRoute().rest[1])
  const isRemarkable = (request: RecordedRequest) => toneOf(request) ?? request.reason
  const open =
    requests.find(({ sequence }) => sequence === chosen) ??
    requests.find(isRemarkable) ??
    requests.at(-1)
  if (!open) return <p class="muted">It sent no request with the key of its environment.</p>
  const items = itemsOf(requests.toReversed(), changes).reverse()
  return (
    <>
      {lost > 0 && <p class="hint">{lost.toLocaleString()} older ones were let go.</p>}
      <RequestList label="Requests" items={items} current={open.sequence} href={href} isAimed />
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

/** The report of a run: its tests, failures first, and what each has sent, got, changed and left. */
function RunReport({ report }: { report: Report }) {
  const { view, rest } = useRoute()
  const [text, change] = useState('')
  const entries = useMemo(() => entriesOf(report), [report])
  const words = text.toLowerCase().split(/\s+/)
  const isFound = (entry: Entry) =>
    words.every((word) => `${entry.title} ${noteOf(entry) ?? ''}`.toLowerCase().includes(word))
  const entry = entries.find(({ key }) => key === view) ?? (entries[0] as Entry)
  const found = entries.filter(isFound)
  const placeholder = `Filter ${report.tests.length.toLocaleString()} tests`
  useKey('escape', () => go('#/', { replace: true }))
  return (
    <div class="report">
      <Head report={report} />
      <main class="view">
        <Panes isOpen={view !== ''}>
          <Pane
            label="All tests"
            head={<SearchLine label="Search tests" {...{ placeholder, text, change }} />}
          >
            {found.length === 0 && <Empty title="No test has these words" />}
            <List
              label="Tests"
              items={found}
              keyOf={({ key }) => key}
              heightOf={(each) => (noteOf(each) ? ROW_WITH_NOTE : ROW)}
              current={entry.key}
              isAimed
              choose={(key) => go(addressOf([String(key)]), { replace: true })}
            >
              {(each, row) => {
                const { key, title, tone, icon, end } = each
                return (
                  <Row
                    {...{ ...row, title, tone, icon, end }}
                    note={noteOf(each)}
                    href={addressOf([key])}
                  >
                    <bdi class={tone === 'bad' ? 'is-strong' : undefined}>{title}</bdi>
                  </Row>
                )
              }}
            </List>
          </Pane>
          <EntryPane entry={entry} tab={rest[0]} />
        </Panes>
      </main>
    </div>
  )
}

/** What explains an entry best, beside the error that the person knows; undefined if there is nothing to be said. */
const noteOf = ({ findings }: Entry) =>
  (findings.find(({ tone }) => tone !== 'bad') ?? findings[0])?.message.split('\n')[0]

/** The run in figures. */
function Head({ report: { run, tests, coverage, dropped } }: { report: Report }) {
  const outcomes = Object.keys(OUTCOMES).map((outcome) => [
    tests.filter((test) => test.outcome === outcome).length,
    outcome
  ])
  const facts = [
    timeText(run.started),
    ...(run.exitCode === undefined ? [] : [`exit ${run.exitCode}`]),
    `profile ${[run.profile, ...Object.entries(run.assumptions).map((each) => each.join('='))].join(', ')}`,
    `notification-mock ${run.version}`,
    `Node ${run.node.replace(/^v/, '')}`
  ]
  const figures = [
    ...outcomes.filter(([count, outcome]) => count !== 0 || outcome === 'failed'),
    [coverage.requests, 'requests'],
    [`${coverage.percentage} %`, 'of the contract'],
    [`${(run.duration / 1000).toFixed(1)} s`, 'took']
  ]
  return (
    <header class="report-head">
      <Icon name="bell" />
      <div class="report-title" dir="auto">
        <h1 class="cut">{run.command ?? 'A run'}</h1>
        <p class="hint">{facts.join(' · ')}</p>
        {dropped > 0 && (
          <Chip tone="warn">{dropped.toLocaleString()} more tests had no room here</Chip>
        )}
      </div>
      <dl class="report-figures">
        {figures.map(([value, name]) => (
          <div key={name}>
            <dt class="hint">{name}</dt>
            <dd class={name === 'failed' && value !== 0 ? 'big is-bad toned' : 'big'}>
              {value?.toLocaleString()}
            </dd>
          </div>
        ))}
      </dl>
    </header>
  )
}

/** What is open: what it is, what is remarkable of it, and all of it in tabs. */
function EntryPane({
  entry: { key, title, facts, findings, tabs },
  tab
}: {
  entry: Entry
  tab: string | undefined
}) {
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
        <Note key={index} {...note} href={(sequence) => addressOf([key, tab, String(sequence)])} />
      ))}
    </div>
  )
  const choose = (tab: string) => go(addressOf([key, tab]), { replace: true })
  return (
    <Pane label={title} head={head}>
      <Tabs key={key} label="Of this entry" tabs={tabs} current={tab} choose={choose} />
    </Pane>
  )
}

/** Returns the report that stands in the page: as JSON, or compressed and in base64. */
async function readReport(): Promise<Report> {
  const { textContent, dataset } = document.getElementById('report') as HTMLElement
  const text = textContent ?? ''
  if (dataset.encoding !== 'deflate-raw') return JSON.parse(text)
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))
  return new Response(
    new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'))
  ).json()
}

const report = await readReport()
document.title = report.run.command ?? 'notification-mock'
render(<RunReport report={report} />, document.getElementById('app') as HTMLElement)
