import type { ComponentChildren } from 'preact'
import { useCallback, useMemo } from 'preact/hooks'
import { ErrorNote } from '../../parts/errors.js'
import { Icon } from '../../parts/icon.js'
import { useResource } from '../../parts/resource.js'
import { LiveProvider } from '../../shell/live.js'
import { callService, type Session, SessionProvider, useSession } from '../../shell/session.js'

interface BesideProps {
  /** The name or the id of an environment. */
  name: string
  /** The address without it. */
  close: string
  children: ComponentChildren
}

/** Another environment beside the one that the page is about: what is in it is of that one. */
export function Beside({ name, close, children }: BesideProps) {
  const session = useSession()
  const { mock } = session
  const { value, error, reload } = useResource(async () => {
    const all = await mock.listEnvironments()
    const listed = all.find((each) => each.name === name || each.environmentId === name)
    if (!listed) throw new Error(`There is no environment ${name}.`)
    const [apiKey] = await mock.apiKeys(listed.environmentId)
    if (apiKey === undefined) throw new Error(`The server keeps only a hash of the key of ${name}.`)
    return { listed, env: mock.attach(apiKey) }
  }, [mock, name])
  const own = useMemo<Session | undefined>(() => {
    if (!value) return undefined
    const { env, listed } = value
    return { ...session, env, listed, call: (...request) => callService(env, ...request) }
  }, [value, session])
  const restarted = useCallback(() => {}, [])
  return (
    <section aria-label={name}>
      <div class="beside-head">
        <b dir="auto">{name}</b>
        <a class="button quiet only-icon spread" href={close} aria-label={`Close ${name}`}>
          <Icon name="close" />
        </a>
      </div>
      {error !== undefined && <ErrorNote error={error} retry={reload} />}
      {own && (
        <SessionProvider value={own}>
          <LiveProvider restarted={restarted}>{children}</LiveProvider>
        </SessionProvider>
      )}
    </section>
  )
}
