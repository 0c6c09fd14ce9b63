import { useEffect, useState } from 'preact/hooks'
import type { AttachedEnvironment, ListedEnvironment } from '../../../client/index.js'
import { useResource } from '../../parts/resource.js'
import { type Session, useSession } from '../../shell/session.js'

/** Milliseconds from one look to the next. */
const INTERVAL = 2000
/** Environments that are looked at: a run of tests may have made hundreds. */
const MAX_LOOKED_AT = 10

/**
 * The names of other environments that have had requests, as the key of a product may be that of one of them. Not of those
 * that expire, which to be looked at each time would keep.
 */
export function useElsewhere(): readonly string[] {
  const { mock, listed } = useSession()
  const own = listed?.environmentId
  const [round, setRound] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => document.hidden || setRound((count) => count + 1), INTERVAL)
    return () => clearInterval(timer)
  }, [])
  // It is a hint: that it fails is told by what else is shown.
  const { value = [] } = useResource(
    async () =>
      own === undefined
        ? []
        : othersThat(mock, own, {
            isMeant: ({ ttl }) => !ttl,
            holds: async (env) => (await env.requests.list({ limit: 1 })).length > 0
          }),
    [mock, own, round]
  )
  return value
}

interface Wanted {
  /** Which environments are looked at; all if left out. */
  isMeant?: (environment: ListedEnvironment) => boolean
  holds: (env: AttachedEnvironment) => Promise<boolean>
}

/** Returns the names of the environments, other than one's own, of which something holds. */
export async function othersThat(
  mock: Session['mock'],
  own: string,
  { isMeant = () => true, holds }: Wanted
): Promise<string[]> {
  const others = (await mock.listEnvironments()).filter((each) => each.environmentId !== own && isMeant(each))
  const names = await Promise.all(
    others.slice(0, MAX_LOOKED_AT).map(async ({ environmentId, name }) => {
      const [key] = await mock.apiKeys(environmentId)
      return key !== undefined && (await holds(mock.attach(key))) ? [name] : []
    })
  )
  return names.flat()
}
