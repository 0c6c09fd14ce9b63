import type { ComponentChildren } from 'preact'
import { moveFocus } from './keys.js'

export interface Tab {
  id: string
  title: string
  count?: number | undefined
  content(): ComponentChildren
}

interface TabsProps {
  tabs: readonly Tab[]
  /** The id of the one that is shown; the first if there is none of that id. */
  current: string | undefined
  choose(id: string): void
  label: string
}

/** Several contents of a pane, one at a time; the arrows go from one to the next. */
export function Tabs({ tabs, current, choose, label }: TabsProps) {
  const shown = tabs.find(({ id }) => id === current) ?? tabs[0]
  return (
    <>
      <div class="tabs" role="tablist" aria-label={label} onKeyDown={moveFocus}>
        {tabs.map((tab) => (
          <button
            key={tab.id}
            data-item
            role="tab"
            aria-selected={tab === shown}
            tabIndex={tab === shown ? 0 : -1}
            onFocus={() => tab !== shown && choose(tab.id)}
            onClick={() => choose(tab.id)}
          >
            {tab.title}
            {tab.count !== undefined && <span class="muted">{tab.count.toLocaleString()}</span>}
          </button>
        ))}
      </div>
      <div
        key={shown?.id}
        class="pane-body is-padded"
        role="tabpanel"
        aria-label={shown?.title}
        tabIndex={0}
      >
        {shown?.content()}
      </div>
    </>
  )
}
