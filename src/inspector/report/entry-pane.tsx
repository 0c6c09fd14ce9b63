import { Close, Pane } from '../parts/pane.js'
import { Tabs } from '../parts/tabs.js'
import { hrefTo, navigate } from '../shell/router.js'
import { FindingCallout } from '../views/requests/finding.js'
import type { Entry } from './entries.js'

interface EntryPaneProps {
  entry: Entry
  tab: string | undefined
}

/** Shows an entry of the report: its findings, and tabs with its requests and changes. */
export function EntryPane({ entry, tab }: EntryPaneProps) {
  const { key, title, facts, findings, tabs, command } = entry
  const head = (
    <div class="head">
      <div class="head-title">
        <h2 dir="auto">{title}</h2>
        <span class="hint" dir="auto">
          {facts}
        </span>
        <Close back="#/" />
      </div>
      {findings.map(({ tab: findingTab = 'requests', ...finding }, index) => (
        <FindingCallout
          key={index}
          {...finding}
          href={(sequence) => hrefTo([key, findingTab, String(sequence)])}
        />
      ))}
      {command !== undefined && (
        <p class="hint reopen">
          Reopen this test: <code>{command}</code>
        </p>
      )}
    </div>
  )
  const select = (id: string) => navigate(hrefTo([key, id]), { replace: true })
  return (
    <Pane label={title} head={head}>
      <Tabs key={key} label="Views of the entry" tabs={tabs} current={tab} select={select} />
    </Pane>
  )
}
