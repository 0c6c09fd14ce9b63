import { useMemo, useRef, useState } from 'preact/hooks'
import type { Report, ReportedTest } from '../../client/report.js'
import { Chip, type Tone } from '../parts/chip.js'
import { Empty } from '../parts/empty.js'
import { Icon, type IconName } from '../parts/icon.js'
import { useKey } from '../parts/keys.js'
import { List } from '../parts/list.js'
import { Pane, Panes } from '../parts/pane.js'
import { ROW, ROW_WITH_NOTE, Row } from '../parts/row.js'
import { durationText, timeText } from '../parts/times.js'
import { CoverageOfRun } from './coverage.js'
import { findingsOf } from './findings.js'
import { OthersView } from './others.js'
import { hrefOf, open, usePlace } from './place.js'
import { TestView } from './test.js'

/** A row of the list: a test, or what is of the run as a whole. */
interface Entry {
  key: string
  title: string
  note: string | undefined
  tone: Tone | undefined
  icon: IconName
  end: string
}

const LOOKS: Record<ReportedTest['outcome'], { tone: Tone | undefined; icon: IconName }> = {
  failed: { tone: 'bad', icon: 'close' },
  unknown: { tone: undefined, icon: 'more' },
  passed: { tone: 'good', icon: 'check' },
  skipped: { tone: undefined, icon: 'more' }
}
const ORDER = ['failed', 'unknown', 'passed', 'skipped']

/** The report of a run: its tests, failures first, and what each has sent, got, changed and left. */
export function RunReport({ report }: { report: Report }) {
  const place = usePlace()
  const [text, setText] = useState('')
  const search = useRef<HTMLInputElement>(null)
  const entries = useMemo(() => entriesOf(report), [report])
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const shown = entries.filter(({ title, note = '' }) => {
    const all = `${title} ${note}`.toLowerCase()
    return words.every((word) => all.includes(word))
  })
  const entry = entries.find(({ key }) => key === place.entry)?.key ?? entries[0]?.key
  useKey('/', () => search.current?.focus())
  useKey('escape', () => open({}))
  return (
    <div class="report">
      <Head report={report} />
      <main class="view">
        <Panes isOpen={place.entry !== undefined}>
          <Pane
            label="Tests"
            head={
              <div class="search-line">
                <Icon name="find" />
                <input
                  ref={search}
                  type="search"
                  aria-label="Filter the tests"
                  placeholder={`Filter ${report.tests.length.toLocaleString()} tests`}
                  value={text}
                  onInput={({ currentTarget }) => setText(currentTarget.value)}
                />
              </div>
            }
          >
            {shown.length === 0 ? (
              <Empty title={entries.length === 0 ? 'No test has made an environment' : 'No test has these words'} />
            ) : (
              <List
                label="Tests"
                items={shown}
                keyOf={({ key }) => key}
                heightOf={({ note }) => (note === undefined ? ROW : ROW_WITH_NOTE)}
                current={entry}
                choose={(key) => open({ entry: String(key) })}
              >
                {({ key, title, note, tone, icon, end }, row) => (
                  <Row {...row} {...{ tone, icon, note, end, title }} href={hrefOf({ entry: key })}>
                    <bdi class={tone === 'bad' ? 'is-strong' : undefined}>{title}</bdi>
                  </Row>
                )}
              </List>
            )}
          </Pane>
          {entry === 'coverage' ? (
            <CoverageOfRun coverage={report.coverage} />
          ) : entry === 'others' ? (
            <OthersView report={report} place={place} />
          ) : (
            report.tests.map(
              (test, index) => String(index) === entry && <TestView key={index} {...{ test, place, entry }} />
            )
          )}
        </Panes>
      </main>
    </div>
  )
}

/** The run in figures. */
function Head({ report: { run, tests, coverage, dropped } }: { report: Report }) {
  const count = (outcome: ReportedTest['outcome']) => tests.filter((test) => test.outcome === outcome).length
  const [failed, unknown] = [count('failed'), count('unknown')]
  const assumptions = Object.entries(run.assumptions).map(([id, value]) => `${id}=${value}`)
  const facts = [
    timeText(run.started),
    run.exitCode !== undefined && `exit ${run.exitCode}`,
    `profile ${[run.profile, ...assumptions].join(', ')}`,
    `notification-mock ${run.version}`,
    `Node ${run.node.replace(/^v/, '')}`
  ]
  const figures: [value: string, name: string, tone?: string][] = [
    [failed.toLocaleString(), 'failed', failed > 0 ? 'is-bad' : ''],
    [count('passed').toLocaleString(), 'passed'],
    ...(unknown > 0 ? [[unknown.toLocaleString(), 'unknown'] as [string, string]] : []),
    [coverage.requests.toLocaleString(), 'requests'],
    [`${coverage.percentage} %`, 'of the contract'],
    [`${(run.duration / 1000).toFixed(1)} s`, 'took']
  ]
  return (
    <header class="report-head">
      <span class="logo">
        <Icon name="bell" />
      </span>
      <div class="report-title">
        <h1 class="cut" dir="auto" title={run.command}>
          {run.command ?? 'A run'}
        </h1>
        <p class="hint" dir="auto">
          {facts.filter(Boolean).join(' · ')}
        </p>
        {dropped > 0 && <Chip tone="warn">{dropped.toLocaleString()} more tests had no room here</Chip>}
      </div>
      <dl class="report-figures">
        {figures.map(([value, name, tone]) => (
          <div key={name}>
            <dt class="hint">{name}</dt>
            <dd class={`big toned ${tone || 'is-plain'}`}>{value}</dd>
          </div>
        ))}
      </dl>
    </header>
  )
}

function entriesOf({ tests, others, hints, coverage }: Report): Entry[] {
  const rows = tests.map((test, index) => {
    const [first] = findingsOf(test)
    const note = first?.message ?? (test.outcome === 'failed' ? test.error?.split('\n')[0] : undefined)
    const entry = { key: String(index), title: test.title, note, end: durationText(test.duration) }
    return { ...entry, ...LOOKS[test.outcome], order: ORDER.indexOf(test.outcome) }
  })
  // Those of one outcome stay in the order in which they ran.
  const sorted: Entry[] = rows.sort((one, other) => one.order - other.order)
  if (others.length > 0) {
    const end = others.length.toLocaleString()
    const note = hints[0]?.message ?? 'without a key, or with that of an environment that no test has made'
    sorted.push({ key: 'others', title: 'Requests that no test made', note, tone: undefined, icon: 'requests', end })
  }
  const met = `${coverage.covered.toLocaleString()} of ${coverage.total.toLocaleString()}`
  return [
    ...sorted,
    { key: 'coverage', title: 'Coverage of the contract', note: undefined, tone: undefined, icon: 'ring', end: met }
  ]
}
