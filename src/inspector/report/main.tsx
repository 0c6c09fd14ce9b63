import { render } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import type { Report } from '../../client/report.js'
import { EmptyList } from '../parts/empty.js'
import { useShortcut } from '../parts/keyboard.js'
import { ListRow, ROW_HEIGHT, ROW_WITH_NOTE_HEIGHT } from '../parts/list-row.js'
import { Pane, Panes } from '../parts/pane.js'
import { SearchLine } from '../parts/search-line.js'
import { VirtualList } from '../parts/virtual-list.js'
import { hrefTo, navigate, useRoute } from '../shell/router.js'
import { type Entry, entriesOf } from './entries.js'
import { EntryPane } from './entry-pane.js'
import { RunHead } from './run-head.js'
import '../style.css'
import './style.css'

/**
 * The report of a test run. Lists the tests, failed tests first, and shows their requests and
 * leftover changes.
 */
function RunReport({ report }: { report: Report }) {
  const { view, rest } = useRoute()
  const entries = useMemo(() => entriesOf(report), [report])
  const [filter, setFilter] = useState('')
  const [search, setSearch] = useState('')
  const matches = entries.filter((entry) => isMatch(entry, filter, search))
  const entry = entries.find(({ key }) => key === view) ?? matches[0] ?? (entries[0] as Entry)
  useShortcut('escape', () => navigate('#/', { replace: true }))
  return (
    <div class="report">
      <RunHead report={report} filter={filter} changeFilter={setFilter} />
      <main class="view">
        <Panes isOpen={view !== ''}>
          <EntryList
            entries={matches}
            search={search}
            changeSearch={setSearch}
            current={entry.key}
            testCount={report.tests.length}
          />
          <EntryPane entry={entry} tab={rest[0]} />
        </Panes>
      </main>
    </div>
  )
}

/**
 * Returns whether an entry has the label `filter` and contains all words of the search. Every entry
 * matches an empty filter or search.
 */
function isMatch(entry: Entry, filter: string, search: string): boolean {
  if (filter !== '' && !entry.labels.includes(filter)) return false
  const text = `${entry.title} ${entry.facts} ${noteOf(entry) ?? ''}`.toLowerCase()
  const words = search.toLowerCase().split(/\s+/)
  return words.every((word) => text.includes(word))
}

interface EntryListProps {
  entries: readonly Entry[]
  search: string
  changeSearch(search: string): void
  current: string
  testCount: number
}

function EntryList({ entries, search, changeSearch, current, testCount }: EntryListProps) {
  const head = (
    <SearchLine
      label="Search tests"
      placeholder={`Filter ${testCount.toLocaleString()} tests`}
      text={search}
      change={changeSearch}
    />
  )
  return (
    <Pane label="All tests" head={head}>
      {entries.length === 0 && <EmptyList title="No matching tests" />}
      <VirtualList
        label="Tests"
        items={entries}
        keyOf={({ key }) => key}
        heightOf={(entry) => (noteOf(entry) ? ROW_WITH_NOTE_HEIGHT : ROW_HEIGHT)}
        current={current}
        isScrolledTo
        select={(key) => navigate(hrefTo([String(key)]), { replace: true })}
      >
        {(entry, place) => (
          <ListRow
            {...place}
            title={entry.title}
            tone={entry.tone}
            icon={entry.icon}
            end={entry.end}
            note={noteOf(entry)}
            href={hrefTo([entry.key])}
          >
            <span class={entry.tone === 'bad' ? 'is-strong' : undefined}>{entry.title}</span>
          </ListRow>
        )}
      </VirtualList>
    </Pane>
  )
}

/**
 * Returns the first line of an entry's most useful finding. Skips the test's error if there is
 * another finding, because users have usually seen the error already.
 */
const noteOf = ({ findings }: Entry) =>
  (findings.find(({ tone }) => tone !== 'bad') ?? findings[0])?.message.split('\n')[0]

/**
 * Reads the report from the HTML file, which contains it as JSON. The JSON is either plain, or
 * compressed and then base64-encoded.
 */
async function readReport(): Promise<Report> {
  const { textContent, dataset } = document.getElementById('report') as HTMLElement
  const text = textContent ?? ''
  if (dataset.encoding !== 'deflate-raw') return JSON.parse(text)
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))
  const json = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'))
  return new Response(json).json()
}

const report = await readReport()
document.title = report.run.command ?? 'notification-mock'
render(<RunReport report={report} />, document.getElementById('app') as HTMLElement)
