import type { ReportedTest } from '../../client/report.js'
import { Callout } from '../parts/chip.js'
import { JsonTree } from '../parts/json-tree.js'
import { Close, Pane } from '../parts/pane.js'
import { type Tab, Tabs } from '../parts/tabs.js'
import { timeText } from '../parts/times.js'
import { type Finding, findingsOf, leftOf } from './findings.js'
import { hrefOf, open, type Place } from './place.js'
import { Requests } from './requests.js'

/** Requests that a finding names. */
const MAX_NAMED = 5

interface TestViewProps {
  test: ReportedTest
  place: Place
  entry: string
}

/** One test: why it failed, what is remarkable of it, its requests with their answers, and what it has left. */
export function TestView({ test, place: { tab, sequence }, entry }: TestViewProps) {
  const { title, file, outcome, error, environment, requests, lost, keyless, changes, left } = test
  const findings = findingsOf(test)
  const remainder = left ? leftOf(left) : []
  const keylessFirst = requests.length === 0 && keyless.length > 0
  const tabs: Tab[] = [
    {
      id: 'requests',
      title: 'Requests',
      count: requests.length,
      content: () => (
        <>
          {lost > 0 && <p class="hint">{lost.toLocaleString()} older ones were let go.</p>}
          <Requests
            {...{ requests, changes }}
            current={sequence}
            href={(chosen) => hrefOf({ entry, tab: 'requests', sequence: chosen })}
          />
        </>
      )
    },
    ...(keyless.length > 0
      ? [
          {
            id: 'keyless',
            title: 'Without a valid key',
            count: keyless.length,
            content: () => (
              <Requests
                requests={keyless}
                current={sequence}
                href={(chosen) => hrefOf({ entry, tab: 'keyless', sequence: chosen })}
                isKeyless
              />
            )
          }
        ]
      : []),
    { id: 'left', title: 'Left behind', count: remainder.length, content: () => <Left {...{ test, remainder }} /> },
    { id: 'environment', title: 'Environment', content: () => <EnvironmentOf test={test} /> }
  ]
  const head = (
    <div class="head">
      <div class="head-title">
        <h2 dir="auto">{title}</h2>
        <span class="hint" dir="auto">
          {[file, outcome, `environment ${environment}`].filter(Boolean).join(' · ')}
        </span>
        <Close back="#" />
      </div>
      {error !== undefined && (
        <Callout tone="bad" icon="close">
          <pre class="callout-text">{error}</pre>
        </Callout>
      )}
      {findings.map((finding, index) => (
        <FindingNote key={index} {...{ finding, entry }} />
      ))}
    </div>
  )
  return (
    <Pane label={title} head={head}>
      <Tabs
        label="Of this test"
        tabs={tabs}
        current={tab ?? (keylessFirst ? 'keyless' : 'requests')}
        choose={(id) => open({ entry, tab: id })}
      />
    </Pane>
  )
}

function FindingNote({ finding, entry }: { finding: Finding; entry: string }) {
  const { tone, message, requests, isKeyless } = finding
  const tab = isKeyless ? 'keyless' : 'requests'
  return (
    <Callout tone={tone} icon={tone === 'fault' ? 'bolt' : tone === 'accent' ? 'flow' : 'warn'}>
      <span class="callout-text" dir="auto">
        {message}
      </span>
      <span>
        {requests.slice(-MAX_NAMED).map((sequence) => (
          <a key={sequence} href={hrefOf({ entry, tab, sequence })}>
            #{sequence}{' '}
          </a>
        ))}
      </span>
    </Callout>
  )
}

/** How the end of the environment differs from its beginning. */
function Left({ test: { left }, remainder }: { test: ReportedTest; remainder: readonly string[] }) {
  if (!left || remainder.length === 0) return <p class="muted">All is as it was at its beginning.</p>
  const fields = [left.integrations, left.messages, left.workflows, left.subscribers].flatMap(
    ({ changed }) => changed.fields ?? []
  )
  return (
    <>
      <ul class="records">
        {remainder.map((each) => (
          <li key={each} dir="auto">
            {each}
          </li>
        ))}
      </ul>
      {fields.length > 0 && (
        <section>
          <h3>Fields</h3>
          <dl class="facts mono">
            {fields.map(({ id, field, before, after }) => [
              <dt key={`${id} ${field}`} dir="auto">
                {id} {field}
              </dt>,
              <dd key={`${id} ${field}:`} dir="auto">
                <del>{before ?? 'absent'}</del> <ins>{after ?? 'absent'}</ins>
              </dd>
            ])}
          </dl>
        </section>
      )}
    </>
  )
}

function EnvironmentOf({ test: { environment, started, faults } }: { test: ReportedTest }) {
  return (
    <>
      <dl class="facts">
        <dt>Name</dt>
        <dd dir="auto">{environment}</dd>
        <dt>Created</dt>
        <dd>{timeText(started)}</dd>
      </dl>
      <section>
        <h3>Fault rules at its end</h3>
        {faults.length === 0 ? <p class="muted">None.</p> : <JsonTree value={faults} label="Fault rules" />}
      </section>
    </>
  )
}
