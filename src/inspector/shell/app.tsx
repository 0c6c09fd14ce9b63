import { useCallback, useEffect, useMemo, useState } from 'preact/hooks'
import { type ConnectedMock, connect, MockError } from '../../client/index.js'
import { ErrorNote } from '../parts/errors.js'
import { Icon } from '../parts/icon.js'
import { moveFocus } from '../parts/keys.js'
import { Empty } from '../parts/list-view.js'
import { useResource } from '../parts/resource.js'
import { VIEWS } from '../views/index.js'
import { Bar } from './bar.js'
import { LiveProvider } from './live.js'
import { useCommands } from './palette.js'
import { addressOf, go, useRoute } from './router.js'
import { callService, type Session, SessionProvider, useSession } from './session.js'

/** What was typed to open the server, or one environment of it. */
type Secrets = Partial<Record<'adminToken' | 'apiKey', string>>

/** The address of the server that the page is from, also behind a path of a proxy, without a slash at the end. */
const SERVER = new URL('.', document.baseURI).href.replace(/\/$/, '')

/** The page. It knows the server that it is from, and keeps the keys and the token that it is given in memory only. */
export function App() {
  const [secrets, setSecrets] = useState<Secrets>({})
  const { adminToken } = secrets
  const mock = useMemo(() => connect(SERVER, { adminToken }), [adminToken])
  const wanted = useRoute().params.get('environment')
  // Again for another one, which may have been created since.
  const load = async () => ({ wanted, ...(await findEnvironment(mock, wanted, secrets.apiKey)) })
  const { value, error, isLoading, reload } = useResource(load, [mock, secrets, wanted])
  const found = value?.wanted === wanted ? value : undefined
  const { apiKey, listed, environments = [] } = found ?? {}
  const note = error !== undefined && !isLoading && <ErrorNote error={error} retry={reload} />
  const isRefused = error instanceof MockError && [401, 403].includes(error.status ?? 0)
  // What failed once does not take away the page that is there, unless the server lets it in no more.
  if (apiKey !== undefined && !isRefused) {
    return (
      <>
        {note}
        <Environment key={apiKey} {...{ mock, listed, environments, apiKey, reload }} />
      </>
    )
  }
  if (!found && !note) return <p class="alone muted">Loading…</p>
  const isKeyUnknown = listed !== undefined && apiKey === undefined
  return (
    <main class="alone">
      <h1>{isKeyUnknown ? listed.name : 'notification-mock'}</h1>
      {note}
      {isKeyUnknown || isRefused ? (
        <SignIn
          isKeyUnknown={isKeyUnknown}
          open={(typed) => setSecrets({ ...secrets, ...typed })}
        />
      ) : (
        found && <NoEnvironment {...{ wanted, environments, reload }} />
      )}
    </main>
  )
}

/** Finds the environment that an address names, and its key: the one that the server tells, else the one that was typed. */
async function findEnvironment(
  mock: ConnectedMock,
  wanted: string | null,
  typed: string | undefined
) {
  // Who has but a key is not told the environments.
  const environments = await mock.listEnvironments().catch((error) => {
    if (typed === undefined) throw error
  })
  const listed = environments?.find(
    (each) => wanted === null || [each.name, each.environmentId].includes(wanted)
  )
  const [told] = listed ? await mock.apiKeys(listed.environmentId) : []
  if (told !== undefined || typed === undefined || (environments && !listed)) {
    return { environments, listed, apiKey: told }
  }
  const { environment } = await mock.attach(typed).coverage()
  // Who has but a key is not told whose an id is.
  const name = listed?.name ?? (/^[\da-f]{24}$/.test(wanted ?? '') ? null : wanted)
  if (name !== null && environment !== name)
    throw new MockError(`This is the key of ${environment}, not of ${name}.`, { status: 403 })
  return { environments, listed, apiKey: typed }
}

type SignInProps = { isKeyUnknown: boolean; open: (secrets: Secrets) => void }

/**
 * Asks for the token or a key, in fields that no history of forms remembers; only for the key where the server lists the
 * environment, and does not have its key.
 */
function SignIn({ isKeyUnknown, open }: SignInProps) {
  const send = (event: Event) => {
    event.preventDefault()
    const typed = [...new FormData(event.currentTarget as HTMLFormElement)]
    open(
      Object.fromEntries(typed.map(([name, secret]) => [name, String(secret).trim() || undefined]))
    )
  }
  const hint = isKeyUnknown
    ? 'The server keeps only a hash of the key to this environment: it was created before the server was started.'
    : 'The token was printed when the server started, or given to it by --admin-token; a key is what your product sends.'
  return (
    <form class="form" onSubmit={send}>
      {!isKeyUnknown && (
        <label>
          Admin token, for all environments
          <input type="password" name="adminToken" autocomplete="off" />
        </label>
      )}
      <label>
        {isKeyUnknown ? 'API key' : 'Or the API key of an environment, for that one only'}
        <input type="password" name="apiKey" autocomplete="off" />
      </label>
      <p class="hint">{hint} This page keeps it in memory only.</p>
      <button class="primary">Open</button>
    </form>
  )
}

type NoEnvironmentProps = Pick<EnvironmentProps, 'environments' | 'reload'> & {
  wanted: string | null
}

function NoEnvironment({ wanted, environments, reload }: NoEnvironmentProps) {
  return (
    <Empty
      title={wanted === null ? 'There is no environment yet' : `There is no environment ${wanted}`}
    >
      <button onClick={reload}>Look again</button>
      {environments.length === 0 && (
        <p>Start the server with a seed, or create one: POST /_mock/environments</p>
      )}
      {environments.map(({ name, environmentId }) => (
        <a key={environmentId} href={addressOf([], { environment: name })}>
          {name}
        </a>
      ))}
    </Empty>
  )
}

type EnvironmentProps = Pick<Session, 'mock' | 'listed' | 'environments'> & {
  apiKey: string
  reload: () => void
}

function Environment({ apiKey, reload, ...server }: EnvironmentProps) {
  const { mock } = server
  const [version, setVersion] = useState(0)
  const env = useMemo(() => mock.attach(apiKey), [mock, apiKey])
  const call = useCallback<Session['call']>((...request) => callService(env, ...request), [env])
  const changed = useCallback(() => {
    setVersion((count) => count + 1)
    reload()
  }, [reload])
  return (
    <SessionProvider value={{ ...server, env, call, version, changed }}>
      <LiveProvider loadAll={changed}>
        <div class="app">
          <Bar />
          <Views />
        </div>
      </LiveProvider>
    </SessionProvider>
  )
}

function Views() {
  const route = useRoute()
  const { listed } = useSession()
  const view = VIEWS.find(({ path }) => path === route.view) ?? VIEWS[0]
  useCommands(
    VIEWS.map(({ path, title }) => ({ name: `Go to ${title}`, run: () => go(addressOf([path])) }))
  )
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
        {VIEWS.map(({ path, title, icon }) => {
          const isShown = path === view.path
          const current = isShown ? 'page' : undefined
          return (
            <a
              key={path}
              data-item
              href={addressOf([path])}
              aria-current={current}
              tabIndex={isShown ? 0 : -1}
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
