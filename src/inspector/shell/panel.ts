import { useCallback } from 'preact/hooks'
import type { ListedEnvironment } from '../../client/index.js'
import { go, parseHash, useRoute } from './router.js'

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
