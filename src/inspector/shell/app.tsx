import type { ComponentChildren } from 'preact'
import { useCallback, useEffect, useMemo, useState } from 'preact/hooks'
import { connect, type ListedEnvironment, MockError } from '../../client/index.js'
import { EmptyList } from '../parts/empty.js'
import { ErrorNote } from '../parts/error-note.js'
import { Icon } from '../parts/icon.js'
import { moveFocus } from '../parts/keyboard.js'
import { useResource } from '../parts/resource.js'
import { clearUndo } from '../parts/undo.js'
import { viewsOf } from '../views/index.js'
import { Bar } from './bar.js'
import { useCommands } from './commands.js'
import { ConnectionNote, WhileConnected } from './connection-note.js'
import { useEnvironments } from './environments.js'
import { findEnvironment } from './find-environment.js'
import { LiveProvider } from './live-provider.js'
import type { ReloadScope } from './live-requests.js'
import { RemovedTest } from './removed-test.js'
import { useRepeat } from './repeat.js'
import { hrefTo, navigate, useRoute } from './router.js'
import { callService, type Session, SessionProvider, useSession } from './session.js'
import { type Secrets, SignIn } from './sign-in.js'

/** The server's URL without a trailing slash. Behind a proxy, the URL may have a path. */
const SERVER = new URL('.', document.baseURI).href.replace(/\/$/, '')

const NO_ENVIRONMENTS: readonly ListedEnvironment[] = []

/** The whole inspector. The keys and tokens that the user enters are kept only in memory. */
export function App() {
  const [secrets, setSecrets] = useState<Secrets>({})
  const { adminToken, apiKey: enteredKey } = secrets
  const mock = useMemo(() => connect(SERVER, { adminToken }), [adminToken])
  const name = useRoute().params.get('environment')
  // Reload when the name changes, because the named environment may have been created after the
  // last load.
  const { value, error, isLoading, reload } = useResource(
    async () => ({ name, ...(await findEnvironment(mock, name, enteredKey)) }),
    [mock, secrets, name]
  )
  const selection = value?.name === name ? value : undefined
  const { apiKey, listed, environments = NO_ENVIRONMENTS } = selection ?? {}
  const note = error !== undefined && !isLoading && <ErrorNote error={error} retry={reload} />
  const isRejected = error instanceof MockError && [401, 403].includes(error.status ?? 0)
  // Keep showing the environment after a failed reload, unless the server rejected the credentials.
  if (apiKey !== undefined && !isRejected) {
    return (
      <Environment
        key={apiKey}
        mock={mock}
        listed={listed}
        environments={environments}
        apiKey={apiKey}
        reload={reload}
        note={note}
      />
    )
  }
  if (listed?.removed) return <RemovedTest mock={mock} listed={listed} />
  if (!selection && !note) return <p class="alone muted">Loading…</p>
  const isKeyMissing = listed !== undefined && apiKey === undefined
  const needsSignIn = isKeyMissing || isRejected
  return (
    <main class="alone">
      <h1>{isKeyMissing ? listed.name : 'notification-mock'}</h1>
      {note}
      {needsSignIn && (
        <SignIn
          isKeyOnly={isKeyMissing}
          open={(entered) => setSecrets({ ...secrets, ...entered })}
        />
      )}
      {!needsSignIn && selection && (
        <NoEnvironment name={name} environments={environments} reload={reload} />
      )}
    </main>
  )
}

type NoEnvironmentProps = Pick<EnvironmentProps, 'environments' | 'reload'> & {
  name: string | null
}

/** Lists the environments, and opens the named environment as soon as it exists. */
function NoEnvironment({ name, environments, reload }: NoEnvironmentProps) {
  useRepeat(reload)
  const existing = environments.filter(({ removed }) => !removed)
  return (
    <EmptyList title={name === null ? 'No environments yet' : `No environment is named ${name}`}>
      {existing.length === 0 && (
        <p>Start the server with a seed, or create an environment with POST /_mock/environments</p>
      )}
      {existing.map((environment) => (
        <a key={environment.environmentId} href={hrefTo([], { environment: environment.name })}>
          {environment.name}
        </a>
      ))}
    </EmptyList>
  )
}

type EnvironmentProps = Pick<Session, 'mock' | 'listed' | 'environments'> & {
  apiKey: string
  reload: () => void
  /** An `ErrorNote` if the last reload failed. */
  note: ComponentChildren
}

/** Provides the selected environment, its session and its live requests to the components below. */
function Environment({ mock, apiKey, reload, note, ...loaded }: EnvironmentProps) {
  const [version, setVersion] = useState(0)
  const [settingsVersion, setSettingsVersion] = useState(0)
  const environments = useEnvironments(mock, loaded.environments)
  const isSelected = ({ environmentId }: ListedEnvironment) =>
    environmentId === loaded.listed?.environmentId
  const listed = environments.find(isSelected) ?? loaded.listed
  const env = useMemo(() => mock.attach(apiKey), [mock, apiKey])
  const call = useCallback<Session['call']>(
    (method, path, options) => callService(env, method, path, options),
    [env]
  )
  useEffect(() => clearUndo, [])
  const reloadScope = useCallback(
    (scope: ReloadScope) => {
      setVersion((count) => count + 1)
      if (scope !== 'records') setSettingsVersion((count) => count + 1)
      if (scope === 'everything') reload()
    },
    [reload]
  )
  const reloadAll = useCallback(() => reloadScope('everything'), [reloadScope])
  return (
    <SessionProvider
      value={{ mock, listed, environments, env, call, version, settingsVersion, reloadAll }}
    >
      <LiveProvider reload={reloadScope}>
        <WhileConnected>{note}</WhileConnected>
        <div class="app">
          <ViewCommands />
          <Bar />
          <Views />
        </div>
      </LiveProvider>
    </SessionProvider>
  )
}

/**
 * Adds commands that open the views. This component is rendered first, so the palette lists its
 * commands first.
 */
function ViewCommands() {
  const { listed } = useSession()
  useCommands(
    viewsOf(listed).map(({ path, title, icon }) => ({
      icon,
      name: `Go to ${title}`,
      isReadOnly: true,
      run: () => navigate(hrefTo([path]))
    }))
  )
  return null
}

/** The selected view and the links to all views. */
function Views() {
  const route = useRoute()
  const { listed } = useSession()
  const views = viewsOf(listed)
  const view = views.find(({ path }) => path === route.view) ?? views[0]
  useEffect(() => {
    document.title = [view.title, listed?.name, 'notification-mock'].filter(Boolean).join(' · ')
  }, [view, listed])
  return (
    <>
      <main id="view" tabIndex={-1}>
        <ConnectionNote />
        <view.View key={view.path} route={route} />
      </main>
      {/* The navigation comes after the view, so that Tab reaches the view's list sooner. */}
      <nav class="rail" aria-label="Views" onKeyDown={moveFocus}>
        {views.map(({ path, title, icon }) => {
          const isSelected = path === view.path
          return (
            <a
              key={path}
              data-item
              href={hrefTo([path])}
              aria-current={isSelected ? 'page' : undefined}
              tabIndex={isSelected ? 0 : -1}
            >
              <Icon name={icon} />
              <span>{title}</span>
            </a>
          )
        })}
      </nav>
    </>
  )
}
