import { go } from '../shell/router.js'
import { useKey } from './keys.js'

/**
 * Returns what closes the one that is open beside a list, as Escape does: the focus goes back to its item, once the list
 * is shown again.
 */
export function useCloseDetail(back: string): () => void {
  const close = () => {
    const item = document.querySelector<HTMLElement>('[data-item][aria-current="true"]')
    go(back)
    setTimeout(() => item?.focus())
  }
  useKey('escape', close)
  return close
}
