import type { ComponentChildren } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import type { Report, ReportedTest } from '../../client/report.js'
import { Chip } from '../parts/chip.js'
import { Icon } from '../parts/icon.js'
import { useKey } from '../parts/keys.js'
import { List } from '../parts/list.js'
import { Empty, SearchLine } from '../parts/list-view.js'
import { Pane, Panes } from '../parts/pane.js'
import { ROW, ROW_WITH_NOTE, Row, type RowProps } from '../parts/row.js'
import { durationText, timeText } from '../parts/times.js'
import { addressOf, go, useRoute } from '../shell/router.js'
import { findingsOf } from './findings.js'
import { CoveragePane, OthersPane, type Place, TestPane } from './panes.js'

/** A row of the list: a test, or what is of the run as a whole. */
interface Entry extends Pick<RowProps, 'tone' | 'icon' | 'note' | 'end'> {
  key: string
  title: string
  pane(place: Place): ComponentChildren
}

/** The outcomes, those that are to be looked at first, and their looks. */
const LOOKS: Partial<Record<ReportedTest['outcome'], Pick<RowProps, 'tone' | 'icon'>>> = {
  failed: { tone: 'bad', icon: 'close' },
  passed: { tone: 'good', icon: 'check' }
}
const OUTCOMES = ['failed', 'unknown', 'passed', 'skipped'] as const

/** The report of a run: its tests, failures first, and what each has sent, got, changed and left. */
export function RunReport({ report }: { report: Report }) {
  const { view, rest } = useRoute()
  const [text, change] = useState('')
  const entries = useMemo(() => entriesOf(report), [report])
  const words = text.toLowerCase().split(/\s+/)
  const placeholder = `Filter ${report.tests.length.toLocaleString()} tests`
  const isFound = ({ title, note }: Entry) => words.every((word) => `${title} ${note}`.toLowerCase().includes(word))
  const found = entries.filter(isFound)
  const { key, pane } = entries.find((entry) => entry.key === view) ?? (entries[0] as Entry)
  const open = (...path: string[]) => go(addressOf(path), { replace: true })
  useKey('escape', () => open())
  const to = (tab: string, sequence?: number) => addressOf([key, tab, sequence ? String(sequence) : ''].filter(Boolean))
  return (
    <div class="report">
      <Head report={report} />
      <main class="view">
        <Panes isOpen={view !== ''}>
          <Pane label="All tests" head={<SearchLine label="Search tests" {...{ placeholder, text, change }} />}>
            {found.length === 0 && <Empty title="No test has these words" />}
            <List
              label="Tests"
              items={found}
              keyOf={(entry) => entry.key}
              heightOf={({ note }) => (note ? ROW_WITH_NOTE : ROW)}
              current={key}
              isAimed
              choose={(key) => open(String(key))}
            >
              {({ key, title, pane: _, ...looks }, row) => (
                <Row {...row} {...looks} title={title} href={addressOf([key])}>
                  <bdi class={looks.tone === 'bad' ? 'is-strong' : undefined}>{title}</bdi>
                </Row>
              )}
            </List>
          </Pane>
          {pane({ tab: rest[0], sequence: Number(rest[1]), to })}
        </Panes>
      </main>
    </div>
  )
}

/** The run in figures. */
function Head({ report: { run, tests, coverage, dropped } }: { report: Report }) {
  const outcomes = OUTCOMES.map((outcome) => [tests.filter((test) => test.outcome === outcome).length, outcome])
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
      <span class="logo">
        <Icon name="bell" />
      </span>
      <div class="report-title" dir="auto">
        <h1 class="cut">{run.command ?? 'A run'}</h1>
        <p class="hint">{facts.join(' · ')}</p>
        {dropped > 0 && <Chip tone="warn">{dropped.toLocaleString()} more tests had no room here</Chip>}
      </div>
      <dl class="report-figures">
        {figures.map(([value, name]) => (
          <div key={name}>
            <dt class="hint">{name}</dt>
            <dd class={name === 'failed' && value !== 0 ? 'big is-bad toned' : 'big'}>{value?.toLocaleString()}</dd>
          </div>
        ))}
      </dl>
    </header>
  )
}

function entriesOf(report: Report): Entry[] {
  const { tests, others, hints, coverage } = report
  // Those of one outcome stay in the order in which they ran.
  const sorted = OUTCOMES.flatMap((outcome) => tests.filter((test) => test.outcome === outcome))
  const rows = sorted.map((test): Entry => {
    const { title, outcome, duration } = test
    const findings = findingsOf(test)
    const key = String(tests.indexOf(test))
    const note = (findings.find(({ tone }) => tone !== 'bad') ?? findings[0])?.message.split('\n')[0]
    const pane = (place: Place) => <TestPane key={key} test={test} place={place} />
    return { icon: 'more', ...LOOKS[outcome], key, title, note, end: durationText(duration), pane }
  })
  if (others.length > 0) {
    const note = hints[0]?.message ?? 'without a key, or with that of an environment that no test has made'
    const pane = (place: Place) => <OthersPane report={report} place={place} />
    const end = others.length.toLocaleString()
    rows.push({ key: 'others', title: 'Requests that no test made', icon: 'requests', note, end, pane })
  }
  const end = `${coverage.covered.toLocaleString()} of ${coverage.total.toLocaleString()}`
  const pane = (place: Place) => <CoveragePane coverage={coverage} place={place} />
  return [...rows, { key: 'coverage', title: 'Coverage of the contract', icon: 'ring', end, pane }]
}
