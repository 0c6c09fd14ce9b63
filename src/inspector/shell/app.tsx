import { useCallback, useMemo, useState } from 'preact/hooks'
import { connect, type ListedEnvironment } from '../../client/index.js'
import { Empty } from '../parts/empty.js'
import { ErrorNote } from '../parts/errors.js'
import { NoticesProvider } from '../parts/notices.js'
import { useResource } from '../parts/resource.js'
import { useFaultCommands } from '../views/faults/actions.js'
import { VIEWS } from '../views/index.js'
import { EnvironmentBar } from './environment-bar.js'
import { LiveProvider } from './live.js'
import { PaletteProvider, useCommands } from './palette.js'
import { addressOf, go, type Route, useRoute } from './router.js'
import { callService, type Session, SessionProvider, serverUrl, useSession } from './session.js'
import { SecretForm, SignIn } from './sign-in.js'

/** The page. It knows the server that it is from, and keeps the keys and the token that it is given in memory only. */
export function App() {
  const [adminToken, setAdminToken] = useState<string>()
  const [singleKey, setSingleKey] = useState<string>()
  const mock = useMemo(() => connect(serverUrl(), { adminToken }), [adminToken])
  const { params } = useRoute()
  const environments = useResource(async () => {
    if (singleKey === undefined) return await mock.listEnvironments()
    // Whether the key is one.
    await mock.attach(singleKey).clock.get()
    return []
  }, [mock, singleKey])
  const { value, error, isLoading, reload } = environments
  if (error !== undefined && !isLoading) {
    const tried = () => {
      setAdminToken(undefined)
      setSingleKey(undefined)
    }
    return (
      <SignIn
        error={error}
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
  if (value === undefined) return <p class="loading">Loading…</p>
  const wanted = params.get('environment')
  const listed =
    wanted === null ? value[0] : value.find(({ name, environmentId }) => [name, environmentId].includes(wanted))
  return (
    <NoticesProvider>
      <PaletteProvider>
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
        ) : isLoading ? (
          <p class="loading">Loading…</p>
        ) : (
          <NoEnvironment wanted={wanted} environments={value} />
        )}
      </PaletteProvider>
    </NoticesProvider>
  )
}

function NoEnvironment({
  wanted,
  environments
}: {
  wanted: string | null
  environments: readonly ListedEnvironment[]
}) {
  return (
    <main>
      <Empty title={wanted === null ? 'There is no environment yet' : `There is no environment ${wanted}`}>
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
  const { value: known, error } = useResource(() => mock.apiKeys(listed.environmentId), [mock, listed.environmentId])
  if (error !== undefined) return <ErrorNote error={error} retry={reload} />
  if (known === undefined) return <p class="loading">Loading…</p>
  const apiKey = given ?? known[0]
  if (apiKey !== undefined) {
    return <Environment mock={mock} apiKey={apiKey} listed={listed} environments={environments} reload={reload} />
  }
  return (
    <main class="sign-in">
      <h1>{listed.name}</h1>
      <p>The server keeps only a hash of the key to this environment: it was created before the server was started.</p>
      <SecretForm
        label="API key"
        hint="The one that your product sends to this environment."
        button="Show the environment"
        submit={setGiven}
      />
    </main>
  )
}

function Environment({ mock, apiKey, listed, environments, reload }: EnvironmentProps & { apiKey: string }) {
  const [version, setVersion] = useState(0)
  const changed = useCallback(() => setVersion((count) => count + 1), [])
  const env = useMemo(() => mock.attach(apiKey), [mock, apiKey])
  const session = useMemo<Session>(
    () => ({ mock, env, listed, version, changed, call: (...request) => callService(env, ...request) }),
    [mock, env, listed, version, changed]
  )
  return (
    <SessionProvider value={session}>
      <header class="top">
        <a class="brand" href={addressOf([])}>
          notification-mock
        </a>
        <EnvironmentBar environments={environments} reload={reload} />
      </header>
      <LiveProvider>
        <Views />
      </LiveProvider>
    </SessionProvider>
  )
}

function Views() {
  const route = useRoute()
  const { changed } = useSession()
  const view = VIEWS.find(({ path }) => path === route.view) ?? VIEWS[0]
  useCommands([
    ...VIEWS.map(({ path, title }) => ({ name: `Go to ${title}`, run: () => go(addressOf([path])) })),
    { name: 'Load everything again', run: changed }
  ])
  useFaultCommands()
  return (
    <div class="body">
      <nav aria-label="Views">
        {VIEWS.map(({ path, title }) => (
          <a key={path} href={addressOf([path])} aria-current={path === view.path ? 'page' : undefined}>
            {title}
          </a>
        ))}
        <a class="apart" href="docs">
          API docs
        </a>
      </nav>
      <main id="view" tabIndex={-1}>
        <view.View key={view.path} route={route as Route} />
      </main>
    </div>
  )
}
