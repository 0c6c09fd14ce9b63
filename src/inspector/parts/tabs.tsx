import type { ComponentChildren } from 'preact'
import { moveFocus } from './keyboard.js'

export interface Tab {
  id: string
  title: string
  count?: number | undefined
  content(): ComponentChildren
}

interface TabsProps {
  tabs: readonly Tab[]
  /** The selected tab's id. If no tab has this id, the first tab is selected. */
  current: string | undefined
  select(id: string): void
  label: string
}

/** A row of tabs, followed by the selected tab's content. The arrow keys move between tabs. */
export function Tabs({ tabs, current, select, label }: TabsProps) {
  const selected = tabs.find(({ id }) => id === current) ?? tabs[0]
  return (
    <>
      <div class="tabs" role="tablist" aria-label={label} onKeyDown={moveFocus}>
        {tabs.map((tab) => (
          <button
            key={tab.id}
            data-item
            role="tab"
            aria-selected={tab === selected}
            tabIndex={tab === selected ? 0 : -1}
            onFocus={() => tab !== selected && select(tab.id)}
            onClick={() => select(tab.id)}
          >
            {tab.title}
            {tab.count !== undefined && <span class="muted">{tab.count.toLocaleString()}</span>}
          </button>
        ))}
      </div>
      <div
        key={selected?.id}
        class="pane-body is-padded"
        role="tabpanel"
        aria-label={selected?.title}
        tabIndex={0}
      >
        {selected?.content()}
      </div>
    </>
  )
}
