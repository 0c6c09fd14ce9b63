import { useEffect, useMemo, useState } from 'preact/hooks'
import { connect, type ListedEnvironment, MockError } from '../../client/index.js'
import { ErrorNote } from '../parts/errors.js'
import { Icon } from '../parts/icon.js'
import { moveFocus } from '../parts/keys.js'
import { Empty } from '../parts/list-view.js'
import { useResource } from '../parts/resource.js'
import { VIEWS } from '../views/index.js'
import { Bar } from './bar.js'
import { LiveProvider } from './live.js'
import { useCommands } from './palette.js'
import { environmentAddress } from './panel.js'
import { addressOf, go, useRoute } from './router.js'
import { callService, pageFetch, type Session, SessionProvider, useSession } from './session.js'

/** What opens the server: its admin token, or the key of one environment. */
interface Secrets {
  adminToken?: string
  apiKey?: string
}

/** The address of the server that the page is from, also behind a path of a proxy, without a slash at the end. */
const SERVER = new URL('.', document.baseURI).href.replace(/\/$/, '')

const LOADING = <p class="alone muted">Loading…</p>

/** The page. It knows the server that it is from, and keeps the keys and the token that it is given in memory only. */
export function App() {
  const [{ adminToken, apiKey }, setSecrets] = useState<Secrets>({})
  const mock = useMemo(() => connect(SERVER, { adminToken, fetch: pageFetch }), [adminToken])
  const wanted = useRoute().params.get('environment')
  // Again for another one, which may have been created since.
  const { value, error, isLoading, reload } = useResource(async () => {
    if (apiKey === undefined) return { wanted, environments: await mock.listEnvironments() }
    // Whether the key is one.
    await mock.attach(apiKey).clock.get()
    return { wanted, environments: [] }
  }, [mock, apiKey, wanted])
  const hasFailed = error !== undefined && !isLoading
  // What failed once does not take away the page that is there, unless the server lets it in no more.
  const isRefused = error instanceof MockError && [401, 403].includes(error.status ?? 0)
  if (hasFailed && (value === undefined || isRefused)) return <SignIn error={error} retry={reload} open={setSecrets} />
  if (value === undefined) return LOADING
  const { environments } = value
  const listed = environments.find((each) => wanted === null || [each.name, each.environmentId].includes(wanted))
  const server = { mock, environments, reload }
  return (
    <>
      {hasFailed && <ErrorNote error={error} retry={reload} />}
      {apiKey !== undefined ? (
        <Environment key={apiKey} {...server} apiKey={apiKey} listed={undefined} />
      ) : listed ? (
        <Keyed key={listed.environmentId} {...server} listed={listed} />
      ) : isLoading || value.wanted !== wanted ? (
        LOADING
      ) : (
        <NoEnvironment {...{ wanted, environments, reload }} />
      )}
    </>
  )
}

function SignIn({ error, retry, open }: { error: unknown; retry: () => void; open: (secrets: Secrets) => void }) {
  return (
    <main class="alone">
      <h1>notification-mock</h1>
      <ErrorNote error={error} retry={retry} />
      <SecretForm
        label="Admin token"
        hint="It was printed when the server started, or given to it by --admin-token. This page keeps it in memory only."
        button="Show all environments"
        submit={(adminToken) => open({ adminToken })}
      />
      <SecretForm
        label="API key of an environment"
        hint="Shows that one environment only."
        button="Show this environment"
        submit={(apiKey) => open({ apiKey })}
      />
    </main>
  )
}

interface SecretFormProps {
  label: string
  hint: string
  button: string
  submit(secret: string): unknown
}

/** A field for a secret, which no history of forms remembers. */
function SecretForm({ label, hint, button, submit }: SecretFormProps) {
  const [secret, setSecret] = useState('')
  const send = (event: Event) => {
    event.preventDefault()
    submit(secret.trim())
  }
  return (
    <form class="form" onSubmit={send}>
      <label>
        {label}
        <input
          type="password"
          autocomplete="off"
          required
          value={secret}
          onInput={(event) => setSecret(event.currentTarget.value)}
        />
      </label>
      <p class="hint">{hint}</p>
      <button class="primary">{button}</button>
    </form>
  )
}

interface NoEnvironmentProps extends Pick<Session, 'environments' | 'reload'> {
  wanted: string | null
}

function NoEnvironment({ wanted, environments, reload }: NoEnvironmentProps) {
  return (
    <main class="alone">
      <Empty title={wanted === null ? 'There is no environment yet' : `There is no environment ${wanted}`}>
        <button onClick={reload}>Look again</button>
        {environments.length === 0 && (
          <p>
            Start the server with a seed, or create one: <code>POST /_mock/environments</code>
          </p>
        )}
        {environments.map(({ name, environmentId }) => (
          <a key={environmentId} href={environmentAddress('', { name })}>
            {name}
          </a>
        ))}
      </Empty>
    </main>
  )
}

type ServerProps = Pick<Session, 'mock' | 'listed' | 'environments' | 'reload'>

/** An environment whose key the server tells, or which the person is asked for. */
function Keyed({ listed, ...server }: ServerProps & { listed: ListedEnvironment }) {
  const { mock } = server
  const [typed, setTyped] = useState<string>()
  const [refusal, setRefusal] = useState<unknown>()
  const keys = useResource(() => mock.apiKeys(listed.environmentId), [mock, listed.environmentId])
  const check = async (key: string) => {
    try {
      const { environment } = await mock.attach(key).coverage()
      if (environment !== listed.name) throw new Error(`This is the key of ${environment}, not of ${listed.name}.`)
      setTyped(key)
    } catch (reason) {
      setRefusal(reason)
    }
  }
  const apiKey = typed ?? keys.value?.[0]
  if (apiKey !== undefined) return <Environment {...server} listed={listed} apiKey={apiKey} />
  if (keys.error !== undefined) return <ErrorNote error={keys.error} retry={keys.reload} />
  if (keys.value === undefined) return LOADING
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

function Environment({ apiKey, ...server }: ServerProps & { apiKey: string }) {
  const { mock, reload } = server
  const [version, setVersion] = useState(0)
  const env = useMemo(() => mock.attach(apiKey), [mock, apiKey])
  const { loadAll, ...actions } = useMemo(() => {
    const call: Session['call'] = (...request) => callService(env, ...request)
    const changed = () => setVersion((count) => count + 1)
    const loadAll = () => {
      changed()
      reload()
    }
    return { call, changed, loadAll }
  }, [env, reload])
  return (
    <SessionProvider value={{ ...server, ...actions, env, version }}>
      <LiveProvider loadAll={loadAll}>
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
  useCommands(VIEWS.map(({ path, title }) => ({ name: `Go to ${title}`, run: () => go(addressOf([path])) })))
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
