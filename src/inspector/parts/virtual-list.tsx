import type { ComponentChildren, RefObject } from 'preact'
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { type Key, type ListLayout, layoutRows, rowAt, topOf } from './list-layout.js'
import { ROW_HEIGHT } from './list-row.js'

interface RowPlace {
  isCurrent: boolean
  tabIndex: number
}

export interface VirtualListProps<Item> {
  label: string
  items: readonly Item[]
  /**
   * Returns the key of an item, or undefined if the item's row can't be focused. In the list of
   * requests, rows that show a change between two requests can't be focused.
   */
  keyOf(item: Item): Key | undefined
  /** Returns the exact height of an item's row in pixels; 28 by default. */
  heightOf?(item: Item): number
  /** The key of the open item. */
  current?: Key | undefined
  /** Whether to scroll the open item into view. */
  isScrolledTo?: boolean
  /** Opens an item. Called when a key press moves the focus to its row. */
  select(key: Key): void
  children(item: Item, place: RowPlace): ComponentChildren
  /** Loads more items when the end of the list becomes visible; undefined if all are loaded. */
  onEnd?: (() => void) | undefined
}

type ListRef = RefObject<HTMLDivElement | null>

/** Rows up to this many pixels above or below the visible part are rendered too. */
const MARGIN = 400

/**
 * A list of any length that renders only the rows in or near its visible part. The arrow keys, Page
 * Up, Page Down, Home and End move between items, so the whole list is a single Tab stop.
 */
export function VirtualList<Item>(props: VirtualListProps<Item>) {
  const { label, items, keyOf, heightOf = () => ROW_HEIGHT, current, children, onEnd } = props
  const ref = useRef<HTMLDivElement>(null)
  const layout = useMemo(() => layoutRows(items, keyOf, heightOf), [items])
  const { visible, measure, reveal } = useVisiblePart(ref, layout)
  const first = Math.max(0, rowAt(layout, visible.top - MARGIN))
  const end = rowAt(layout, visible.top + visible.height + MARGIN) + 1
  const last = Math.min(items.length, end)
  const open = layout.focusable.find((index) => layout.keys[index] === current) ?? -1
  const isOpenRendered = open >= first && open < last
  const topRow = rowAt(layout, visible.top)
  const tabStop = isOpenRendered ? open : layout.focusable.find((index) => index >= topRow)
  useLayoutEffect(() => {
    if (props.isScrolledTo && open !== -1) reveal(open)
  }, [props.isScrolledTo, current, open === -1])
  const focusLater = useFocusOnceRendered(ref)
  useLayoutEffect(() => {
    if (last === items.length && last > 0) onEnd?.()
  }, [last, items])

  const onKeyDown = (event: KeyboardEvent) => {
    const index = indexAfterKey(event, layout, visible.height)
    if (index === undefined) return
    event.preventDefault()
    const key = layout.keys[index]
    if (key === undefined) return
    focusLater(key)
    reveal(index)
    props.select(key)
  }
  const space = `${topOf(layout, first)}px 0 ${topOf(layout, items.length) - topOf(layout, last)}px`
  return (
    <div ref={ref} class="pane-body list" onKeyDown={onKeyDown} onScroll={measure}>
      <ol aria-label={label} style={{ padding: space }}>
        {items.slice(first, last).map((item, offset) => {
          const index = first + offset
          const key = layout.keys[index]
          return (
            <li
              key={key ?? `row ${index}`}
              data-key={key}
              aria-setsize={items.length}
              aria-posinset={index + 1}
            >
              {children(item, { isCurrent: index === open, tabIndex: index === tabStop ? 0 : -1 })}
            </li>
          )
        })}
      </ol>
    </div>
  )
}

/** Tracks which part of the list is visible. `reveal` scrolls just far enough to show a row. */
function useVisiblePart(ref: ListRef, layout: ListLayout) {
  const [visible, setVisible] = useState({ top: 0, height: 1000 })
  const measure = () => {
    const element = ref.current
    if (element) setVisible({ top: element.scrollTop, height: element.clientHeight })
  }
  const reveal = (index: number) => {
    const element = ref.current
    if (!element) return
    const lowestScroll = topOf(layout, index + 1) - element.clientHeight
    element.scrollTop = Math.min(topOf(layout, index), Math.max(lowestScroll, element.scrollTop))
    measure()
  }
  useLayoutEffect(() => {
    const observer = new ResizeObserver(measure)
    if (ref.current) observer.observe(ref.current)
    return () => observer.disconnect()
  }, [])
  return { visible, measure, reveal }
}

/** Returns a function that focuses the row with a given key as soon as that row is rendered. */
function useFocusOnceRendered(ref: ListRef): (key: Key) => void {
  const pending = useRef<Key | undefined>(undefined)
  useLayoutEffect(() => {
    const key = CSS.escape(`${pending.current}`)
    const row = ref.current?.querySelector<HTMLElement>(`[data-key="${key}"] [data-item]`)
    if (!row) return
    pending.current = undefined
    row.focus({ preventScroll: true })
  })
  return (key) => {
    pending.current = key
  }
}

/**
 * Returns the index of the row that a key press moves the focus to; undefined if the key doesn't
 * move the focus.
 */
function indexAfterKey(
  event: KeyboardEvent,
  { keys, focusable }: ListLayout,
  visibleHeight: number
): number | undefined {
  const pageSize = Math.max(1, Math.floor(visibleHeight / ROW_HEIGHT) - 1)
  const steps: Record<string, number> = {
    ArrowDown: 1,
    ArrowUp: -1,
    PageDown: pageSize,
    PageUp: -pageSize,
    Home: -keys.length,
    End: keys.length
  }
  const step = steps[event.key]
  if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return undefined
  const focusedKey = document.activeElement?.closest('[data-key]')?.getAttribute('data-key')
  const from = focusable.findIndex((index) => `${keys[index]}` === focusedKey)
  return focusable[Math.max(0, Math.min(focusable.length - 1, from + step))]
}
