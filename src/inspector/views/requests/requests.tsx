import type { ComponentChildren } from 'preact'
import { useMemo, useRef, useState } from 'preact/hooks'
import { hintsOf } from '../../../client/hints.js'
import type { RecordedRequest } from '../../../client/index.js'
import { toneClass } from '../../parts/chip.js'
import { CopyButton } from '../../parts/copy.js'
import { Empty } from '../../parts/empty.js'
import { ErrorNote } from '../../parts/errors.js'
import { Icon } from '../../parts/icon.js'
import { useKey } from '../../parts/keys.js'
import { NothingOpen, SearchLine } from '../../parts/list-view.js'
import { Pane, Panes, Scroll } from '../../parts/pane.js'
import { Popover } from '../../parts/popover.js'
import { useReading } from '../../parts/reading.js'
import { useResource } from '../../parts/resource.js'
import { Timeline } from '../../parts/timeline.js'
import { run } from '../../parts/toast.js'
import { LiveProvider, useFeed } from '../../shell/live.js'
import { useCommands } from '../../shell/palette.js'
import { go, type Route, withParam } from '../../shell/router.js'
import { callService, type Session, SessionProvider, useSession } from '../../shell/session.js'
import { RequestDetail } from './detail.js'
import { Note } from './exchange.js'
import { changeText, itemsOf, RequestList, targetOf, toneOf } from './rows.js'
import { KEYLESS, type Place, placeOf, type Shown, useKeylessCount, useShown } from './shown.js'

/** The newest requests, which the line of time and the hints are of; milliseconds until these show what came. */
const NEWEST = 400
const SHOWN_AFTER = 500
const WORDS = `Words are found, and status:4xx or none, path:/v1, operation:list, since:10m and ${KEYLESS}.`

/** The requests as they come, and the one that is open; at first that is the newest that failed. */
export function RequestsView({ route }: { route: Route }) {
  const { env, listed } = useSession()
  const [isPaused, setPaused] = useState(false)
  const beside = route.params.get('beside')
  const place = placeOf(route)
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
      {beside === null ? (
        <RequestPanes place={place} isPaused={isPaused} />
      ) : (
        <div class="beside">
          <section aria-label={listed?.name}>
            <b class="beside-head">{listed?.name}</b>
            <RequestPanes place={place} isPaused={isPaused} isStacked />
          </section>
          <Beside name={beside}>
            <RequestPanes place={placeOf(route, 'beside-')} isPaused={isPaused} isStacked />
          </Beside>
        </div>
      )}
      <TimeStrip {...{ place, isPaused, pause }} />
    </div>
  )
}

/** Another environment, by its name or id, beside the one that the page is about: what is in it is of that one. */
function Beside({ name, children }: { name: string; children: ComponentChildren }) {
  const session = useSession()
  const { mock } = session
  const { value, error } = useResource(async (): Promise<Session> => {
    const listed = (await mock.listEnvironments()).find((each) => [each.name, each.environmentId].includes(name))
    const [apiKey] = listed ? await mock.apiKeys(listed.environmentId) : []
    if (apiKey === undefined) throw new Error(`The server has no environment ${name}, or only a hash of its key.`)
    const env = mock.attach(apiKey)
    return { ...session, env, listed, call: (...request) => callService(env, ...request) }
  }, [mock, name])
  return (
    <section aria-label={name}>
      <div class="beside-head">
        <b dir="auto">{name}</b>
        <a class="button quiet only-icon spread" href={withParam('beside', null)} aria-label={`Close ${name}`}>
          <Icon name="close" />
        </a>
      </div>
      {error !== undefined && <ErrorNote error={error} />}
      {value && (
        <SessionProvider value={value}>
          <LiveProvider restarted={session.changed}>{children}</LiveProvider>
        </SessionProvider>
      )}
    </section>
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
  const [tab, chooseTab] = useState<string>()
  const shown = useShown(place.line)
  const { requests, isLoaded, error } = shown
  const hasFailed = (request: RecordedRequest) => toneOf(request) !== undefined
  // The newest that failed when the list was first there, or else the first that fails; it stays that one.
  const failed = useRef<number | undefined>(undefined)
  const isThere = place.line !== '' || requests.some(({ sequence }) => sequence === failed.current)
  if (!isThere) failed.current = requests.find(hasFailed)?.sequence
  const open = place.open ?? (place.line === '' && !isStacked ? failed.current : undefined)
  useKey('escape', () => {
    if (isStacked && !panes.current?.contains(document.activeElement)) return
    const row = panes.current?.querySelector<HTMLElement>('[data-item][aria-current="true"]')
    go(place.to({ open: undefined }))
    setTimeout(() => row?.focus())
  })
  const search = (
    <SearchLine
      label="Search requests"
      placeholder="words, status:4xx path: operation: since:"
      text={place.line}
      change={(line) => go(place.to({ line }), { replace: true })}
    >
      <span class="hint">{`${requests.length.toLocaleString()}${shown.loadMore ? '+' : ''}`}</span>
    </SearchLine>
  )
  return (
    <Panes ref={panes} isStacked={isStacked} isOpen={place.open !== undefined}>
      <Pane label="All requests" head={search}>
        {error !== undefined && <ErrorNote error={error} />}
        {requests.length > 0 || !isLoaded ? (
          <Reading key={`${shown.isKeyless}`} {...{ place, shown, isPaused, open }} />
        ) : (
          <Scroll>{place.line === '' ? <NoRequests /> : <Empty title="No request is like that">{WORDS}</Empty>}</Scroll>
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
      <p>Point your app at {env.url}, with the key of this environment, and each of its requests shows up here.</p>
      <CopyButton text={`curl -H 'Authorization: ApiKey ${env.apiKey}' ${env.url}/v1/messages`}>Copy a curl</CopyButton>
      <button class="primary" onClick={() => run(() => call('GET', '/v1/messages'))}>
        Send one from here
      </button>
    </Empty>
  )
}

interface ReadingProps extends PanesProps {
  shown: Shown
  open: number | undefined
}

/** The list, which does not move while one reads it: what comes meanwhile waits. */
function Reading({ place, shown: { requests, changes, loadMore }, isPaused, open }: ReadingProps) {
  const { ref, isReading, stop } = useReading()
  const newest = requests[0]?.sequence ?? 0
  const [taken, take] = useState(0)
  /** The newest that is shown, the newest before that, and what was done until then. */
  const held = useRef({ newest, seen: Number.POSITIVE_INFINITY, changes })
  if (!(isPaused || isReading) || newest === taken) {
    const { newest: last, seen } = held.current
    held.current = { newest, seen: newest === last ? seen : last || Number.POSITIVE_INFINITY, changes }
  }
  const { seen, changes: told } = held.current
  const waiting = requests.findIndex(({ sequence }) => sequence <= held.current.newest)
  const items = useMemo(
    () => itemsOf(requests.slice(Math.max(0, waiting)), place.line === '' ? told : [], !loadMore),
    [requests, waiting, told, !loadMore]
  )
  const showAll = () => {
    take(newest)
    stop()
  }
  return (
    <div ref={ref} class="reading">
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
        onEnd={() => void loadMore?.()}
      />
    </div>
  )
}

/** The line of time above the panes, with what the newest requests let suspect. */
function TimeStrip({ place, isPaused, pause }: PanesProps & { pause(): void }) {
  const keyless = useKeylessCount()
  const feed = useFeed(SHOWN_AFTER)
  const { changes, problem, isOver } = feed
  const requests = feed.requests.slice(0, NEWEST).reverse()
  const hints = useMemo(() => hintsOf(requests, changes), [feed])
  const ticks = requests.map((request) => ({
    key: request.sequence,
    time: Date.parse(request.time),
    duration: request.duration ?? 0,
    tone: toneOf(request),
    title: `${request.status ?? 'no answer'} ${request.method} ${targetOf(request)}`
  }))
  const failed = ticks.filter(({ tone }) => tone !== undefined).length
  const words = hints.length === 1 ? '1 hint' : `${hints.length} hints`
  return (
    <div class="time-strip">
      <Timeline
        label={`The last ${ticks.length} requests in the order of time, ${failed} of which failed`}
        ticks={ticks}
        marks={changes.map((change) => ({ after: change.after, title: changeText(change) }))}
        current={place.open}
        choose={(open) => go(place.to({ open }))}
      />
      {keyless > 0 && (
        <a class="chip is-warn" href={place.to({ line: KEYLESS, open: undefined })}>
          {keyless.toLocaleString()} without a valid key
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
        <p class="is-bad toned problem cut" role="alert" dir="auto" title={problem}>
          Not connected{isOver ? '' : ', trying again'}: {problem}
        </p>
      )}
    </div>
  )
}
