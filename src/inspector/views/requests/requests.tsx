import { useMemo, useRef, useState } from 'preact/hooks'
import { hintsOf } from '../../../client/hints.js'
import { toneClass } from '../../parts/chip.js'
import { ErrorNote } from '../../parts/errors.js'
import { useKey } from '../../parts/keys.js'
import { Empty, NothingOpen, SearchLine } from '../../parts/list-view.js'
import { Pane, Panes, Scroll } from '../../parts/pane.js'
import { Popover } from '../../parts/popover.js'
import { run } from '../../parts/toast.js'
import { type Feed, useFeed } from '../../shell/live.js'
import { useCommands } from '../../shell/palette.js'
import { go, type Route } from '../../shell/router.js'
import { useSession } from '../../shell/session.js'
import { RequestDetail } from './detail.js'
import { changeText, itemsOf, Note, RequestList, targetOf, toneOf } from './rows.js'
import {
  isUnauthenticated,
  type Place,
  placeOf,
  type Shown,
  UNAUTHENTICATED,
  useShown,
  useUnauthenticatedCount
} from './shown.js'

/** The newest requests, which the line of time and the hints are of; milliseconds until these show what came. */
const NEWEST = 400
const SHOWN_AFTER = 500
/** Of the line of time in pixels: from one tick to the next, a pause at most, and a tick at most. */
const [STEP, MAX_GAP, MAX_HEIGHT] = [4, 28, 25]
const WORDS = `Words are found, and status:4xx or none, path:/v1, operation:list, since:10m and ${UNAUTHENTICATED}.`

/** The requests as they come, and the one that is open; at first that is the newest that failed. */
export function RequestsView({ route }: { route: Route }) {
  const { env } = useSession()
  const [isPaused, setPaused] = useState(false)
  const own = { place: placeOf(route), isPaused, unauthenticated: useUnauthenticatedCount() }
  const pause = () => setPaused(!isPaused)
  useKey('p', pause)
  useCommands([
    {
      name: 'Delete all requests',
      run: () =>
        confirm('Delete all requests, and what was changed between them?') &&
        run(() => env.requests.clear(), 'All requests are deleted')
    }
  ])
  return (
    <div class="view">
      <h1 class="visually-hidden">Requests</h1>
      <RequestPanes {...own} />
      <TimeStrip {...own} pause={pause} />
    </div>
  )
}

interface PanesProps {
  place: Place
  isPaused: boolean
  /** How many requests have come without a valid key. */
  unauthenticated: number
}

/** A list of requests with its search, and the one that is open beside it. */
function RequestPanes({ place, isPaused, unauthenticated }: PanesProps) {
  const panes = useRef<HTMLDivElement>(null)
  const [tab, chooseTab] = useState<string>()
  const shown = useShown(place.line, unauthenticated)
  const { requests, isLoaded, error } = shown
  // The newest that failed when the list was first there, or else the first that fails; it stays that one.
  const failed = useRef<number | undefined>(undefined)
  const isThere = place.line !== '' || requests.some(({ sequence }) => sequence === failed.current)
  if (!isThere) failed.current = requests.find(toneOf)?.sequence
  const open = place.open ?? (place.line === '' ? failed.current : undefined)
  useKey('escape', () => {
    const row = panes.current?.querySelector<HTMLElement>('[data-item][aria-current="true"]')
    go(place.to({ open: undefined }))
    setTimeout(() => row?.focus())
  })
  const find = (line: string) => {
    // The sequence of one is that of another in the other journal.
    const open = isUnauthenticated(line) === shown.isUnauthenticatedList ? place.open : undefined
    go(place.to({ line, open }), { replace: true })
  }
  const search = (
    <SearchLine
      label="Search requests"
      placeholder="words, status:4xx path: operation: since:"
      text={place.line}
      change={find}
    >
      <span class="hint">{`${requests.length.toLocaleString()}${shown.loadMore ? '+' : ''}`}</span>
    </SearchLine>
  )
  return (
    <Panes ref={panes} isOpen={place.open !== undefined}>
      <Pane label="All requests" head={search}>
        {error !== undefined && <ErrorNote error={error} />}
        {requests.length > 0 || !isLoaded ? (
          <Reading {...{ place, shown, isPaused, open }} />
        ) : (
          <Scroll>
            {place.line === '' ? (
              <NoRequests />
            ) : (
              <Empty title="No request is like that">{WORDS}</Empty>
            )}
          </Scroll>
        )}
      </Pane>
      {open === undefined ? (
        <NothingOpen back={undefined}>What is chosen opens here, with its answer.</NothingOpen>
      ) : (
        <RequestDetail {...{ place, shown, tab, chooseTab }} sequence={open} />
      )}
    </Panes>
  )
}

/** In place of the list while nothing has come. */
function NoRequests() {
  const { env, call } = useSession()
  return (
    <Empty title="Nothing has come yet">
      <p>
        Point your app at {env.url}, with the key of this environment, and each of its requests
        shows up here.
      </p>
      <button class="primary" onClick={() => run(() => call('GET', '/v1/messages'))}>
        Send one from here
      </button>
    </Empty>
  )
}

type ReadingProps = Pick<PanesProps, 'place' | 'isPaused'> & {
  shown: Shown
  open: number | undefined
}

/** The list, which does not move while one reads it: what comes meanwhile waits. */
function Reading({
  place,
  shown: { requests, changes, seen, loadMore },
  isPaused,
  open
}: ReadingProps) {
  const ref = useRef<HTMLDivElement>(null)
  const [, render] = useState({})
  const list = ref.current?.querySelector('.list')
  const isOver = useRef(false)
  const isReading =
    isOver.current || ref.current?.matches(':focus-within') || (list?.scrollTop ?? 0) > 0
  const present = { newest: requests[0]?.sequence ?? 0, changes }
  /** The newest that is shown, and what was done until then. */
  const held = useRef(present)
  if (!(isPaused || isReading)) held.current = present
  const { newest, changes: told } = held.current
  const waiting = requests.findIndex(({ sequence }) => sequence <= newest)
  const items = useMemo(
    () => itemsOf(requests.slice(Math.max(0, waiting)), place.line === '' ? told : [], !loadMore),
    [requests, waiting, told, !loadMore]
  )
  const showAll = () => {
    held.current = present
    isOver.current = false
    list?.scrollTo(0, 0)
    render({})
  }
  const move = ({ type, pointerType }: PointerEvent) => {
    // A list that comes under a mouse at rest is not read yet, and a finger is nowhere once it has gone.
    isOver.current = type === 'pointermove' && pointerType === 'mouse'
    if (!isOver.current) look()
  }
  // The focus is not yet elsewhere when it leaves an element.
  const look = () => (waiting > 0 || told !== changes) && setTimeout(() => render({}))
  const listeners = {
    onPointerMove: move,
    onPointerLeave: move,
    onFocusOut: look,
    onScrollCapture: look
  }
  return (
    <div ref={ref} class="reading" {...listeners}>
      {waiting > 0 && (
        <button class="primary waiting" onClick={showAll}>
          {waiting.toLocaleString()} new
        </button>
      )}
      <RequestList
        label="Requests, newest first"
        {...{ items, seen }}
        current={open}
        href={(sequence) => place.to({ open: sequence })}
        isAimed={place.open !== undefined}
        onEnd={() => void loadMore?.()}
      />
    </div>
  )
}

/** The line of time above the panes, with what the newest requests let suspect. */
function TimeStrip({ place, isPaused, unauthenticated, pause }: PanesProps & { pause(): void }) {
  const { requests, changes, problem } = useFeed(SHOWN_AFTER)
  const newest = requests.slice(0, NEWEST)
  const hints = useMemo(() => hintsOf(newest.toReversed(), changes), [requests, changes])
  const words = hints.length === 1 ? '1 hint' : `${hints.length} hints`
  return (
    <div class="time-strip">
      <Timeline requests={newest} {...{ changes, place }} />
      {unauthenticated > 0 && (
        <a class="chip is-warn" href={place.to({ line: UNAUTHENTICATED, open: undefined })}>
          {unauthenticated.toLocaleString()} without a valid key
        </a>
      )}
      {hints.length > 0 && (
        <Popover button={words} label={words} class="chip is-warn" isPadded>
          {(close) => (
            <div class="form" onClick={close}>
              {hints.map((hint, index) => (
                <Note key={index} {...hint} tone="warn" href={(open) => place.to({ open })} />
              ))}
            </div>
          )}
        </Popover>
      )}
      {problem === undefined ? (
        <button class="quiet" aria-pressed={isPaused} title="Pause or resume (p)" onClick={pause}>
          <span class={`dot ${toneClass(isPaused ? 'warn' : 'good')}`} />
          {isPaused ? 'Paused' : 'Live'}
        </button>
      ) : (
        <p class="is-bad toned cut" role="alert" dir="auto" title={problem}>
          Not connected: {problem}
        </p>
      )}
    </div>
  )
}

/** Each request as a tick in the order of time, the newest at the right; pauses are shown, but not to scale. */
function Timeline({
  requests,
  changes,
  place
}: Pick<Feed, 'requests' | 'changes'> & { place: Place }) {
  let x = STEP - 12
  const ticks = requests.map((request, index) => {
    const { sequence, method, time, status = 'no answer', duration = 0 } = request
    const pause = Date.parse(requests[index - 1]?.time ?? time) - Date.parse(time)
    x -= STEP + (pause > 1000 ? Math.min(MAX_GAP, 4 * Math.log2(pause / 500)) : 0)
    const height = Math.min(MAX_HEIGHT, 5 + 6 * Math.log10(1 + duration * 4))
    return {
      sequence,
      x,
      height,
      tone: toneOf(request),
      title: `${status} ${method} ${targetOf(request)}`
    }
  })
  const failed = ticks.filter(({ tone }) => tone !== undefined).length
  const label = `The last ${ticks.length} requests in the order of time, ${failed} of which failed`
  return (
    <div class="timeline" role="img" aria-label={label}>
      <svg width="100%" height="100%" aria-hidden="true">
        {/* From its right corners: what there is no room for is beyond the left edge. */}
        <svg x="100%" y="100%" overflow="visible">
          {ticks.map(({ sequence, x, height, tone, title }) => {
            const isOpen = sequence === place.open
            const look = {
              class: isOpen ? 'is-open' : toneClass(tone),
              width: isOpen ? 3 : 2,
              rx: 1
            }
            return (
              <rect
                key={sequence}
                {...look}
                {...{ x, y: -8 - height, height }}
                onClick={() => go(place.to({ open: sequence }))}
              >
                <title>{title}</title>
              </rect>
            )
          })}
        </svg>
        <svg x="100%" overflow="visible">
          {changes.map((change) => {
            const tick = ticks.find(({ sequence }) => sequence <= change.after)
            return (
              tick && (
                <path key={change.sequence} d={`M${tick.x + STEP} 3l3.5 3.5-3.5 3.5-3.5-3.5z`}>
                  <title>{changeText(change)}</title>
                </path>
              )
            )
          })}
        </svg>
      </svg>
    </div>
  )
}
