import { useCallback, useEffect, useState } from 'preact/hooks'
import type { ConnectedMock, ListedEnvironment } from '../../client/index.js'
import { useRepeat } from './repeat.js'
import { hrefTo } from './router.js'

/** Returns the server's environments, including removed ones, and keeps the list up to date. */
export function useEnvironments(
  mock: ConnectedMock,
  loaded: readonly ListedEnvironment[]
): readonly ListedEnvironment[] {
  const [environments, setEnvironments] = useState(loaded)
  useEffect(() => setEnvironments(loaded), [loaded])
  // A user who has only an API key isn't allowed to list the environments.
  const isAllowed = loaded.length > 0
  const load = useCallback(async () => {
    if (!isAllowed) return
    // Ignore the error, because the live connection already reports an unreachable server.
    const latest = await mock.listEnvironments({ removed: 'include' }).catch(() => undefined)
    if (!latest) return
    // If nothing has changed, keep the old list to avoid rendering again.
    setEnvironments((before) => (isEqual(before, latest) ? before : latest))
  }, [mock, isAllowed])
  useRepeat(load)
  return environments
}

const isEqual = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

/**
 * Returns the environments without a test, oldest first, followed by the environments of tests,
 * newest first.
 */
export function sortEnvironments(
  environments: readonly ListedEnvironment[]
): readonly ListedEnvironment[] {
  const tests = environments.filter(({ test }) => test).reverse()
  return [...environments.filter(({ test }) => !test), ...tests]
}

/** Returns the title of the environment's test, or the environment's name if there is no title. */
export const titleOf = ({ name, test }: ListedEnvironment) => test?.title ?? name

/**
 * Returns the URL that opens an environment in the given view. A removed environment is always
 * opened in `RemovedTest`.
 */
export function hrefOfEnvironment(
  { name, environmentId, removed }: ListedEnvironment,
  view: string
): string {
  // Use the id, because a newer environment may have the same name.
  if (removed) return hrefTo([], { environment: environmentId })
  return hrefTo([view], { environment: name })
}
