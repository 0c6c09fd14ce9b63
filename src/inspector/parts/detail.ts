import { go } from '../shell/router.js'
import { useKey } from './keys.js'

/** Has Escape close what is open beside a list: the focus goes back to its item, once the list is shown again. */
export function useCloseDetail(back: string): void {
  useKey('escape', () => {
    const item = document.querySelector<HTMLElement>('[data-item][aria-current="true"]')
    go(back)
    setTimeout(() => item?.focus())
  })
}
