import './requests.css'
import { useRef, useState } from 'preact/hooks'
import type { RecordedRequest } from '../../../client/index.js'
import { ErrorNote } from '../../parts/errors.js'
import { useKey } from '../../parts/keys.js'
import { useNotices } from '../../parts/notices.js'
import { type Feed, useFeed, useLive } from '../../shell/live.js'
import { useCommands } from '../../shell/palette.js'
import { addressOf, go } from '../../shell/router.js'
import { useSession } from '../../shell/session.js'
import type { ViewProps } from '../view.js'
import { RequestDetail } from './detail.js'
import { type Filter, filterOf, filterRequests, isFiltered } from './filter.js'
import { Filters } from './filters.js'
import { useKeyless } from './keyless.js'
import { RequestList } from './list.js'
import { NoMatch, NoRequests } from './nothing.js'
import { useReading } from './reading.js'

/** The requests as they come: those of the environment, or those without a valid key. */
export function RequestsView({ route: { rest, params } }: ViewProps) {
  const { env, listed, changed } = useSession()
  const { run } = useNotices()
  const live = useLive()
  const isKeyless = params.get('show') === 'keyless'
  const keyless = useKeyless(listed !== undefined)
  const [isPaused, setPaused] = useState(false)
  const [isDeleting, setDeleting] = useState(false)
  const filter = filterOf(params)
  const open = /^[1-9]\d*$/.test(rest[0] ?? '') ? Number(rest[0]) : undefined
  const address = (sequence?: number, { operation, status, text } = filter) =>
    addressOf(['requests', ...(sequence === undefined ? [] : [String(sequence)])], {
      show: isKeyless ? 'keyless' : undefined,
      ...{ operation, status, text }
    })
  const pause = () => setPaused((was) => !was)
  const deleteAll = async () => {
    setDeleting(true)
    await run(async () => {
      await env.requests.clear()
      live.forget()
      changed()
      go(address())
    }, 'All requests deleted')
    setDeleting(false)
  }
  useKey('p', pause)
  useCommands([
    { name: isPaused ? 'Resume requests' : 'Pause requests', run: pause },
    {
      name: 'Delete all requests',
      confirm: { question: 'Delete all requests?', button: 'Delete them' },
      run: deleteAll
    },
    { name: 'Show failed requests', run: () => go(addressOf(['requests'], { status: '4xx' })) },
    { name: 'Show requests without a valid key', run: () => go(addressOf(['requests'], { show: 'keyless' })) }
  ])
  return (
    <>
      <div class="view-head">
        <h1>Requests</h1>
        <nav class="row" aria-label="Which requests">
          <a class="button" href={addressOf(['requests'])} aria-current={isKeyless ? undefined : 'page'}>
            Of this environment
          </a>
          <a
            class="button"
            href={addressOf(['requests'], { show: 'keyless' })}
            aria-current={isKeyless ? 'page' : undefined}
          >
            Without a valid key <Count of={keyless.feed.received} />
          </a>
        </nav>
        <span class="row spread">
          <button type="button" aria-pressed={isPaused} title="p" onClick={pause}>
            Pause
          </button>
          {!isKeyless && (
            <button type="button" disabled={isDeleting} onClick={deleteAll}>
              Delete all
            </button>
          )}
        </span>
      </div>
      <Filters filter={filter} change={(next) => go(address(open, next), { replace: true })} />
      {isKeyless ? (
        <KeylessRequests {...{ filter, open, address, isPaused, keyless }} />
      ) : (
        <EnvironmentRequests {...{ filter, open, address, isPaused, keyless }} />
      )}
    </>
  )
}

/** So that nobody waits for requests here that came without a valid key. */
function Count({ of: count }: { of: number }) {
  return count === 0 ? null : <span class="badge is-warn">{count.toLocaleString()}</span>
}

interface ListProps {
  filter: Filter
  open: number | undefined
  address(sequence?: number, filter?: Filter): string
  isPaused: boolean
  keyless: ReturnType<typeof useKeyless>
}

function EnvironmentRequests(props: ListProps) {
  return <Requests {...props} feed={useFeed()} isKeyless={false} />
}

function KeylessRequests(props: ListProps) {
  const { listed } = useSession()
  const { feed, error, reload } = props.keyless
  if (!listed) {
    return (
      <p class="hint">
        Requests without a valid key belong to no environment. To see them, open this page with the admin token.
      </p>
    )
  }
  if (error !== undefined) return <ErrorNote error={error} retry={reload} />
  return <Requests {...props} feed={feed} isKeyless />
}

function Requests({
  feed,
  isKeyless,
  filter,
  open,
  address,
  isPaused,
  keyless
}: ListProps & { feed: Feed; isKeyless: boolean }) {
  const { ref, isReading, stop } = useReading('.requests-list')
  const isHeld = isPaused || isReading || open !== undefined
  const [shown, takeNew] = useHeld(feed, isHeld)
  const matching = filterRequests(shown.requests, filter)
  const waiting = isHeld ? filterRequests(newerThan(shown, feed), filter).length : 0
  const known = open === undefined ? undefined : (find(shown.requests, open) ?? find(feed.requests, open))
  return (
    <div ref={ref} class="requests-area" data-held={isHeld}>
      <div class="requests-line-of-state">
        <State {...{ feed, isPaused, isHeld }} />
        <span class="hint">
          {countOf(matching.length, shown.requests.length)}
          {isLeaky(shown.requests) && ', some left out: they came too fast to be seen'}
        </span>
        {waiting > 0 && (
          <button
            type="button"
            class="primary"
            onClick={() => {
              takeNew()
              stop()
            }}
          >
            {waiting.toLocaleString()} new
          </button>
        )}
      </div>
      <div class={open === undefined ? undefined : 'split requests-split'}>
        {matching.length > 0 ? (
          <RequestList requests={matching.toReversed()} open={open} addressOf={(sequence) => address(sequence)} />
        ) : isFiltered(filter) && shown.requests.length > 0 ? (
          <NoMatch count={shown.requests.length} all={address(open, { operation: '', status: '', text: '' })} />
        ) : (
          <NoRequests isKeyless={isKeyless} keylessCount={keyless.feed.received} />
        )}
        {open !== undefined && (
          <RequestDetail
            key={open}
            sequence={open}
            known={known}
            isKeyless={isKeyless}
            back={address()}
            addressOf={(sequence) => address(sequence)}
          />
        )}
      </div>
    </div>
  )
}

function State({ feed, isPaused, isHeld }: { feed: Feed; isPaused: boolean; isHeld: boolean }) {
  const { problem, isOver } = feed
  if (problem !== undefined) {
    return (
      <span role="alert" class="requests-problem" dir="auto">
        Not connected{isOver ? '' : ', trying again'}: {problem}
      </span>
    )
  }
  return isPaused ? (
    <span class="badge is-warn">Paused</span>
  ) : isHeld ? (
    <span class="badge is-accent" title="Nothing moves while you read. What comes waits.">
      Held
    </span>
  ) : (
    <span class="badge is-good">Live</span>
  )
}

/** What to show: the newest, or while it is held, what was there when that began, until the person takes in the new ones. */
function useHeld(feed: Feed, isHeld: boolean): [shown: Feed, takeNew: () => void] {
  const held = useRef<Feed>(feed)
  const [, renderAgain] = useState(0)
  // What was emptied is not shown on. A list that was still empty takes what is there.
  const isEmptied = feed.emptied !== held.current.emptied
  if (!isHeld || isEmptied || held.current.received === 0) held.current = feed
  const takeNew = () => {
    held.current = feed
    renderAgain((count) => count + 1)
  }
  return [held.current, takeNew]
}

function newerThan(shown: Feed, feed: Feed): readonly RecordedRequest[] {
  const count = feed.received - shown.received
  return count > 0 ? feed.requests.slice(-count) : []
}

function find(requests: readonly RecordedRequest[], sequence: number): RecordedRequest | undefined {
  return requests.find((request) => request.sequence === sequence)
}

function countOf(matching: number, all: number): string {
  const of = matching === all ? '' : `${matching.toLocaleString()} of `
  return `${of}${all.toLocaleString()} ${all === 1 ? 'request' : 'requests'}`
}

/** Whether requests are missing in between, and not only those that are still in progress. */
function isLeaky(requests: readonly RecordedRequest[]): boolean {
  const sequences = requests.map(({ sequence }) => sequence)
  return requests.length > 0 && Math.max(...sequences) - Math.min(...sequences) > requests.length + 100
}
