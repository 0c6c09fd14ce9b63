import type { OtherRequest } from '../../client/index.js'
import type { Report } from '../../client/report.js'
import { Callout } from '../parts/chip.js'
import { Close, Pane } from '../parts/pane.js'
import { type Tab, Tabs } from '../parts/tabs.js'
import { hrefOf, open, type Place } from './place.js'
import { Requests } from './requests.js'

/** The requests that no test has made: by environment, and those without a valid key. */
export function OthersView({ report: { others, hints }, place }: { report: Report; place: Place }) {
  const entry = 'others'
  const groups = new Map<string | undefined, OtherRequest[]>()
  for (const request of others) groups.set(request.environment, [...(groups.get(request.environment) ?? []), request])
  const tabs = [...groups].map(([environment, requests], index): Tab => {
    const tab = String(index)
    return {
      id: tab,
      title: environment ?? 'Without a valid key',
      count: requests.length,
      content: () => (
        <Requests
          requests={requests}
          current={place.sequence}
          href={(sequence) => hrefOf({ entry, tab, sequence })}
          isKeyless={environment === undefined}
        />
      )
    }
  })
  const head = (
    <div class="head">
      <div class="head-title">
        <h2>Requests that no test made</h2>
        <Close back="#" />
      </div>
      {hints.map(({ id, environment = 'without a valid key', message }) => (
        <Callout key={`${id} ${environment} ${message}`} tone="warn" icon="warn">
          <span class="callout-text" dir="auto">
            {message}
          </span>
          <span class="hint" dir="auto">
            {environment}
          </span>
        </Callout>
      ))}
    </div>
  )
  return (
    <Pane label="Requests that no test made" head={head}>
      <Tabs label="By environment" tabs={tabs} current={place.tab} choose={(tab) => open({ entry, tab })} />
    </Pane>
  )
}
