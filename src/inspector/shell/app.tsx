import { useCallback, useEffect, useMemo, useState } from 'preact/hooks'
import { connect, type ListedEnvironment, MockError } from '../../client/index.js'
import { Empty } from '../parts/empty.js'
import { ErrorNote } from '../parts/errors.js'
import { Icon } from '../parts/icon.js'
import { moveFocus } from '../parts/keys.js'
import { useResource } from '../parts/resource.js'
import { ToastProvider } from '../parts/toast.js'
import { useFaultCommands } from '../views/faults/actions.js'
import { FaultStateProvider } from '../views/faults/state.js'
import { VIEWS } from '../views/index.js'
import { Bar } from './bar.js'
import { useRecordFinder } from './find.js'
import { Follower, LiveProvider } from './live.js'
import { PaletteProvider, useCommands } from './palette.js'
import { addressOf, go, useRoute } from './router.js'
import { callService, pageFetch, type Session, SessionProvider, serverUrl, useSession } from './session.js'
import { SecretForm, SignIn } from './sign-in.js'

/** The page. It knows the server that it is from, and keeps the keys and the token that it is given in memory only. */
export function App() {
  const [adminToken, setAdminToken] = useState<string>()
  const [singleKey, setSingleKey] = useState<string>()
  const mock = useMemo(() => connect(serverUrl(), { adminToken, fetch: pageFetch }), [adminToken])
  const { params } = useRoute()
  const environments = useResource(async () => {
    if (singleKey === undefined) return await mock.listEnvironments()
    // Whether the key is one.
    await mock.attach(singleKey).clock.get()
    return []
  }, [mock, singleKey])
  const { value, error, isLoading, reload } = environments
  // What failed once does not take away the page that is there, unless the server lets it in no more.
  if (error !== undefined && !isLoading && (value === undefined || isRefusal(error))) {
    const tried = () => {
      setAdminToken(undefined)
      setSingleKey(undefined)
    }
    return (
      <SignIn
        error={error}
        retry={reload}
        withToken={(token) => {
          tried()
          setAdminToken(token)
        }}
        withKey={(key) => {
          tried()
          setSingleKey(key)
        }}
      />
    )
  }
  if (value === undefined) return <p class="alone muted">Loading…</p>
  const wanted = params.get('environment')
  const listed =
    wanted === null ? value[0] : value.find(({ name, environmentId }) => [name, environmentId].includes(wanted))
  return (
    <ToastProvider>
      <PaletteProvider>
        {error !== undefined && !isLoading && <ErrorNote error={error} retry={reload} />}
        {singleKey !== undefined ? (
          <Environment
            key={singleKey}
            mock={mock}
            apiKey={singleKey}
            listed={undefined}
            environments={[]}
            reload={reload}
          />
        ) : listed ? (
          <Keyed key={listed.environmentId} mock={mock} listed={listed} environments={value} reload={reload} />
        ) : (
          <NoEnvironment key={wanted} {...{ wanted, isLoading, reload }} environments={value} />
        )}
      </PaletteProvider>
    </ToastProvider>
  )
}

function isRefusal(error: unknown): boolean {
  return error instanceof MockError && (error.status === 401 || error.status === 403)
}

interface NoEnvironmentProps {
  wanted: string | null
  environments: readonly ListedEnvironment[]
  isLoading: boolean
  reload(): void
}

function NoEnvironment({ wanted, environments, isLoading, reload }: NoEnvironmentProps) {
  // It may have been created since the list was loaded, so nothing is said before that was looked at again.
  const [look, setLook] = useState<'wanted' | 'begun' | 'done'>('wanted')
  useEffect(() => {
    if (look === 'wanted') {
      reload()
      setLook('begun')
    } else if (look === 'begun' && !isLoading) setLook('done')
  }, [look, isLoading, reload])
  if (look !== 'done') return <p class="alone muted">Loading…</p>
  return (
    <main class="alone">
      <Empty title={wanted === null ? 'There is no environment yet' : `There is no environment ${wanted}`}>
        <button type="button" disabled={isLoading} onClick={reload}>
          Look again
        </button>
        {environments.length === 0 ? (
          <p>
            Start the server with a seed, or create one: <code>POST /_mock/environments</code>
          </p>
        ) : (
          <ul>
            {environments.map(({ name, environmentId }) => (
              <li key={environmentId}>
                <a href={`#/?environment=${encodeURIComponent(name)}`}>{name}</a>
              </li>
            ))}
          </ul>
        )}
      </Empty>
    </main>
  )
}

interface EnvironmentProps {
  mock: Session['mock']
  listed: Session['listed']
  environments: readonly ListedEnvironment[]
  /** Loads the list of environments again. */
  reload(): void
}

/** An environment whose key the server tells, or which the person is asked for. */
function Keyed({ mock, listed, environments, reload }: EnvironmentProps & { listed: ListedEnvironment }) {
  const [given, setGiven] = useState<string>()
  const [refusal, setRefusal] = useState<unknown>()
  const keys = useResource(() => mock.apiKeys(listed.environmentId), [mock, listed.environmentId])
  const { value: known, error } = keys
  const retry = () => {
    keys.reload()
    reload()
  }
  const check = async (key: string) => {
    try {
      const { environment } = await mock.attach(key).coverage()
      if (environment !== listed.name) throw new Error(`This is the key of ${environment}, not of ${listed.name}.`)
      setGiven(key)
    } catch (reason) {
      setRefusal(reason)
    }
  }
  if (known === undefined && error !== undefined) return <ErrorNote error={error} retry={retry} />
  if (known === undefined) return <p class="alone muted">Loading…</p>
  const apiKey = given ?? known[0]
  if (apiKey !== undefined) {
    return <Environment mock={mock} apiKey={apiKey} listed={listed} environments={environments} reload={reload} />
  }
  return (
    <main class="alone">
      <h1>{listed.name}</h1>
      <p>The server keeps only a hash of the key to this environment: it was created before the server was started.</p>
      {refusal !== undefined && <ErrorNote error={refusal} />}
      <SecretForm
        label="API key"
        hint="The one that your product sends to this environment."
        button="Show the environment"
        submit={check}
      />
    </main>
  )
}

function Environment({ mock, apiKey, listed, environments, reload }: EnvironmentProps & { apiKey: string }) {
  const [version, setVersion] = useState(0)
  const [seen, setSeen] = useState(0)
  const changed = useCallback(() => setVersion((count) => count + 1), [])
  const env = useMemo(() => mock.attach(apiKey), [mock, apiKey])
  const call = useCallback<Session['call']>((...request) => callService(env, ...request), [env])
  const session = useMemo<Session>(
    () => ({ mock, env, listed, version, latest: version + seen, changed, call }),
    [mock, env, listed, version, seen, changed, call]
  )
  const restarted = useCallback(() => {
    changed()
    reload()
  }, [changed, reload])
  const changedByOthers = useCallback(() => {
    setSeen((count) => count + 1)
    reload()
  }, [reload])
  return (
    <SessionProvider value={session}>
      <LiveProvider restarted={restarted}>
        <Follower changedByOthers={changedByOthers} />
        <FaultStateProvider>
          <div class="app">
            <Bar environments={environments} reload={reload} />
            <Views />
          </div>
        </FaultStateProvider>
      </LiveProvider>
    </SessionProvider>
  )
}

function Views() {
  const route = useRoute()
  const { changed, listed } = useSession()
  const view = VIEWS.find(({ path }) => path === route.view) ?? VIEWS[0]
  useCommands([
    ...VIEWS.map(({ path, title }) => ({ name: `Go to ${title}`, run: () => go(addressOf([path])) })),
    { name: 'Load everything again', run: changed }
  ])
  useFaultCommands()
  useRecordFinder()
  useEffect(() => {
    document.title = [view.title, listed?.name, 'notification-mock'].filter(Boolean).join(' · ')
  }, [view, listed])
  return (
    <>
      <main id="view" tabIndex={-1}>
        <view.View key={view.path} route={route} />
      </main>
      {/* After the view, so that Tab is soon at the list. */}
      <nav class="rail" aria-label="Views" onKeyDown={moveFocus}>
        {VIEWS.filter(({ isInBar }) => !isInBar).map(({ path, title, icon }, index) => (
          <a
            key={path}
            data-item
            href={addressOf([path])}
            aria-current={path === view.path ? 'page' : undefined}
            tabIndex={path === view.path || (view.isInBar && index === 0) ? 0 : -1}
          >
            <Icon name={icon} />
            <span class="name">{title}</span>
          </a>
        ))}
      </nav>
    </>
  )
}
