import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { ROW } from './row.js'

type Key = string | number

export interface ListProps<Item> {
  label: string
  items: readonly Item[]
  /** Undefined for what one passes by, such as an event between the rows. */
  keyOf(item: Item): Key | undefined
  /** In pixels; 28 if left out. What it returns must be so. */
  heightOf?(item: Item): number
  /** The key of the item that is open. */
  current?: Key | undefined
  /** Whether an address has opened it, so that it comes into sight. */
  isAimed?: boolean
  /** Opens an item to which the arrows have come. */
  choose(key: Key): void
  children(item: Item, place: { isCurrent: boolean; tabIndex: number }): ComponentChildren
  /** Called when the end comes into sight, to load more; undefined while there is nothing to load. */
  onEnd?: (() => void) | undefined
}

/** Pixels beyond the edges within which rows exist. */
const MARGIN = 400

/**
 * A list of any length, as the body of a pane: only the rows in sight exist. The arrows, Page, Home and End walk from one
 * item to the next, so that the list as a whole is one stop of Tab.
 */
export function List<Item>(props: ListProps<Item>) {
  const {
    label,
    items,
    keyOf,
    heightOf = () => ROW,
    current,
    isAimed,
    choose,
    children,
    onEnd
  } = props
  const ref = useRef<HTMLDivElement>(null)
  /** The key of the row that is to get the focus once it exists. */
  const wanted = useRef<Key | undefined>(undefined)
  const [sight, setSight] = useState({ top: 0, height: 1000 })
  const { keys, passable, tops } = useMemo(() => {
    const tops = [0]
    for (const item of items) tops.push((tops.at(-1) ?? 0) + heightOf(item))
    const keys = items.map(keyOf)
    return { keys, passable: [...keys.keys()].filter((index) => keys[index] !== undefined), tops }
  }, [items])
  const topOf = (index: number) => tops[index] ?? 0
  const rowAt = (height: number) => tops.findLastIndex((top) => top <= height)
  const first = Math.max(0, rowAt(sight.top - MARGIN))
  const last = Math.min(items.length, rowAt(sight.top + sight.height + MARGIN) + 1)
  const open = passable.find((index) => keys[index] === current) ?? -1
  const highest = rowAt(sight.top)
  const focusable = open >= first && open < last ? open : passable.find((index) => index >= highest)

  /** Sees what is in sight, at first with a row brought into it. */
  const look = (index?: number) => {
    const element = ref.current
    if (!element) return
    const { scrollTop, clientHeight } = element
    if (index !== undefined) {
      element.scrollTop = Math.min(
        topOf(index),
        Math.max(topOf(index + 1) - clientHeight, scrollTop)
      )
    }
    setSight({ top: element.scrollTop, height: clientHeight })
  }
  useLayoutEffect(() => {
    const observer = new ResizeObserver(() => look())
    if (ref.current) observer.observe(ref.current)
    return () => observer.disconnect()
  }, [])
  useLayoutEffect(() => {
    if (isAimed && open !== -1) look(open)
  }, [isAimed, current, open === -1])
  useLayoutEffect(() => {
    const row = ref.current?.querySelector<HTMLElement>(
      `[data-key="${CSS.escape(`${wanted.current}`)}"] [data-item]`
    )
    if (!row) return
    wanted.current = undefined
    row.focus({ preventScroll: true })
  })
  useLayoutEffect(() => {
    if (last === items.length && last > 0) onEnd?.()
  }, [last, items])

  const walk = (event: KeyboardEvent) => {
    const page = Math.max(1, Math.floor(sight.height / ROW) - 1)
    const steps = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: page,
      PageUp: -page,
      Home: -items.length,
      End: items.length
    }
    const step = steps[event.key as keyof typeof steps]
    if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    const focused = document.activeElement?.closest('[data-key]')?.getAttribute('data-key')
    const from = passable.findIndex((index) => `${keys[index]}` === focused)
    const next = passable[Math.max(0, Math.min(passable.length - 1, from + step))] ?? -1
    const key = keys[next]
    if (key === undefined) return
    wanted.current = key
    look(next)
    choose(key)
  }
  return (
    <div ref={ref} class="pane-body list" onKeyDown={walk} onScroll={() => look()}>
      <ol
        aria-label={label}
        style={{ padding: `${topOf(first)}px 0 ${topOf(items.length) - topOf(last)}px` }}
      >
        {items.slice(first, last).map((item, offset) => {
          const index = first + offset
          const key = keys[index]
          const place = { isCurrent: index === open, tabIndex: index === focusable ? 0 : -1 }
          return (
            <li
              key={key ?? `passed ${index}`}
              data-key={key}
              aria-setsize={items.length}
              aria-posinset={index + 1}
            >
              {children(item, place)}
            </li>
          )
        })}
      </ol>
    </div>
  )
}
