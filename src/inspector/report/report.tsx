import { useMemo, useState } from 'preact/hooks'
import type { Report } from '../../client/report.js'
import { Chip } from '../parts/chip.js'
import { Icon } from '../parts/icon.js'
import { useKey } from '../parts/keys.js'
import { List } from '../parts/list.js'
import { Empty, SearchLine } from '../parts/list-view.js'
import { Close, Pane, Panes } from '../parts/pane.js'
import { ROW, ROW_WITH_NOTE, Row } from '../parts/row.js'
import { Tabs } from '../parts/tabs.js'
import { timeText } from '../parts/times.js'
import { addressOf, go, useRoute } from '../shell/router.js'
import { Note } from '../views/requests/exchange.js'
import { type Entry, entriesOf, OUTCOMES } from './entries.js'

/** The report of a run: its tests, failures first, and what each has sent, got, changed and left. */
export function RunReport({ report }: { report: Report }) {
  const { view, rest } = useRoute()
  const [text, change] = useState('')
  const entries = useMemo(() => entriesOf(report), [report])
  const words = text.toLowerCase().split(/\s+/)
  const placeholder = `Filter ${report.tests.length.toLocaleString()} tests`
  const isFound = (entry: Entry) =>
    words.every((word) => `${entry.title} ${noteOf(entry) ?? ''}`.toLowerCase().includes(word))
  const found = entries.filter(isFound)
  const entry = entries.find(({ key }) => key === view) ?? (entries[0] as Entry)
  useKey('escape', () => go('#/', { replace: true }))
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
              keyOf={({ key }) => key}
              heightOf={(each) => (noteOf(each) ? ROW_WITH_NOTE : ROW)}
              current={entry.key}
              isAimed
              choose={(key) => go(addressOf([String(key)]), { replace: true })}
            >
              {(each, row) => {
                const { key, title, tone, icon, end } = each
                return (
                  <Row {...{ ...row, title, tone, icon, end }} note={noteOf(each)} href={addressOf([key])}>
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

/** What is open: what it is, what is remarkable of it, and all of it in tabs. */
function EntryPane({ entry: { key, title, facts, findings, tabs }, tab }: { entry: Entry; tab: string | undefined }) {
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
