import type { EnvironmentDiff } from '../../client/index.js'
import { type Report, type ReportedTest, unauthenticatedDuring } from '../../client/report.js'
import { quoteForShell } from '../../domain/shell.js'
import { formatDuration } from '../parts/format-time.js'
import type { IconName } from '../parts/icon.js'
import { JsonTree } from '../parts/json-tree.js'
import type { ListRowProps } from '../parts/list-row.js'
import type { Tab } from '../parts/tabs.js'
import { decodeOrKeep, hrefTo } from '../shell/router.js'
import { OperationCoverage } from '../views/coverage/coverage.js'
import { DiffList, diffEntries } from '../views/diff.js'
import { type EntryFinding, findingsOf } from './findings.js'
import { TestRequests, type TestRequestsProps } from './test-requests.js'

/**
 * An entry of the report: its row in the list and the content of its pane. It describes a test, or
 * an aspect of the whole run such as the coverage.
 */
export interface Entry extends Pick<ListRowProps, 'tone' | 'end'> {
  icon: IconName
  key: string
  title: string
  facts: string
  /**
   * The labels of figures, such as `failed`. Clicking a figure shows only the entries that have its
   * label.
   */
  labels: readonly string[]
  /** The most important finding comes first. */
  findings: readonly EntryFinding[]
  /** The command that reopens the test. */
  command?: string
  tabs: readonly Tab[]
}

/** The color and icon of each test outcome, in the order in which the list shows the tests. */
export const OUTCOMES: Record<ReportedTest['outcome'], Pick<Entry, 'tone' | 'icon'>> = {
  failed: { tone: 'bad', icon: 'close' },
  unknown: { icon: 'more' },
  passed: { tone: 'good', icon: 'check' },
  skipped: { icon: 'more' }
}

/** Returns an entry for each test, failed tests first, and then the entries about the whole run. */
export function entriesOf(report: Report): Entry[] {
  const { tests, others, unauthenticated, coverage } = report
  const keyedTests = tests.map((test, index) => ({ test, key: String(index) }))
  const testEntries = Object.keys(OUTCOMES).flatMap((outcome) =>
    keyedTests
      .filter(({ test }) => test.outcome === outcome)
      .map(({ test, key }) => testEntry(test, unauthenticatedDuring(test, report), key))
  )
  const hasOthers = others.length > 0 || unauthenticated.length > 0
  const otherEntries = hasOthers ? [othersEntry(report)] : []
  return [...testEntries, ...otherEntries, coverageEntry(coverage)]
}

function testEntry(
  test: ReportedTest,
  unauthenticated: Report['unauthenticated'],
  key: string
): Entry {
  const { title, duration, requests, faults, earlierAttempts = [] } = test
  // Leave out idempotency keys. The server stores the key of every request that sends one, so a
  // stored key isn't worth reporting.
  const { idempotencyKeys: _, ...diff }: Partial<EnvironmentDiff> = test.left ?? {}
  const leftovers = diffEntries(diff)
  const requestTabs = [requestsTab(key, 'requests', 'Requests', test)]
  if (unauthenticated.length > 0) {
    const tab = requestsTab(key, 'unauthenticated', 'Without a valid key', {
      requests: unauthenticated
    })
    // The first tab is open by default, so put a tab with requests first.
    if (requests.length > 0) requestTabs.push(tab)
    else requestTabs.unshift(tab)
  }
  return {
    ...OUTCOMES[test.outcome],
    key,
    title,
    facts: factsOf(test),
    labels: [test.outcome, ...requestLabels(requests, unauthenticated)],
    end: formatDuration(duration),
    findings: findingsOf(test, unauthenticated, leftovers),
    ...(test.start && { command: reopenCommand(title) }),
    tabs: [
      ...requestTabs,
      ...earlierAttempts.map((attempt) => attemptTab(key, attempt)),
      {
        id: 'leftovers',
        title: 'Leftover changes',
        count: leftovers.length,
        content: () => <DiffList entries={leftovers} />
      },
      {
        id: 'faults',
        title: 'Faults',
        count: faults.length,
        content: () => <JsonTree value={faults} label="Fault rules at the end of the test" />
      }
    ]
  }
}

function factsOf(test: ReportedTest): string {
  const { file, environment, mergedFrom } = test
  const origin = mergedFrom === undefined ? undefined : `report ${mergedFrom}`
  const facts = [file, describeOutcome(test), `environment ${environment}`, origin]
  return facts.filter(Boolean).join(' · ')
}

const describeOutcome = ({ outcome, attempt = 1 }: ReportedTest) =>
  attempt > 1 ? `${outcome} on attempt ${attempt}` : outcome

/** Returns the tab with the requests of an earlier attempt. */
function attemptTab(key: string, attempt: ReportedTest): Tab {
  const { attempt: number = 1 } = attempt
  return requestsTab(key, `attempt-${number}`, `Attempt ${number}`, attempt)
}

/** Returns the command that starts a server with the environment of a test in this report. */
function reopenCommand(title: string): string {
  const file = decodeOrKeep(location.pathname.split('/').at(-1) ?? '')
  return `npx notification-mock open ${quoteForShell(file)} --test ${quoteForShell(title)}`
}

type RequestOutsideOfTests = Report['unauthenticated'][number] & { environment?: string }

/** Returns the entry for requests outside of tests, with a tab for each environment. */
function othersEntry({ others, unauthenticated, hints, lost }: Report): Entry {
  const key = 'others'
  const requests: RequestOutsideOfTests[] = [...others, ...unauthenticated]
  const missing = lost > 0 ? ` · older requests missing: ${lost.toLocaleString()}` : ''
  const groupOf = ({ environment = 'Without a valid key' }: { environment?: string }) => environment
  const groups = [...new Set(requests.map(groupOf))]
  return {
    key,
    title: 'Requests outside of tests',
    facts: `requests without a valid key, or to environments that no test created${missing}`,
    icon: 'requests',
    labels: requestLabels(others, unauthenticated),
    end: requests.length.toLocaleString(),
    findings: hints.map((hint) => ({
      tone: 'warn',
      message: `${groupOf(hint)}: ${hint.message}`,
      requests: hint.requests,
      tab: String(groups.indexOf(groupOf(hint)))
    })),
    tabs: groups.map((group, index) =>
      requestsTab(key, String(index), group, {
        requests: requests.filter((request) => groupOf(request) === group)
      })
    )
  }
}

type Exchanges = Report['unauthenticated']

function requestLabels(requests: Exchanges, unauthenticated: Exchanges): string[] {
  const isUnmocked = [...requests, ...unauthenticated].some(({ flags }) => flags.unmocked)
  return [
    ...(unauthenticated.length > 0 ? ['unauthenticated'] : []),
    ...(isUnmocked ? ['not mocked'] : [])
  ]
}

function coverageEntry({ percentage, covered, total, operations }: Report['coverage']): Entry {
  return {
    key: 'coverage',
    title: 'API coverage',
    facts: `${percentage} %`,
    icon: 'ring',
    labels: [],
    end: `${covered.toLocaleString()} of ${total.toLocaleString()}`,
    findings: [],
    tabs: [
      {
        id: 'all',
        title: 'Operations',
        content: () => <OperationCoverage operations={operations} />
      }
    ]
  }
}

function requestsTab(
  key: string,
  id: string,
  title: string,
  { requests, changes, lost }: Omit<TestRequestsProps, 'href'>
): Tab {
  const href = (sequence: number) => hrefTo([key, id, String(sequence)])
  return {
    id,
    title,
    count: requests.length,
    content: () => <TestRequests requests={requests} changes={changes} lost={lost} href={href} />
  }
}
