import type { ComponentChildren, RefObject } from 'preact'
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { ROW } from './row.js'

type Key = string | number

interface Place {
  isCurrent: boolean
  tabIndex: number
}

export interface ListProps<Item> {
  label: string
  items: readonly Item[]
  /** Undefined for what one passes by, such as an event between the rows. */
  keyOf(item: Item): Key | undefined
  /** In pixels; 28 if left out. What it returns must be so. */
  heightOf?(item: Item): number
  /** The key of the item that is open. */
  current?: Key | undefined
  /** Opens an item to which the arrows have come. */
  choose(key: Key): void
  children(item: Item, place: Place): ComponentChildren
  /** Called when the end comes into sight, to load more. */
  onEnd?(): void
  /** After the last item. */
  foot?: ComponentChildren
}

/** Pixels beyond the edges within which rows exist. */
const MARGIN = 400

/**
 * A list of any length, as the body of a pane: only the rows in sight exist. The arrows, Page, Home and End walk from one
 * item to the next, so that the list as a whole is one stop of Tab.
 */
export function List<Item>(props: ListProps<Item>) {
  const { label, items, keyOf, heightOf = () => ROW, current, choose, children, onEnd, foot } = props
  const ref = useRef<HTMLDivElement>(null)
  const wanted = useRef<Key | undefined>(undefined)
  const [sight, look] = useSight(ref)
  const tops = useMemo(() => {
    let top = 0
    const sums = items.map((item) => {
      const own = top
      top += heightOf(item)
      return own
    })
    return [...sums, top]
  }, [items])
  const total = tops.at(-1) ?? 0
  const first = Math.max(0, placeIn(tops, sight.top - MARGIN))
  const last = Math.min(items.length, placeIn(tops, sight.top + sight.height + MARGIN) + 1)
  const keys = useMemo(() => items.map(keyOf), [items])
  const focusable = current !== undefined && keys.includes(current) ? current : keys.find((key) => key !== undefined)

  useLayoutEffect(() => {
    if (wanted.current === undefined) return
    const row = ref.current?.querySelector<HTMLElement>(
      `[data-key="${CSS.escape(String(wanted.current))}"] [data-item]`
    )
    if (!row) return
    wanted.current = undefined
    row.focus({ preventScroll: true })
  })
  useLayoutEffect(() => {
    if (last >= items.length && items.length > 0) onEnd?.()
  }, [last, items.length])

  const walk = (event: KeyboardEvent) => {
    const element = ref.current
    if (!element || event.ctrlKey || event.metaKey || event.altKey) return
    const focused = element.querySelector('[data-key]:focus-within')?.getAttribute('data-key')
    const index = keys.findIndex((key) => String(key) === (focused ?? String(current)))
    const page = Math.max(1, Math.floor(sight.height / ROW) - 1)
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -items.length, End: items.length }
    const step = steps[event.key as keyof typeof steps]
    if (step === undefined) return
    event.preventDefault()
    const next = nearest(keys, Math.max(0, Math.min(items.length - 1, index + step)), Math.sign(step))
    const key = keys[next]
    if (key === undefined) return
    const [top = 0, bottom = 0] = tops.slice(next, next + 2)
    if (top < element.scrollTop) element.scrollTop = top
    else if (bottom > element.scrollTop + element.clientHeight) element.scrollTop = bottom - element.clientHeight
    wanted.current = key
    look()
    choose(key)
  }
  return (
    <div ref={ref} class="pane-body list" onKeyDown={walk} onScroll={look}>
      <ol
        aria-label={label}
        style={{ paddingTop: `${tops[first]}px`, paddingBottom: `${total - (tops[last] ?? total)}px` }}
      >
        {items.slice(first, last).map((item, offset) => {
          const key = keys[first + offset]
          return (
            <li
              key={key ?? `passed ${first + offset}`}
              data-key={key}
              aria-setsize={items.length}
              aria-posinset={first + offset + 1}
            >
              {children(item, {
                isCurrent: key !== undefined && key === current,
                tabIndex: key === focusable ? 0 : -1
              })}
            </li>
          )
        })}
      </ol>
      {foot}
    </div>
  )
}

/** What is in sight of a list that scrolls, and what looks again. */
function useSight(ref: RefObject<HTMLDivElement | null>) {
  const [sight, setSight] = useState({ top: 0, height: 1000 })
  const look = () => {
    const { scrollTop = 0, clientHeight = 0 } = ref.current ?? {}
    setSight({ top: scrollTop, height: clientHeight })
  }
  useLayoutEffect(() => {
    const observer = new ResizeObserver(look)
    if (ref.current) observer.observe(ref.current)
    return () => observer.disconnect()
  }, [])
  return [sight, look] as const
}

/** Returns the index of the last of these rising numbers that is not greater. */
function placeIn(tops: readonly number[], wanted: number): number {
  let low = 0
  let high = tops.length - 1
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((tops[middle] ?? 0) <= wanted) low = middle
    else high = middle - 1
  }
  return low
}

/** Returns the index of the item from here on, else the other way, that can be opened. */
function nearest(keys: readonly (Key | undefined)[], from: number, direction: number): number {
  for (const step of [direction, -direction]) {
    for (let index = from; index >= 0 && index < keys.length; index += step) if (keys[index] !== undefined) return index
  }
  return -1
}
