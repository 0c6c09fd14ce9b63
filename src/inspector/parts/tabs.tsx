import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

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
  const id = useId()
  const shown = tabs.find((tab) => tab.id === current) ?? tabs[0]
  const move = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (step === undefined || !shown) return
    event.preventDefault()
    const next = tabs.at((tabs.indexOf(shown) + step) % tabs.length)
    if (!next) return
    choose(next.id)
    document.getElementById(`${id}-${next.id}`)?.focus()
  }
  return (
    <>
      <div class="tabs" role="tablist" aria-label={label} onKeyDown={move}>
        {tabs.map((tab) => (
          <button
            key={tab.id}
            type="button"
            role="tab"
            id={`${id}-${tab.id}`}
            aria-selected={tab === shown}
            aria-controls={`${id}-panel`}
            tabIndex={tab === shown ? 0 : -1}
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
        id={`${id}-panel`}
        aria-labelledby={shown && `${id}-${shown.id}`}
        tabIndex={0}
      >
        {shown?.content()}
      </div>
    </>
  )
}
