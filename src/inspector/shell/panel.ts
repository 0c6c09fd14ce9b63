import { useCallback, useState } from 'preact/hooks'
import type { ListedEnvironment } from '../../client/index.js'
import { messageOf } from '../parts/errors.js'
import { useNotices } from '../parts/notices.js'
import { go, parseHash, useRoute } from './router.js'
import { useSession } from './session.js'

export interface PanelProps {
  close(): void
  /** Loads the list of environments again. */
  reload(): void
}

/** The dialog over the view that the address names, such as `#/messages?panel=clock`. */
export function usePanel() {
  const name = useRoute().params.get('panel')
  const open = useCallback((wanted: string) => go(withPanel(wanted)), [])
  const close = useCallback(() => go(withPanel(null), { replace: true }), [])
  return { name, open, close }
}

/** The present address with a parameter, or without it. */
export function withParam(name: string, value: string | null): string {
  const { params } = parseHash(location.hash)
  if (value === null) params.delete(name)
  else params.set(name, value)
  const [path = ''] = location.hash.split('?')
  const query = params.toString()
  return `${path || '#/'}${query && `?${query}`}`
}

/** The present address with another panel. */
export function withPanel(name: string | null): string {
  return withParam('panel', name)
}

export function environmentAddress(view: string, { name }: Pick<ListedEnvironment, 'name'>): string {
  return `#/${view}?environment=${encodeURIComponent(name)}`
}

interface ActionOptions extends Pick<PanelProps, 'reload'> {
  /** Whether the caller shows `error` itself, so that no notice need tell it. */
  showsErrors?: boolean
}

/** Runs what changes the environment: it tells what came of it, and the page loads again what it shows. */
export function useAction({ reload, showsErrors = false }: ActionOptions) {
  const { changed } = useSession()
  const { run, tell } = useNotices()
  const [isRunning, setRunning] = useState(false)
  const [error, setError] = useState<unknown>()
  const act = async <Result>(action: () => Promise<Result>, done: string | ((result: Result) => string)) => {
    setRunning(true)
    setError(undefined)
    const result = await run(async () => {
      try {
        const value = await action()
        tell(typeof done === 'string' ? done : done(value))
        return { value }
      } catch (cause) {
        setError(cause)
        if (!showsErrors) throw new Error(messageOf(cause))
      }
    })
    setRunning(false)
    changed()
    reload()
    return result?.value
  }
  return { act, isRunning, error }
}
