import { useRef, useState } from 'preact/hooks'
import { EmptyList, EmptyPane } from '../../parts/empty.js'
import { ErrorNote } from '../../parts/error-note.js'
import { useShortcut } from '../../parts/keyboard.js'
import { Pane, Panes, Scroll } from '../../parts/pane.js'
import { SearchLine } from '../../parts/search-line.js'
import { runWithToast } from '../../parts/toast.js'
import { useCommands } from '../../shell/commands.js'
import { navigate, type Route } from '../../shell/router.js'
import { useSession } from '../../shell/session.js'
import { RequestFormView } from '../request-form/request-form-view.js'
import { toneOf } from './format-request.js'
import {
  isUnauthenticatedSearch,
  locationOf,
  type RequestsLocation,
  UNAUTHENTICATED_SEARCH
} from './location.js'
import { PausableRequestList } from './pausable-request-list.js'
import { RequestDetail } from './request-detail.js'
import { TimeStrip } from './time-strip.js'
import { type ListedRequests, useRequests, useUnauthenticatedCount } from './use-requests.js'

const SEARCH_HINT =
  'You can search for words, status:4xx or status:none, path:/v1, operation:list, since:10m ' +
  `and ${UNAUTHENTICATED_SEARCH}.`

/** Shows the recorded requests at `#/requests`, and the form to send one at `#/requests/new`. */
export function RequestsView({ route }: { route: Route }) {
  return route.rest[0] === 'new' ? (
    <RequestFormView route={route} />
  ) : (
    <RecordedRequests route={route} />
  )
}

/**
 * Shows the requests as they arrive, and the open request. The newest failed request opens by
 * default.
 */
function RecordedRequests({ route }: { route: Route }) {
  const { env } = useSession()
  const [isPaused, setPaused] = useState(false)
  const unauthenticatedCount = useUnauthenticatedCount()
  const location = locationOf(route)
  const togglePause = () => setPaused(!isPaused)
  useShortcut('p', togglePause)
  const deleteAll = () => {
    const question = "Delete all recorded requests and changes? The environment's data is kept."
    if (!confirm(question)) return
    runWithToast(() => env.requests.clear(), 'Deleted all requests')
  }
  useCommands([{ name: 'Delete all requests', run: deleteAll }])
  return (
    <div class="view">
      <h1 class="visually-hidden">Requests</h1>
      <RequestPanes
        location={location}
        isPaused={isPaused}
        unauthenticatedCount={unauthenticatedCount}
      />
      <TimeStrip
        location={location}
        isPaused={isPaused}
        unauthenticatedCount={unauthenticatedCount}
        togglePause={togglePause}
      />
    </div>
  )
}

interface RequestPanesProps {
  location: RequestsLocation
  isPaused: boolean
  unauthenticatedCount: number
}

/** Two panes: the list of requests with its search field, and the open request. */
function RequestPanes({ location, isPaused, unauthenticatedCount }: RequestPanesProps) {
  const panes = useRef<HTMLDivElement>(null)
  const [tab, setTab] = useState<string>()
  const listed = useRequests(location.search, unauthenticatedCount)
  const { requests, isLoaded, error } = listed
  const defaultOpen = useNewestFailed(listed, location.search)
  const open = location.open ?? defaultOpen
  useShortcut('escape', () => {
    const row = panes.current?.querySelector<HTMLElement>('[data-item][aria-current="true"]')
    navigate(location.href({ open: undefined }))
    // Focus the row after the next render, because on narrow screens it is hidden until then.
    setTimeout(() => row?.focus())
  })
  return (
    <Panes ref={panes} isOpen={location.open !== undefined}>
      <Pane label="All requests" head={<RequestSearch location={location} listed={listed} />}>
        {error !== undefined && <ErrorNote error={error} />}
        {requests.length > 0 || !isLoaded ? (
          <PausableRequestList
            location={location}
            listed={listed}
            isPaused={isPaused}
            open={open}
          />
        ) : (
          <Scroll>
            {location.search === '' ? (
              <NoRequests />
            ) : (
              <EmptyList title="No matching requests">{SEARCH_HINT}</EmptyList>
            )}
          </Scroll>
        )}
      </Pane>
      {open === undefined ? (
        <EmptyPane back={undefined}>Select a request to see it here.</EmptyPane>
      ) : (
        <RequestDetail
          location={location}
          listed={listed}
          sequence={open}
          tab={tab}
          selectTab={setTab}
        />
      )}
    </Panes>
  )
}

/**
 * Returns the sequence number of the request to open by default: the newest failed request. Keeps
 * returning the same request while it is in the list, even if more requests fail. Returns undefined
 * during a search or if no request has failed.
 */
function useNewestFailed({ requests }: ListedRequests, search: string): number | undefined {
  const failed = useRef<number | undefined>(undefined)
  const isListed = requests.some(({ sequence }) => sequence === failed.current)
  if (search !== '') return undefined
  if (!isListed) failed.current = requests.find(toneOf)?.sequence
  return failed.current
}

interface RequestSearchProps {
  location: RequestsLocation
  listed: ListedRequests
}

function RequestSearch({ location, listed }: RequestSearchProps) {
  const change = (search: string) => {
    // Close the open request when the search switches between the environment's journal and the
    // journal of unauthenticated requests, because each journal has its own sequence numbers.
    const isSameJournal = isUnauthenticatedSearch(search) === listed.isUnauthenticatedList
    const open = isSameJournal ? location.open : undefined
    navigate(location.href({ search, open }), { replace: true })
  }
  const count = `${listed.requests.length.toLocaleString()}${listed.loadMore ? '+' : ''}`
  return (
    <SearchLine
      label="Search requests"
      placeholder="words, status:4xx path: operation: since:"
      text={location.search}
      change={change}
    >
      <span class="hint">{count}</span>
    </SearchLine>
  )
}

/** Shown instead of the list until the first request arrives. */
function NoRequests() {
  const { env, call } = useSession()
  return (
    <EmptyList title="No requests yet">
      <p>
        Send requests from your app to {env.url} with this environment's API key. They appear here.
      </p>
      <button class="primary" onClick={() => runWithToast(() => call('GET', '/v1/messages'))}>
        Send a request
      </button>
    </EmptyList>
  )
}
