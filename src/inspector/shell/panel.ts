import { go, useRoute, withParam } from './router.js'

export { withParam } from './router.js'

/** The dialog over the view that the address names, such as `#/messages?panel=seed`. */
export function usePanel() {
  const name = useRoute().params.get('panel')
  const open = (wanted: string) => go(withParam('panel', wanted))
  const close = () => go(withParam('panel', null), { replace: true })
  return { name, open, close }
}

export function environmentAddress(view: string, { name }: { name: string }): string {
  return `#/${view}?environment=${encodeURIComponent(name)}`
}
