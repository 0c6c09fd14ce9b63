import { useMemo, useRef, useState } from 'preact/hooks'
import type { Hint, RecordedRequest } from '../../../client/index.js'
import { Empty } from '../../parts/empty.js'
import { ErrorNote } from '../../parts/errors.js'
import { Icon } from '../../parts/icon.js'
import { enterList, useKey } from '../../parts/keys.js'
import { List } from '../../parts/list.js'
import { Pane, Panes } from '../../parts/pane.js'
import { useReading } from '../../parts/reading.js'
import { useToasts } from '../../parts/toast.js'
import { type Feed, useFeed, useLive } from '../../shell/live.js'
import { useCommands } from '../../shell/palette.js'
import { withParam } from '../../shell/panel.js'
import { addressOf, go } from '../../shell/router.js'
import { useSession } from '../../shell/session.js'
import { keylessSourceOf } from '../../source.js'
import type { ViewProps } from '../view.js'
import { RequestActions } from './actions.js'
import { Beside } from './beside.js'
import { RequestDetail } from './detail.js'
import { useFound } from './found.js'
import { HintLine, useHints } from './hints.js'
import { NoRequests, Overview } from './overview.js'
import { OtherOwner } from './owner.js'
import { type Place, placesOf } from './place.js'
import { heightOf, itemsOf, keyOf, RequestItemRow, toneOf } from './rows.js'
import { isSearch, readSearch } from './search.js'
import { TimeStrip } from './time-strip.js'

/** The requests as they come, and the one that is open; at first that is the newest that failed. */
export function RequestsView({ route }: ViewProps) {
  const [place, besidePlace] = placesOf(route)
  const { env, listed } = useSession()
  const beside = route.params.get('beside')
  const [isPaused, setPaused] = useState(false)
  const { run } = useToasts()
  const pause = () => setPaused((was) => !was)
  useKey('p', pause)
  useCommands([
    { name: isPaused ? 'Resume requests' : 'Pause requests', run: pause },
    {
      name: 'Delete all requests',
      confirm: {
        question: 'Delete all requests, and what was told of the changes between them?',
        button: 'Delete them'
      },
      run: () => run(() => env.requests.clear(), 'All requests are deleted')
    },
    { name: 'Show refused requests', run: () => go(addressOf(['requests'], { q: 'status:4xx' })) },
    { name: 'Show failed requests', run: () => go(addressOf(['requests'], { q: 'status:5xx' })) },
    { name: 'Show requests without a valid key', run: () => go(addressOf(['requests'], { show: 'keyless' })) }
  ])
  return (
    <div class="view">
      <h1 class="visually-hidden">Requests</h1>
      {beside === null ? (
        <RequestPanes place={place} isPaused={isPaused} />
      ) : (
        <div class="beside">
          <section aria-label={listed?.name ?? 'This environment'}>
            <div class="beside-head">
              <b dir="auto">{listed?.name ?? 'This environment'}</b>
            </div>
            <RequestPanes place={place} isPaused={isPaused} isStacked />
          </section>
          <Beside name={beside} close={withParam('beside', null)}>
            <RequestPanes place={besidePlace} isPaused={isPaused} isStacked />
          </Beside>
        </div>
      )}
      <TimeStrip place={place} isPaused={isPaused} pause={pause} />
    </div>
  )
}

interface PanesProps {
  place: Place
  isPaused: boolean
  /** Whether there is room for the list or what is open only. */
  isStacked?: boolean
}

/** A list of requests with its search, and the one that is open beside it. */
function RequestPanes({ place, isPaused, isStacked = false }: PanesProps) {
  const panes = useRef<HTMLDivElement>(null)
  const { mock, env } = useSession()
  const live = useLive()
  const feed = useFeed()
  const { open, line, isKeyless, to } = place
  const [tab, setTab] = useState<string>()
  const source = useMemo(() => (isKeyless ? keylessSourceOf(mock, env) : live.source), [isKeyless, mock, env, live])
  const search = readSearch(line, Date.parse(feed.requests[0]?.time ?? '') || Date.now())
  const isFound = isKeyless || isSearch(search)
  const found = useFound(source, search.query, isFound)
  const all = isFound ? found.requests : feed.requests
  const automatic = useAutomatic(feed, open === undefined && !isFound && !isStacked)
  const shownOpen = typeof open === 'number' ? open : automatic
  const known = all.find(({ sequence }) => sequence === shownOpen)
  const href = (sequence: number) => to({ open: sequence })
  const close = () => {
    if (isStacked && !panes.current?.contains(document.activeElement)) return
    const row = panes.current?.querySelector<HTMLElement>('[data-item][aria-current="true"]')
    go(to({ open: 'overview' }))
    setTimeout(() => row?.focus())
  }
  useKey('escape', close)
  const hints = useHints()
  const isEmpty = feed.isLoaded && feed.requests.length === 0 && !isFound
  const count = countText(all.length, isFound ? found.hasMore : feed.hasMore)
  return (
    <Panes ref={panes} isStacked={isStacked} isOpen={typeof open === 'number' || open === 'hints'}>
      <Pane label="All requests" head={<SearchLine place={place} count={count} />}>
        {search.problem !== undefined && (
          <p class="is-warn toned search-problem" role="alert">
            {search.problem}
          </p>
        )}
        {isEmpty ? (
          <div class="pane-body">
            <NoRequests keylessHref={to({ isKeyless: true })} />
          </div>
        ) : (
          <RequestList
            {...{ place, isPaused, all }}
            current={shownOpen}
            changes={isFound ? [] : feed.changes}
            loadMore={isFound ? (found.hasMore ? found.loadMore : undefined) : feed.hasMore ? live.loadMore : undefined}
          />
        )}
        {found.error !== undefined && <ErrorNote error={found.error} retry={found.reload} />}
        {isFound && all.length === 0 && !found.isLoading && found.error === undefined && (
          <Empty title={isKeyless && !isSearch(search) ? 'None came without a valid key' : 'No request is like that'}>
            <a href={to({ line: '', isKeyless: false })}>All requests</a>
          </Empty>
        )}
      </Pane>
      {shownOpen !== undefined ? (
        <RequestDetail
          key={shownOpen}
          source={source}
          sequence={shownOpen}
          known={known}
          changes={isKeyless ? [] : feed.changes}
          tab={tab}
          chooseTab={setTab}
          href={href}
          back={to({ open: 'overview' })}
          notes={known && <Notes request={known} hints={isKeyless ? [] : hints} href={href} />}
          actions={(request, show) => <RequestActions {...{ request, source, isKeyless, show }} />}
        />
      ) : (
        !isEmpty &&
        feed.isLoaded && (
          <Overview
            {...{ feed, hints, href }}
            back={open === 'hints' ? to({ open: 'overview' }) : undefined}
            found={(line) => to({ line })}
          />
        )
      )}
    </Panes>
  )
}

interface NotesProps {
  request: RecordedRequest
  hints: readonly Hint[]
  href(sequence: number): string
}

/** What else is to be known of a request. */
function Notes({ request, hints, href }: NotesProps) {
  const { faulted } = request.flags
  return (
    <>
      <OtherOwner request={request} />
      {hints
        .filter(({ requests }) => requests.includes(request.sequence))
        // The reason has said it.
        .filter(({ id }) => id !== 'parameter-not-read' && id !== 'path-not-served')
        .map((hint) => (
          <HintLine key={hint.message} hint={hint} href={href} />
        ))}
      {faulted !== undefined && faulted !== 'header' && <a href={addressOf(['faults'])}>The rule {faulted}</a>}
    </>
  )
}

/** The newest request that failed when the list was first there, or else the first that fails; it stays that one. */
function useAutomatic(feed: Feed, isOn: boolean): number | undefined {
  const chosen = useRef<number | undefined>(undefined)
  if (!isOn) return undefined
  const isThere = feed.requests.some(({ sequence }) => sequence === chosen.current)
  if (!isThere) chosen.current = feed.requests.find((request) => toneOf(request) !== undefined)?.sequence
  return chosen.current
}

function countText(count: number, hasMore: boolean): string {
  return `${count.toLocaleString()}${hasMore ? '+' : ''}`
}

function SearchLine({ place: { line, to }, count }: { place: Place; count: string }) {
  const ref = useRef<HTMLInputElement>(null)
  useKey('/', () => ref.current?.focus())
  return (
    <search class="search-line">
      <Icon name="find" />
      <input
        ref={ref}
        type="search"
        value={line}
        aria-label="Search requests"
        placeholder="words, status:4xx path: operation: since:"
        dir="auto"
        spellcheck={false}
        onInput={({ currentTarget: { value } }) => go(to({ line: value }), { replace: true })}
        onKeyDown={enterList}
      />
      <span class="hint" aria-live="off">
        {count}
      </span>
    </search>
  )
}

interface RequestListProps {
  place: Place
  isPaused: boolean
  all: readonly RecordedRequest[]
  changes: Feed['changes']
  current: number | undefined
  loadMore: (() => unknown) | undefined
}

/** The list, which does not move while one reads it: what comes meanwhile waits. */
function RequestList({ place, isPaused, all, changes, current, loadMore }: RequestListProps) {
  const { ref, isReading, stop } = useReading()
  const newest = all[0]?.sequence ?? 0
  const isHeld = isPaused || isReading
  const [shown, waiting] = useHeld(all, isHeld)
  const told = useRef(changes)
  if (!isHeld) told.current = changes
  const flashed = useNewest(newest)
  const items = useMemo(() => itemsOf(shown, told.current, !loadMore), [shown, told.current, !loadMore])
  const href = (sequence: number) => place.to({ open: sequence })
  return (
    <div ref={ref} class="reading">
      {waiting.count > 0 && (
        <button
          type="button"
          class="primary waiting"
          onClick={() => {
            waiting.take()
            stop()
          }}
        >
          {waiting.count.toLocaleString()} new
        </button>
      )}
      <List
        label="Requests, newest first"
        items={items}
        keyOf={keyOf}
        heightOf={heightOf}
        current={current}
        choose={(sequence) => go(href(Number(sequence)), { replace: true })}
        onEnd={() => void loadMore?.()}
      >
        {(item, row) => <RequestItemRow {...{ item, href, ...row }} isNew={(keyOf(item) ?? 0) > flashed} />}
      </List>
    </div>
  )
}

/** What to show: all, or while it is held, what was there when that began, until the person takes in the rest. */
function useHeld(all: readonly RecordedRequest[], isHeld: boolean) {
  const top = useRef(0)
  const [, renderAgain] = useState(0)
  const newest = all[0]?.sequence ?? 0
  // What was emptied counts on, but none of it is there.
  const isGone = !all.some(({ sequence }) => sequence <= top.current)
  if (!isHeld || isGone) top.current = newest
  const first = all.findIndex(({ sequence }) => sequence <= top.current)
  const shown = useMemo(() => (first > 0 ? all.slice(first) : all), [all, first])
  const take = () => {
    top.current = newest
    renderAgain((count) => count + 1)
  }
  return [shown, { count: Math.max(0, first), take }] as const
}

/** The newest sequence before the last change of it: those after it came just now. */
function useNewest(newest: number): number {
  const known = useRef({ newest: 0, before: Number.POSITIVE_INFINITY })
  if (newest !== known.current.newest) {
    known.current = { newest, before: known.current.newest || Number.POSITIVE_INFINITY }
  }
  return known.current.before
}
