import type { ComponentChildren } from 'preact'
import { createContext } from 'preact'
import { useCallback, useContext, useMemo, useRef, useState } from 'preact/hooks'
import { messageOf } from './errors.js'

/** Tells the person what an action has done. */
export interface Notices {
  /** Tells it, with a link to where one sees more of it. */
  tell(text: string, link?: NoticeLink): void
  /** Runs an action and tells what came of it. Returns its result, or undefined if it failed. */
  run<Result>(action: () => Promise<Result>, done?: string): Promise<Result | undefined>
}

interface NoticeLink {
  href: string
  text: string
}

const NoticesContext = createContext<Notices>({ tell() {}, run: async () => undefined })

export function useNotices(): Notices {
  return useContext(NoticesContext)
}

interface Notice {
  id: number
  text: string
  isError: boolean
  link: NoticeLink | undefined
}

/** How long a notice stays that needs no answer, in milliseconds. */
const STAY = 6000

export function NoticesProvider({ children }: { children: ComponentChildren }) {
  const [notices, setNotices] = useState<Notice[]>([])
  const count = useRef(0)
  const remove = useCallback((id: number) => setNotices((all) => all.filter((each) => each.id !== id)), [])
  const add = useCallback(
    (text: string, isError: boolean, link?: NoticeLink) => {
      const id = ++count.current
      setNotices((all) => [...all.slice(-3), { id, text, isError, link }])
      if (!isError) setTimeout(remove, STAY, id)
    },
    [remove]
  )
  const value = useMemo<Notices>(
    () => ({
      tell: (text, link) => add(text, false, link),
      async run(action, done) {
        try {
          const result = await action()
          if (done !== undefined) add(done, false)
          return result
        } catch (error) {
          add(messageOf(error), true)
          return undefined
        }
      }
    }),
    [add]
  )
  return (
    <NoticesContext.Provider value={value}>
      {children}
      <div class="notices" role="status" aria-live="polite">
        {notices.map(({ id, text, isError, link }) => (
          <div key={id} class={isError ? 'notice is-error' : 'notice'}>
            <span>
              <span dir="auto">{text}</span> {link && <a href={link.href}>{link.text}</a>}
            </span>
            <button type="button" class="quiet" aria-label="Dismiss" onClick={() => remove(id)}>
              ×
            </button>
          </div>
        ))}
      </div>
    </NoticesContext.Provider>
  )
}
