import type { ComponentChildren } from 'preact'
import { createContext } from 'preact'
import { useCallback, useContext, useEffect, useId, useMemo, useRef, useState } from 'preact/hooks'
import { messageOf } from './errors.js'

/** Tells the person what an action has done. */
export interface Notices {
  /** Tells it, with a link to where one sees more of it. */
  tell(text: string, link?: NoticeLink): void
  /** Tells it until the person has it done, or what is returned is called. */
  offer(text: string, button: NoticeButton): () => void
  /** Runs an action and tells what came of it. Returns its result, or undefined if it failed. */
  run<Result>(action: () => Promise<Result>, done?: string): Promise<Result | undefined>
}

interface NoticeLink {
  href: string
  text: string
}

interface NoticeButton {
  name: string
  run(): void
}

const NoticesContext = createContext<Notices>({ tell() {}, offer: () => () => {}, run: async () => undefined })

export function useNotices(): Notices {
  return useContext(NoticesContext)
}

interface Notice {
  id: number
  text: string
  isError: boolean
  link?: NoticeLink | undefined
  button?: NoticeButton
}

interface Shown {
  notices: readonly Notice[]
  remove(id: number): void
  /** The dialogs that are open, the topmost last. */
  dialogs: readonly string[]
  /** Tells of an open dialog. Returns what tells that it is closed. */
  addDialog(id: string): () => void
}

const ShownContext = createContext<Shown>({ notices: [], remove() {}, dialogs: [], addDialog: () => () => {} })

/** How long a notice stays that needs no answer, in milliseconds. */
const STAY = 6000

export function NoticesProvider({ children }: { children: ComponentChildren }) {
  const [notices, setNotices] = useState<Notice[]>([])
  const [dialogs, setDialogs] = useState<readonly string[]>([])
  const count = useRef(0)
  const remove = useCallback((id: number) => setNotices((all) => all.filter((each) => each.id !== id)), [])
  const add = useCallback(
    (notice: Omit<Notice, 'id'>) => {
      const id = ++count.current
      setNotices((all) => [...all.slice(-3), { ...notice, id }])
      if (!notice.isError && !notice.button) setTimeout(remove, STAY, id)
      return () => remove(id)
    },
    [remove]
  )
  const addDialog = useCallback((id: string) => {
    setDialogs((all) => [...all, id])
    return () => setDialogs((all) => all.filter((each) => each !== id))
  }, [])
  const value = useMemo<Notices>(
    () => ({
      tell: (text, link) => void add({ text, isError: false, link }),
      offer: (text, button) => add({ text, isError: false, button }),
      async run(action, done) {
        try {
          const result = await action()
          if (done !== undefined) add({ text: done, isError: false })
          return result
        } catch (error) {
          add({ text: messageOf(error), isError: true })
          return undefined
        }
      }
    }),
    [add]
  )
  return (
    <NoticesContext.Provider value={value}>
      <ShownContext.Provider value={{ notices, remove, dialogs, addDialog }}>
        {children}
        {dialogs.length === 0 && <NoticeList />}
      </ShownContext.Provider>
    </NoticesContext.Provider>
  )
}

/** The notices while a dialog is the topmost one: nothing outside of it can be read or clicked then. */
export function NoticesInDialog() {
  const { dialogs, addDialog } = useContext(ShownContext)
  const id = useId()
  useEffect(() => addDialog(id), [addDialog, id])
  return dialogs.at(-1) === id ? <NoticeList /> : null
}

function NoticeList() {
  const { notices, remove } = useContext(ShownContext)
  return (
    <div class="notices" role="status" aria-live="polite">
      {notices.map(({ id, text, isError, link, button }) => (
        <div key={id} class={isError ? 'notice is-error' : 'notice'}>
          <span>
            <span dir="auto">{text}</span> {link && <a href={link.href}>{link.text}</a>}
          </span>
          {button && (
            <button
              type="button"
              onClick={() => {
                remove(id)
                button.run()
              }}
            >
              {button.name}
            </button>
          )}
          <button type="button" class="quiet" aria-label="Dismiss" onClick={() => remove(id)}>
            ×
          </button>
        </div>
      ))}
    </div>
  )
}
