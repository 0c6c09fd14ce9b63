import type { RecordedRequest } from '../../client/index.js'
import type { Report, ReportedTest } from '../../client/report.js'
import { CopyButton } from '../parts/copy.js'
import type { IconName } from '../parts/icon.js'
import { JsonTree } from '../parts/json-tree.js'
import type { RowProps } from '../parts/row.js'
import type { Tab } from '../parts/tabs.js'
import { durationText } from '../parts/times.js'
import { addressOf, useRoute } from '../shell/router.js'
import { Operations } from '../views/coverage/operations.js'
import { Differences, differencesOf } from '../views/differences.js'
import { curlAgain } from '../views/requests/copies.js'
import { AnswerOf, type NoteProps, Sent } from '../views/requests/exchange.js'
import { itemsOf, RequestList, StatusText, toneOf } from '../views/requests/rows.js'

/** A row of the list, with what opens beside it: a test, or what is of the run as a whole. */
export interface Entry extends Pick<RowProps, 'tone' | 'end'> {
  icon: IconName
  key: string
  title: string
  facts: string
  /** What is to be known of it before all else, with the tab that its requests are in. */
  findings: readonly (Pick<NoteProps, 'tone' | 'message' | 'requests'> & { tab?: string })[]
  tabs: readonly Tab[]
}

/** The outcomes, those that are to be looked at first, and their looks. */
export const OUTCOMES = ['failed', 'unknown', 'passed', 'skipped'] as const
const LOOKS: Partial<Record<ReportedTest['outcome'], Pick<Entry, 'tone' | 'icon'>>> = {
  failed: { tone: 'bad', icon: 'close' },
  passed: { tone: 'good', icon: 'check' }
}

/** Returns the tests, failures first and else in the order in which they ran, and what is of the run as a whole. */
export function entriesOf({ tests, others, hints, coverage }: Report): Entry[] {
  const rank = ({ outcome }: ReportedTest) => OUTCOMES.indexOf(outcome)
  const sorted = tests
    .map((test, index) => ({ test, key: String(index) }))
    .sort((one, other) => rank(one.test) - rank(other.test))
  return [
    ...sorted.map(({ test, key }) => testEntry(test, key)),
    ...(others.length > 0 ? [othersEntry(others, hints)] : []),
    {
      key: 'coverage',
      title: 'Coverage of the contract',
      facts: `${coverage.percentage} %`,
      icon: 'ring',
      end: `${coverage.covered.toLocaleString()} of ${coverage.total.toLocaleString()}`,
      findings: [],
      tabs: [{ id: 'all', title: 'Operations', content: () => <Operations operations={coverage.operations} /> }]
    }
  ]
}

/** One test: why it failed, what is remarkable of it, its requests with their answers, and what it has left. */
function testEntry(test: ReportedTest, key: string): Entry {
  const { title, file, outcome, duration, environment, requests, keyless, faults } = test
  const left = remainderOf(test)
  const own = requestsTab(key, 'requests', 'Requests', test)
  const others = keyless.length > 0 ? [requestsTab(key, 'keyless', 'Without a valid key', { requests: keyless })] : []
  return {
    icon: 'more',
    ...LOOKS[outcome],
    key,
    title,
    facts: [file, outcome, `environment ${environment}`].filter(Boolean).join(' · '),
    end: durationText(duration),
    findings: findingsOf(test),
    tabs: [
      ...(requests.length > 0 ? [own, ...others] : [...others, own]),
      { id: 'left', title: 'Left behind', count: left.length, content: () => <Differences all={left} /> },
      {
        id: 'faults',
        title: 'Faults',
        count: faults.length,
        content: () => <JsonTree value={faults} label="Fault rules at its end" />
      }
    ]
  }
}

/** Returns how a test's end differs from its beginning, but for idempotency keys: each request with a key leaves one. */
function remainderOf({ left }: ReportedTest) {
  const { idempotencyKeys: _, ...remainder } = left ?? {}
  return differencesOf(remainder)
}

/** Returns why a test failed and what it has probably not meant, what explains a failure best first. */
function findingsOf(test: ReportedTest): Entry['findings'] {
  const { error, hints, requests, keyless } = test
  const about = (some: readonly RecordedRequest[], finding: Pick<NoteProps, 'tone' | 'message'>, tab = 'requests') =>
    some.length > 0 ? [{ ...finding, tab, requests: some.map(({ sequence }) => sequence) }] : []
  // A refusal that a hint has told already is not told again.
  const told = hints.flatMap((hint) => hint.requests)
  const refused = requests.filter(
    ({ sequence, status = 0, flags }) => status >= 400 && flags.faulted === undefined && !told.includes(sequence)
  )
  const { status, method, path, reason } = refused.at(-1) ?? {}
  const hit = requests.filter(({ flags }) => flags.faulted !== undefined)
  const why = `came without a valid key: ${keyless[0]?.reason ?? keyless[0]?.path}`
  const remainder = remainderOf(test)
  const risen = remainder.find(({ fields }) =>
    fields.some(({ field, after }) => field === 'primary' && after === 'true')
  )
  const [first] = remainder
  const left = risen ? `left ${risen.id} as primary` : first && `left ${first.words}: ${first.id}`
  return [
    ...(error === undefined ? [] : [{ tone: 'bad', message: error } as const]),
    ...hints.map(({ message, requests }) => ({ tone: 'warn', message, requests }) as const),
    ...about(keyless, { tone: 'warn', message: `${counted(keyless, 'request')} ${why}` }, 'keyless'),
    ...about(refused.slice(-1), { tone: 'warn', message: [`${status} ${method} ${path}`, reason].join(': ') }),
    ...(left ? [{ tone: 'accent', message: left } as const] : []),
    ...about(hit, { tone: 'fault', message: `${counted(hit, 'fault')} injected` })
  ]
}

const counted = ({ length }: readonly unknown[], noun: string) =>
  `${length.toLocaleString()} ${noun}${length === 1 ? '' : 's'}`

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
      requestsTab(key, String(index), name, { requests: others.filter((request) => nameOf(request) === name) })
    )
  }
}

type Sending = Pick<ReportedTest, 'requests'> & Partial<Pick<ReportedTest, 'changes' | 'lost'>>

function requestsTab(key: string, id: string, title: string, sent: Sending): Tab {
  const href = (sequence: number) => addressOf([key, id, String(sequence)])
  return { id, title, count: sent.requests.length, content: () => <Exchanges {...sent} href={href} /> }
}

/** A server as `npm start` gives it: what is copied runs there. */
const SERVER = { url: 'http://127.0.0.1:4210', headers: { authorization: 'ApiKey development-key' } }

/** Requests in the order in which they came, with what changed between them; and one of them with its answer. */
function Exchanges({ requests, changes = [], lost = 0, href }: Sending & { href(sequence: number): string }) {
  const chosen = Number(useRoute().rest[1])
  const isRemarkable = (request: RecordedRequest) => toneOf(request) ?? request.reason
  const open = requests.find(({ sequence }) => sequence === chosen) ?? requests.find(isRemarkable) ?? requests.at(-1)
  if (!open) return <p class="muted">It sent no request with the key of its environment.</p>
  const items = itemsOf(requests.toReversed(), changes).reverse()
  return (
    <>
      {lost > 0 && <p class="hint">{lost.toLocaleString()} older ones were let go.</p>}
      <RequestList label="Requests" items={items} current={open.sequence} href={href} />
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
