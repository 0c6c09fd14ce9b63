import type { ComponentChildren } from 'preact'
import { createContext } from 'preact'
import { useCallback, useContext, useMemo, useRef, useState } from 'preact/hooks'
import { messageOf } from './errors.js'

/** Tells the person what an action has done. */
export interface Notices {
  tell(text: string): void
  /** Runs an action and tells what came of it. Returns its result, or undefined if it failed. */
  run<Result>(action: () => Promise<Result>, done?: string): Promise<Result | undefined>
}

const NoticesContext = createContext<Notices>({ tell() {}, run: async () => undefined })

export function useNotices(): Notices {
  return useContext(NoticesContext)
}

interface Notice {
  id: number
  text: string
  isError: boolean
}

/** How long a notice stays that needs no answer, in milliseconds. */
const STAY = 6000

export function NoticesProvider({ children }: { children: ComponentChildren }) {
  const [notices, setNotices] = useState<Notice[]>([])
  const count = useRef(0)
  const remove = useCallback((id: number) => setNotices((all) => all.filter((each) => each.id !== id)), [])
  const add = useCallback(
    (text: string, isError: boolean) => {
      const id = ++count.current
      setNotices((all) => [...all.slice(-3), { id, text, isError }])
      if (!isError) setTimeout(remove, STAY, id)
    },
    [remove]
  )
  const value = useMemo<Notices>(
    () => ({
      tell: (text) => add(text, false),
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
        {notices.map(({ id, text, isError }) => (
          <div key={id} class={isError ? 'notice is-error' : 'notice'}>
            <span dir="auto">{text}</span>
            <button type="button" class="quiet" aria-label="Dismiss" onClick={() => remove(id)}>
              ×
            </button>
          </div>
        ))}
      </div>
    </NoticesContext.Provider>
  )
}
