import { useMemo, useRef, useState } from 'preact/hooks'
import { itemsOf, RequestList } from './rows.js'
import type { Place, Shown } from './shown.js'

interface Props {
  place: Place
  shown: Shown
  isPaused: boolean
  /** The sequence of the request that is open. */
  open: number | undefined
}

/** The list, which does not move while one reads it: what comes meanwhile waits. */
export function Reading({ place, shown: { requests, changes, seen, loadMore }, isPaused, open }: Props) {
  const { props, isReading, stop } = useReading()
  const newest = requests[0]?.sequence ?? 0
  const [, render] = useState({})
  /** The newest that is shown, and what was done until then. */
  const held = useRef({ newest, changes })
  const showAll = () => {
    held.current = { newest, changes }
  }
  if (!(isPaused || isReading)) showAll()
  const waiting = requests.findIndex(({ sequence }) => sequence <= held.current.newest)
  const told = held.current.changes
  const items = useMemo(
    () => itemsOf(requests.slice(Math.max(0, waiting)), place.line === '' ? told : [], !loadMore),
    [requests, waiting, told, !loadMore]
  )
  const showWaiting = () => {
    showAll()
    stop()
    render({})
  }
  return (
    <div {...props} class="reading">
      {waiting > 0 && (
        <button class="primary waiting" onClick={showWaiting}>
          {waiting.toLocaleString()} new
        </button>
      )}
      <RequestList
        label="Requests, newest first"
        {...{ items, seen }}
        current={open}
        isAimed={place.open !== undefined}
        href={(sequence) => place.to({ open: sequence })}
        onEnd={() => void loadMore?.()}
      />
    </div>
  )
}

/** Knows whether one reads a list: the mouse is over it, the focus is in it, or it is scrolled. */
function useReading() {
  const ref = useRef<HTMLDivElement>(null)
  const isOver = useRef(false)
  const [isReading, setReading] = useState(false)
  const list = () => ref.current?.querySelector('.list')
  const look = (event: Event) => {
    // A list that comes under a mouse at rest is not read yet, and a finger is nowhere once it has gone.
    if (event instanceof PointerEvent) isOver.current = event.type === 'pointermove' && event.pointerType === 'mouse'
    // The focus is not yet elsewhere when it leaves an element.
    setTimeout(() =>
      setReading(isOver.current || ref.current?.matches(':focus-within') === true || (list()?.scrollTop ?? 0) > 0)
    )
  }
  const stop = () => {
    list()?.scrollTo(0, 0)
    isOver.current = false
    setReading(false)
  }
  const listeners = {
    onPointerMove: look,
    onPointerLeave: look,
    onFocusIn: look,
    onFocusOut: look,
    onScrollCapture: look
  }
  return { props: { ref, ...listeners }, isReading, stop }
}
