import { useMemo, useRef, useState } from 'preact/hooks'
import type { Change } from '../../../client/index.js'
import type { RequestsLocation } from './location.js'
import { RequestList, withChanges } from './request-list.js'
import type { ListedRequests } from './use-requests.js'

interface Props {
  location: RequestsLocation
  listed: ListedRequests
  isPaused: boolean
  /** The sequence number of the open request. */
  open: number | undefined
}

/**
 * The list of requests. While the list is paused or in use, new requests wait behind a button. The
 * list is in use while it is under the mouse, focused, or scrolled down.
 */
export function PausableRequestList({ location, listed, isPaused, open }: Props) {
  const { requests, changes, loadMore } = listed
  const { ref, shown, listeners, release } = useHeldBack(listed, isPaused)
  const newestShown = requests.findIndex(({ sequence }) => sequence <= shown.newest)
  const waitingCount = Math.max(0, newestShown)
  const shownChanges = location.search === '' ? shown.changes : []
  const isComplete = !loadMore
  const items = useMemo(
    () => withChanges(requests.slice(waitingCount), shownChanges, isComplete),
    [requests, waitingCount, shown.changes, location.search === '', isComplete]
  )
  const isHolding = newestShown > 0 || shown.changes !== changes
  return (
    <div ref={ref} class="request-list" {...listeners(isHolding)}>
      {waitingCount > 0 && (
        <button class="primary waiting" onClick={release}>
          {waitingCount.toLocaleString()} new
        </button>
      )}
      <RequestList
        label="Requests, newest first"
        items={items}
        current={open}
        href={(sequence) => location.href({ open: sequence })}
        isScrolledTo={location.open !== undefined}
        onEnd={() => loadMore?.()}
      />
    </div>
  )
}

/** The part of the journal that the list shows. */
interface Shown {
  /** The sequence number of the newest request that is shown. */
  newest: number
  changes: readonly Change[]
}

/**
 * Holds back new requests while the list is paused or in use. `release` shows these requests. The
 * event handlers from `listeners` also show them, unless the list is paused or still in use.
 */
function useHeldBack({ requests, changes }: ListedRequests, isPaused: boolean) {
  const ref = useRef<HTMLDivElement>(null)
  const [, rerender] = useState({})
  const isUnderMouse = useRef(false)
  const list = ref.current?.querySelector('.list')
  const isFocused = ref.current?.matches(':focus-within')
  const isInUse = isUnderMouse.current || isFocused || (list?.scrollTop ?? 0) > 0
  const latest: Shown = { newest: requests[0]?.sequence ?? 0, changes }
  const shown = useRef(latest)
  if (!isPaused && !isInUse) shown.current = latest
  const release = () => {
    shown.current = latest
    isUnderMouse.current = false
    list?.scrollTo(0, 0)
    rerender({})
  }
  const listeners = (isHolding: boolean) => {
    const checkUse = () => {
      // Wait, because during `focusout` the next element doesn't have the focus yet.
      if (isHolding) setTimeout(() => rerender({}))
    }
    const onPointer = ({ type, pointerType }: PointerEvent) => {
      // Only the movement of a mouse counts as use. A mouse at rest doesn't, because the list may
      // have appeared under it. A tap doesn't, because it leaves no pointer behind.
      isUnderMouse.current = type === 'pointermove' && pointerType === 'mouse'
      if (!isUnderMouse.current) checkUse()
    }
    return {
      onPointerMove: onPointer,
      onPointerLeave: onPointer,
      onFocusOut: checkUse,
      onScrollCapture: checkUse
    }
  }
  return { ref, shown: shown.current, listeners, release }
}
